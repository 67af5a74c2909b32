//! Decides which backends are compiled. The code then asks `cfg(aioli_x86_64)` and its like.
//!
//! The Cortex-M4 needs a name because `cfg(target_feature = "dsp")` is never true on stable;
//! x86-64 and 64-bit Arm because they also need run-time detection, which comes with the feature
//! `std`. A WebAssembly module has the instructions that it was compiled for.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |key: &str| var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let std = var("CARGO_FEATURE_STD").is_ok();
    let triple = var("TARGET").unwrap_or_default();
    let little_64 = target("ENDIAN") == "little" && target("POINTER_WIDTH") == "64";
    let has = |feature: &str| target("FEATURE").split(',').any(|enabled| enabled == feature);
    for (name, compiled) in [
        ("aioli_x86_64", std && target("ARCH") == "x86_64"),
        ("aioli_aarch64", std && target("ARCH") == "aarch64" && little_64),
        ("aioli_wasm32", target("ARCH") == "wasm32" && has("simd128")),
        ("aioli_armv7em", triple.starts_with("thumbv7em-") && triple.ends_with("hf")),
    ] {
        println!("cargo:rustc-check-cfg=cfg({name})");
        if compiled {
            println!("cargo:rustc-cfg={name}");
        }
    }
}
