// The module, loaded from beside this file: for browsers, bundlers and Deno.
import load from "./aioli_wasm.js";

await load({ module_or_path: new URL("aioli_wasm_bg.wasm", import.meta.url) });

export * from "./aioli_wasm.js";
