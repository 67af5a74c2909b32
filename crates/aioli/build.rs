//! Names the processors that a backend in assembly is for: `cfg(target_feature = "dsp")` is never true on stable.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(aioli_armv7em)");
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("thumbv7em-") && target.ends_with("hf")) {
        println!("cargo:rustc-cfg=aioli_armv7em");
    }
}
