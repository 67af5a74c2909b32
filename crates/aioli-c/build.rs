//! Names the shared library as programs will ask for it. While the version is 0.x, each minor
//! version may change the interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let [major, minor] = ["MAJOR", "MINOR"].map(|part| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap());
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libaioli.so.{major}.{minor}");
    }
}
