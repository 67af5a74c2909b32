// Uses the page in Chromium as people do, and the command beside it.
//
//     node test.js PAGE.html AIOLI [--full] [--picture OUT.png]
//
// AIOLI is the command. With --full, a file of 1 GB is signed and verified, and the memory watched.
import { chromium } from "playwright-core";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [html, command, ...options] = process.argv.slice(2);
if (!command) {
  console.error("usage: node test.js PAGE.html AIOLI [--full] [--picture OUT.png]");
  process.exit(2);
}
const executablePath = process.env.CHROMIUM ?? execFileSync("which", ["chromium"]).toString().trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const address = pathToFileURL(resolve(html)).href;
const folder = mkdtempSync(join(tmpdir(), "aioli-page-"));
const at = (name) => join(folder, name);
/** Runs the command in the folder; returns its exit code and what it said. */
const aioli = (...words) => {
  const { status, stdout, stderr } = spawnSync(resolve(command), words, { cwd: folder, encoding: "utf8" });
  return { status, text: stdout + stderr };
};
let [passed, failed] = [0, 0];
const check = (what, holds, seen = "") => {
  holds ? passed++ : failed++;
  if (!holds) console.error(`FAILED: ${what} ${seen}`);
};

/** Opens the page; a message on the console, an error or a request is a failure. */
async function open(where, options) {
  const page = await browser.newPage(options);
  page.on("console", (message) => check(`${where}: console: ${message.text()}`, false));
  page.on("pageerror", (error) => check(`${where}: ${error}`, false));
  page.on("request", (request) => {
    const { protocol } = new URL(request.url());
    check(`${where}: asks for ${request.url().slice(0, 80)}`, request.url() === address || ["blob:", "data:"].includes(protocol));
  });
  await page.goto(address);
  await page.waitForSelector("main:not([hidden])");
  return page;
}

/** Fills the inputs of a section, presses its button, and returns what it says. */
async function use(page, section, inputs, timeout = 60_000) {
  for (const [name, value] of Object.entries(inputs)) {
    const input = page.locator(`#${section}-${name}`);
    const type = await input.getAttribute("type");
    if (type === "file") await input.setInputFiles(value);
    else if (type === "checkbox") await input.setChecked(value);
    else await input.fill(value);
  }
  await page.click(`#${section} form button`);
  const result = page.locator(`#${section} .result:is(.good, .bad)`);
  await result.waitFor({ timeout });
  return { good: (await result.getAttribute("class")).includes("good"), text: await result.innerText() };
}

/** Saves what a link of a section offers. */
async function save(page, section, name) {
  const download = page.waitForEvent("download");
  await page.click(`#${section} a[download="${name}"]`);
  await (await download).saveAs(at(name));
}

async function makesKeysForTheCommand(page) {
  const message = at("message.bin");
  writeFileSync(message, Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) >> 3)));
  for (const set of ["mayo1", "mayo2", "mayo3", "mayo5"]) {
    await page.check(`#make input[value=${set}]`);
    const made = await use(page, "make", { name: set, passphrase: set === "mayo2" ? "s3cret" : "" });
    check(`${set}: a key is made`, made.good && made.text.includes(set === "mayo2" ? "mayo2, encrypted" : "not encrypted"), made.text);
    await save(page, "make", `${set}.key`);
    await save(page, "make", `${set}.pub`);
    writeFileSync(at("passphrase"), "s3cret\n");
    const inspected = aioli("inspect", `${set}.pub`, `${set}.key`, "--passphrase-file", "passphrase");
    const fingerprint = made.text.match(/SHA256:\S+/)[0];
    check(`${set}: the command reads the pair`, inspected.text.split(fingerprint).length === 3, inspected.text);

    for (const bind of [false, true]) {
      const signed = await use(page, "sign", { file: message, key: [], bind });
      check(`${set}: a file is signed`, signed.good && signed.text.includes(fingerprint), signed.text);
      await save(page, "sign", "message.bin.sig");
      const verified = aioli("verify", "-k", `${set}.pub`, ...(bind ? ["--bind-key"] : []), "message.bin");
      check(`${set}: the command accepts the signature`, verified.status === 0, verified.text);
      const files = { file: message, signature: at("message.bin.sig"), key: at(`${set}.pub`) };
      const again = await use(page, "verify", files);
      check(`${set}: the page accepts it, too`, again.good && again.text.includes("message.bin: valid"), again.text);
    }
  }
}

