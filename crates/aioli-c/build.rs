//! Names the shared library as programs will ask for it. While the version is 0.x, each minor
//! version may change the interface.
//!
//! A WebAssembly module has no linker to find an allocator for its host, so the module exports what
//! the host needs: room for arguments, the stack, and the function to call first.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            let [major, minor] =
                ["MAJOR", "MINOR"].map(|part| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap());
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libaioli.so.{major}.{minor}");
        }
        Ok("wasi") => {
            for symbol in ["malloc", "free", "__stack_pointer", "__wasm_call_ctors"] {
                println!("cargo::rustc-cdylib-link-arg=--export={symbol}");
            }
        }
        _ => {}
    }
}
