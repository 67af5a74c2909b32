// Opens a report in Chromium as readers do, and fails if anything is missing or broken for them.
//
//     node test.js REPORT.html [--pictures DIR]
//
// With --pictures, writes the charts in PICTURES to DIR as NAME.png.
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const PICTURES = ["peers-ratio", "published-sign", "roofline"];

const [report, option, folder] = process.argv.slice(2);
if (!report || (option && (option !== "--pictures" || !folder))) {
  console.error("usage: node test.js REPORT.html [--pictures DIR]");
  process.exit(2);
}
const executablePath = process.env.CHROMIUM ?? execFileSync("which", ["chromium"]).toString().trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const address = pathToFileURL(resolve(report)).href;
let [passed, failed] = [0, 0];
const check = (what, holds) => {
  holds ? passed++ : failed++;
  if (!holds) console.error(`FAILED: ${what}`);
};

/** Opens the report; any warning, error or request to the network is a failure. */
async function open(where, options) {
  const page = await browser.newPage(options);
  page.on("console", (message) => check(`${where}: console: ${message.text()}`, !["error", "warning"].includes(message.type())));
  page.on("pageerror", (error) => check(`${where}: ${error}`, false));
  page.on("request", (request) => check(`${where}: asks for ${request.url().slice(0, 80)}`, request.url() === address));
  await page.goto(address);
  await page.waitForSelector("figure svg");
  return page;
}

const page = await open("wide", { viewport: { width: 1200, height: 900 }, deviceScaleFactor: 2 });
const links = await page.locator("nav a").all();
check("there are links to sections", links.length > 0);
for (const link of links) {
  const id = await link.getAttribute("href");
  const section = page.locator(`section${id}`);
  check(`${id} is a section`, (await section.count()) === 1);
  check(`${id} says something`, (await section.innerText()).trim().split("\n").length > 1);
}
const figures = await page.locator("figure").all();
check("there are charts", figures.length > 0);
for (const figure of figures) {
  const title = await figure.locator("figcaption").innerText();
  const marks = await figure.locator(".mark :is(rect, path)").evaluateAll((found) =>
    found.filter((mark) => {
      const { width, height } = mark.getBoundingClientRect();
      return width + height > 0 && getComputedStyle(mark).opacity !== "0";
    }).length);
  const values = Number(await figure.getAttribute("data-values"));
  check(`"${title}" draws its ${values} values, not ${marks}`, marks === values && values > 0);
  const text = await figure.locator("svg").first().innerHTML();
  check(`"${title}" has no NaN`, !text.includes("NaN"));
}
check("every chart has its table", (await page.locator("figure + details table").count()) === figures.length);

// A tip appears at the pointer.
const first = figures[0];
await first.scrollIntoViewIfNeeded();
const box = await first.locator(".mark rect").first().boundingBox();
await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
check("a tip appears", (await first.locator('[aria-label="tip"] text').count()) > 0);

// The keyboard reaches the button of a series, hides the series and shows it again.
const button = first.locator(".legend button").first();
const count = () => first.locator(".mark rect").count();
const before = await count();
await button.focus();
await page.keyboard.press("Enter");
check("a series is left out", (await button.getAttribute("aria-pressed")) === "false" && (await count()) < before);
await page.keyboard.press("Enter");
check("and comes back", (await button.getAttribute("aria-pressed")) === "true" && (await count()) === before);

// The downloads are the record and its results.
for (const link of await page.locator("a[download]").all()) {
  const name = await link.getAttribute("download");
  const data = decodeURIComponent((await link.getAttribute("href")).replace(/^data:[^,]*,/, ""));
  check(`${name} has results`, name.endsWith(".json") ? JSON.parse(data).results.length > 0 : data.split("\n").length > 2);
}

if (folder) {
  for (const name of PICTURES) {
    const figure = page.locator(`figure[data-name="${name}"]`);
    check(`there is a chart ${name}`, (await figure.count()) === 1);
    await page.evaluate(() => document.activeElement.blur());
    await page.mouse.move(0, 0);
    await figure.screenshot({ path: join(folder, `${name}.png`) });
  }
}

// On a laptop no table is wider than the page, whether it is folded or not.
const laptop = await open("laptop", { viewport: { width: 1280, height: 800 } });
const wide = await laptop.evaluate(() => {
  document.querySelectorAll("details").forEach((folded) => (folded.open = true));
  const cut = [...document.querySelectorAll(".table")].filter((box) => box.scrollWidth > box.clientWidth);
  return cut.map((box) => box.getAttribute("aria-label"));
});
wide.forEach((title) => check(`the table "${title}" fits a page of 1280 pixels`, false));
check("no text has raw backticks", !(await laptop.locator("main").innerText()).includes("`"));

const phone = await open("phone", { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
check("a phone need not scroll sideways", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
const dark = await open("dark", { colorScheme: "dark" });
const shade = (property) => dark.evaluate((property) => {
  const [r, g, b] = getComputedStyle(document.body)[property].match(/\d+/g).map(Number);
  return (r + g + b) / 3;
}, property);
check("dark is dark", (await shade("backgroundColor")) < 60 && (await shade("color")) > 180);

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