async function readsFilesOfTheCommand(page) {
  const message = at("other.txt");
  writeFileSync(message, "Written by the command.\n");
  check("keygen", aioli("keygen", "--set", "mayo1", "--out", "other", "--no-passphrase").status === 0);
  check("keygen with a passphrase", aioli("keygen", "--set", "mayo3", "--out", "locked", "--passphrase-file", "passphrase").status === 0);
  for (const words of [[], ["--bind-key"], ["--raw"]]) {
    const signed = aioli("sign", "-k", "other.key", "--force", ...words, "other.txt");
    check(`sign ${words}`, signed.status === 0, signed.text);
    const verified = await use(page, "verify", { file: message, signature: at("other.txt.sig"), key: at("other.pub") });
    check(`the page accepts the command's signature ${words}`, verified.good, verified.text);
    const damaged = at("damaged.txt");
    writeFileSync(damaged, "Written by somebody else.\n");
    const refused = await use(page, "verify", { file: damaged });
    check("and not for another file", !refused.good && refused.text.includes("NOT VALID"), refused.text);
  }
  const signed = await use(page, "sign", { file: message, key: at("locked.key"), passphrase: "s3cret" });
  check("the page signs with the command's key", signed.good, signed.text);
  await save(page, "sign", "other.txt.sig");
  check("and the command accepts that", aioli("verify", "-k", "locked.pub", "other.txt").status === 0);
  const empty = at("empty");
  writeFileSync(empty, "");
  const nothing = await use(page, "sign", { file: empty, key: at("other.key") });
  await save(page, "sign", "empty.sig");
  check("an empty file is signed", nothing.good && aioli("verify", "-k", "other.pub", "empty").status === 0, nothing.text);
}

/** Makes an authority, a request and a certificate by the command, and a chain of both. */
function certify() {
  for (const words of [
    ["ca", "-k", "other.key", "--subject", "CN=Authority of the Page", "--out", "ca.pem"],
    ["request", "-k", "other.key", "--subject", "CN=example.com", "--name", "example.com", "--out", "request.pem"],
    ["issue", "--ca", "ca.pem", "-k", "other.key", "request.pem", "--out", "leaf.pem"],
  ]) {
    const made = aioli("cert", ...words);
    check(`cert ${words[0]}`, made.status === 0, made.text);
  }
  const [leaf, ca] = ["leaf.pem", "ca.pem"].map((name) => readFileSync(at(name), "utf8"));
  writeFileSync(at("chain.pem"), leaf + ca);
  writeFileSync(at("leaf.der"), Buffer.from(leaf.split("-----")[2], "base64"));
}

async function inspectsAsTheCommand(page) {
  certify();
  const oneLine = (text) => text.trim().split(/\s+/).join(" ");
  for (const name of [
    "other.pub", "other.key", "locked.pub", "locked.key", "message.bin.sig",
    "ca.pem", "request.pem", "leaf.pem", "leaf.der", "chain.pem",
  ]) {
    const seen = await use(page, "inspect", { file: at(name) });
    const said = aioli("inspect", name).text.replaceAll(`${name}: `, "");
    check(`inspect ${name}`, seen.good && oneLine(seen.text) === oneLine(said), `${seen.text} instead of ${said}`);
  }
  const opened = await use(page, "inspect", { file: at("locked.key"), passphrase: "s3cret" });
  check("a passphrase opens a key", opened.good && opened.text.includes("MAYO_3"), opened.text);
  const raw = await use(page, "inspect", { file: { name: "raw", mimeType: "", buffer: Buffer.alloc(681) } });
  check("raw bytes", raw.good && raw.text.includes("signature of MAYO_3"), raw.text);
}

