// Copies the page's libraries from node_modules to vendor/; with --check, names the copies that differ instead.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const files = {
  "d3.js": "d3/dist/d3.min.js",
  "d3.LICENSE": "d3/LICENSE",
  "plot.js": "@observablehq/plot/dist/plot.umd.min.js",
  "plot.LICENSE": "@observablehq/plot/LICENSE",
};
const at = (path) => new URL(path, import.meta.url);
mkdirSync(at("vendor/"), { recursive: true });
for (const [name, source] of Object.entries(files)) {
  const wanted = readFileSync(at(`node_modules/${source}`));
  if (!process.argv.includes("--check")) {
    writeFileSync(at(`vendor/${name}`), wanted);
  } else if (!wanted.equals(readFileSync(at(`vendor/${name}`)))) {
    console.error(`vendor/${name} differs from npm's ${source}: npm run vendor`);
    process.exitCode = 1;
  }
}
