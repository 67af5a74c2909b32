//! Tells the program how it was built, for its records: compilers, flags, versions of the measured
//! crates.

use std::process::Command;

fn main() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let lock = std::path::Path::new(&manifest).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");

    println!("cargo::rustc-check-cfg=cfg(openmp)");
    let openmp = openmp();
    if openmp.is_some() {
        println!("cargo::rustc-cfg=openmp");
    }
    println!("cargo::rustc-env=AIOLI_LAB_OPENMP={}", openmp.unwrap_or_default());

    let lock = std::fs::read_to_string(lock).expect("the workspace's Cargo.lock");
    let lines: Vec<&str> = lock.lines().collect();
    let versions: Vec<String> = lines
        .windows(2)
        .filter_map(|pair| {
            let name = pair[0].strip_prefix("name = \"")?.strip_suffix('"')?;
            let version = pair[1].strip_prefix("version = \"")?.strip_suffix('"')?;
            MEASURED.contains(&name).then(|| format!("{name} {version}"))
        })
        .collect();
    println!("cargo::rustc-env=AIOLI_LAB_CRATES={}", versions.join(";"));

    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=AIOLI_LAB_RUSTC={}", first_line(&rustc));
    // The crates `cc` and `cmake` choose in this order too: CC, then the system's compiler.
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    println!("cargo::rustc-env=AIOLI_LAB_CC={}", first_line(&cc));
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    println!("cargo::rustc-env=AIOLI_LAB_RUSTFLAGS={flags}");
    println!("cargo::rustc-env=AIOLI_LAB_PROFILE={}", std::env::var("PROFILE").unwrap_or_default());
}

/// Compiles the team of OpenMP's threads by the first C compiler that has an OpenMP runtime, and
/// links that; returns both, or `None` if there is none.
fn openmp() -> Option<String> {
    const SOURCE: &str = "src/techniques/openmp.c";
    println!("cargo::rerun-if-changed={SOURCE}");
    let native = std::env::var("HOST") == std::env::var("TARGET");
    // The first is the crate `cc`'s own choice, which honours CC.
    let others = ["gcc", "clang"].into_iter().filter(|_| native);
    std::iter::once(None).chain(others.map(Some)).find_map(|compiler| {
        let mut build = cc::Build::new();
        compiler.map(|compiler| build.compiler(compiler));
        build.file(SOURCE).flag("-fopenmp").opt_level(2).cargo_warnings(false);
        let compiler = build.try_get_compiler().ok()?;
        let runtime = if compiler.is_like_clang() { "omp" } else { "gomp" };
        // The runtime is beside the compiler, where the linker does not look by default.
        let beside = Command::new(compiler.path()).arg(format!("-print-file-name=lib{runtime}.so")).output().ok()?;
        let beside = std::path::PathBuf::from(String::from_utf8_lossy(&beside.stdout).trim());
        let folder = beside.parent().filter(|folder| folder.is_absolute())?;
        build.try_compile("aioli_lab_openmp").ok()?;
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib={runtime}");
        Some(format!("lib{runtime} of {}", first_line(&compiler.path().to_string_lossy())))
    })
}

/// The first line of the output of `program --version`, or an empty string.
fn first_line(program: &str) -> String {
    Command::new(program)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned()))
        .unwrap_or_default()
}

/// The crates whose code is timed.
const MEASURED: &[&str] =
    &["aioli", "oqs", "oqs-sys", "pq-mayo", "ed25519-dalek", "ml-dsa", "p256", "aes", "shake", "keccak"];