async function refusesWhatIsMalformed(page) {
  const message = at("other.txt");
  const given = (name, text) => ({ name, mimeType: "", buffer: Buffer.from(text) });
  const envelope = readFileSync(at("other.txt.sig"), "utf8");
  const [pem, certificate, request] = ["other.pub", "leaf.pem", "request.pem"].map((name) => readFileSync(at(name), "utf8"));
  const end = request.indexOf("-----END") - 12;
  const forged = request.slice(0, end) + (request[end] === "A" ? "B" : "A") + request.slice(end + 1);
  const cases = [
    ["verify", { file: message, signature: at("other.txt.sig"), key: at("other.pub") }, /signature of mayo3, but the key is for mayo1/],
    ["verify", { key: given("bad.pub", "nonsense") }, /bad\.pub: not a key in PEM or DER/],
    ["verify", { key: given("cut.pub", pem.slice(0, 300)) }, /cut\.pub: not a key/],
    ["verify", { key: at("other.key") }, /other\.key: .*expected the label PUBLIC KEY/],
    ["verify", { key: given("long.pub", "x".repeat(70_000)) }, /long\.pub: longer than 65536 bytes/],
    ["verify", { key: at("other.pub"), signature: given("short.sig", "abc") }, /short\.sig: signature of mayo1 has 464 bytes, not 3/],
    ["verify", { key: at("locked.pub"), signature: given("x.sig", `${envelope}x`) }, /x\.sig: bad signature envelope/],
    ["verify", { key: at("mayo3.pub"), signature: at("other.txt.sig") }, /signature of the key SHA256:\S+, but the given key is SHA256/],
    ["sign", { file: message, key: at("other.pub") }, /other\.pub: PEM of something else/],
    ["sign", { key: at("locked.key"), passphrase: "" }, /locked\.key: .*no passphrase/],
    ["sign", { key: at("locked.key"), passphrase: "wrong" }, /locked\.key: .*wrong passphrase/],
    ["inspect", { file: given("x", "nothing of ours"), passphrase: "" }, /x: neither a key nor a signature/],
    ["inspect", { file: given("y", pem.replaceAll("PUBLIC", "STRANGE")) }, /y: PEM of something else/],
    ["inspect", { file: given("cut.pem", certificate.slice(0, 900)) }, /cut\.pem: PEM with a block that is damaged/],
    ["inspect", { file: given("forged.pem", forged) }, /forged\.pem: .*signature/],
  ];
  for (const [section, inputs, expected] of cases) {
    const { good, text } = await use(page, section, inputs);
    check(`${section} refuses ${JSON.stringify(inputs).slice(0, 80)}`, !good && expected.test(text), text);
    check("and offers nothing to save", (await page.locator(`#${section} a[download]`).count()) === 0);
  }
}

async function dropsGoToTheirInputs(page) {
  await page.evaluate(() => {
    const data = new DataTransfer();
    for (const name of ["a.pub", "a.txt.sig", "a.txt"]) data.items.add(new File([name], name));
    document.querySelector("#verify form").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  const names = await page.evaluate(() => ["file", "signature", "key"].map((name) => document.getElementById(`verify-${name}`).files[0].name));
  check("three dropped files", String(names) === "a.txt,a.txt.sig,a.pub", String(names));
}

async function comparesAndPlays(page) {
  check("all sizes are shown", (await page.locator("#sizes tbody tr").count()) === 7);
  await page.click("#measure");
  await page.waitForSelector("#speeds:not([hidden])", { timeout: 120_000 });
  const times = await page.locator("#speeds tbody td:not(.bars)").allInnerTexts();
  check("all speeds are shown", times.length >= 12 && times.every((time) => Number(time.replaceAll(",", "")) > 0), String(times));

  const verdict = () => page.locator("#play .verdict").innerText();
  check("a fresh signature is valid", (await verdict()) === "VALID");
  const bytes = page.locator("#play-bytes button");
  await bytes.first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  check("the keyboard flips a bit", (await verdict()) === "NOT VALID" && (await bytes.nth(1).getAttribute("class")) === "flipped");
  await page.keyboard.press("Enter");
  check("and back", (await verdict()) === "VALID");
  await bytes.last().click();
  check("the last byte counts, too", (await verdict()) === "NOT VALID");
  await page.click("#play-restore");
  check("restoring helps", (await verdict()) === "VALID");
  await page.fill("#play-message", "Another message");
  check("another message is not signed", (await verdict()) === "NOT VALID");
  await page.click("#play-sign");
  check("until it is", (await verdict()) === "VALID");
}

/** Everything has a name for who cannot see it, and the keyboard reaches it. */
async function isForEverybody(page) {
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("input, button, progress")]
    .filter((element) => !element.labels?.length && !element.ariaLabel && !element.textContent.trim())
    .map((element) => element.id || element.outerHTML));
  check("every control has a name", unnamed.length === 0, String(unnamed));
  const regions = await page.getByRole("region").count();
  check("every section is a region with a title", regions === 6, String(regions));
  const reached = new Set();
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of ["make-name", "sign-file", "sign-bind", "verify-key", "inspect-file", "measure", "play-message", "play-restore"]) {
    check(`the keyboard reaches ${id}`, reached.has(id));
  }
}

