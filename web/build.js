// Makes the page of its parts: one file that holds the script, the style and the module.
//
//     node build.js PACKAGE OUT.html
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [folder, out] = process.argv.slice(2);
if (!out) {
  console.error("usage: node build.js PACKAGE OUT.html");
  process.exit(2);
}
const here = (name) => join(import.meta.dirname, name);
const options = { bundle: true, minify: true, write: false, format: "esm", target: "es2022", legalComments: "none" };
const text = async (entry, more) => (await build({ ...options, ...more, entryPoints: [here(entry)] })).outputFiles[0].text.trim();
const script = await text("page.js", {
  alias: {
    "aioli-wasm/module": resolve(folder, "aioli_wasm_bg.wasm"),
    "aioli-wasm": resolve(folder, "aioli_wasm.js"),
  },
  loader: { ".wasm": "binary" },
});
const style = await text("page.css");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
];
// A function as replacement: texts may contain what `replace` would take for a pattern.
const page = readFileSync(here("index.html"), "utf8")
  .replace("POLICY", () => policy.join("; "))
  .replace(">STYLE<", () => `>${style}<`)
  .replace(">SCRIPT<", () => `>${script}<`);
writeFileSync(out, page);
console.log(`${out}: ${page.length} bytes`);
