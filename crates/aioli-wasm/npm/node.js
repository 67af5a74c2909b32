// The module, read from beside this file: for Node, whose `fetch` knows no files.
import { readFileSync } from "node:fs";
import { initSync } from "./aioli_wasm.js";

initSync({ module: readFileSync(new URL("aioli_wasm_bg.wasm", import.meta.url)) });

export * from "./aioli_wasm.js";