/** No connection is possible: the policy stops even a script of the page itself. */
async function cannotConnect() {
  const page = await browser.newPage();
  await page.goto(address);
  const policy = await page.locator("meta[http-equiv]").getAttribute("content");
  check("the policy allows nothing by default", policy.startsWith("default-src 'none'") && !policy.includes("unsafe-inline"), policy);
  const outcome = await page.evaluate(() => {
    const violated = new Promise((resolve) => document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective)));
    return Promise.race([fetch("https://example.com/").then(() => "connected", () => violated), violated]);
  });
  check("a connection is refused by the policy", outcome === "connect-src", outcome);
}

/** Signs and verifies a file of 1 GB, and watches the memory of the browser's processes. */
async function streams(page) {
  const big = at("big.bin");
  writeFileSync(big, "");
  truncateSync(big, 1e9);
  const session = await browser.newBrowserCDPSession();
  const resident = async () => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const kilobytes = processInfo.map(({ id }) => Number(readFileSync(`/proc/${id}/status`, "utf8").match(/VmRSS:\s*(\d+)/)?.[1] ?? 0));
    return kilobytes.reduce((sum, value) => sum + value, 0) / 1024;
  };
  const before = await resident();
  let most = before;
  const watch = setInterval(async () => (most = Math.max(most, await resident().catch(() => 0))), 250);
  const signed = await use(page, "sign", { file: big, key: at("other.key"), passphrase: "", bind: false }, 300_000);
  await save(page, "sign", "big.bin.sig");
  const verified = await use(page, "verify", { file: big, signature: at("big.bin.sig"), key: at("other.pub") }, 300_000);
  clearInterval(watch);
  console.log(`1 GB: ${signed.text.split("\n").find((line) => line.includes("bytes read"))}; ${before.toFixed(0)} MiB before, at most ${most.toFixed(0)} MiB`);
  check("1 GB is signed and verified", signed.good && verified.good, signed.text + verified.text);
  check("in constant memory", most - before < 128, `${before} ${most}`);
  check("and the command agrees", aioli("verify", "-k", "other.pub", "big.bin").status === 0);
}

const page = await open("wide", { viewport: { width: 1280, height: 900 }, deviceScaleFactor: 2 });
await makesKeysForTheCommand(page);
await readsFilesOfTheCommand(page);
await inspectsAsTheCommand(page);
await refusesWhatIsMalformed(page);
await dropsGoToTheirInputs(page);
await comparesAndPlays(page);
await isForEverybody(page);
await cannotConnect();
if (options.includes("--full")) await streams(page);

const phone = await open("phone", { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
check("a phone need not scroll sideways", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
const dark = await open("dark", { colorScheme: "dark" });
const shade = (property) => dark.evaluate((property) => {
  const [r, g, b] = getComputedStyle(document.body)[property].match(/\d+/g).map(Number);
  return (r + g + b) / 3;
}, property);
check("dark is dark", (await shade("backgroundColor")) < 60 && (await shade("color")) > 180);

if (options.includes("--picture")) {
  const shown = await open("picture", { viewport: { width: 900, height: 1150 } });
  await use(shown, "make", {});
  await use(shown, "sign", { file: at("other.txt"), bind: true });
  await shown.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await shown.screenshot({ path: options[options.indexOf("--picture") + 1] });
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
