// Runs a program for WASI in Node, with the current folder at its own path and the environment.
//
//     node wasi.js PROGRAM.wasm [ARGUMENT...]
const { readFileSync } = require("node:fs");
const { WASI } = require("node:wasi");

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...rest], env: process.env, preopens: { "/": "/" } });
const module_ = new WebAssembly.Module(readFileSync(program));
process.exit(wasi.start(new WebAssembly.Instance(module_, wasi.getImportObject())));
