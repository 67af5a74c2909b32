//! Runs operations on secrets under a checker of constant time: `cargo xtask ct-valgrind`,
//! `ct-msan`, `ct-trace`.
//!
//! `ct-driver BACKEND SUBJECT`, where the subject is a set (`mayo1`, ...) or a planted leak
//! (`plant-none`, `plant-branch`, `plant-index`, `plant-solved`). Built with `--cfg aioli_ct`, the
//! library marks its secrets, and the tool around this process reports. Built without, the process
//! traces itself and exits with 86 if two secrets can be told apart. Any other failure is a panic,
//! and means that no check took place.

#[cfg(not(any(aioli_ct, all(target_os = "linux", target_arch = "x86_64"))))]
compile_error!("the trace needs Linux on x86-64");

#[cfg_attr(all(target_os = "linux", target_arch = "x86_64", not(aioli_ct)), path = "trace.rs")]
#[cfg_attr(aioli_ct, path = "tool.rs")]
mod checker;
mod operations;
mod plants;

use aioli::Algorithm;
#[cfg(not(feature = "all-sets"))]
use aioli::ParameterSet;
use aioli::backend::{Backend, BackendKind, Portable};
use checker::Checker;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, subject] = arguments.as_slice() else { panic!("usage: ct-driver BACKEND SUBJECT") };
    let kind: BackendKind = kind.parse().expect("name of a backend");
    // The tokens exclude a silent change to another backend.
    match kind {
        BackendKind::Portable => run(Portable::new(), subject),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Avx2 => run(aioli::backend::Avx2::detect().expect("avx2 on this processor"), subject),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Gfni256 => run(aioli::backend::Gfni256::detect().expect("gfni256 on this processor"), subject),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Gfni512 => run(aioli::backend::Gfni512::detect().expect("gfni512 on this processor"), subject),
        other => panic!("no backend {other} for this target"),
    }
}

fn run<B: Backend>(b: B, subject: &str) {
    let mut checker = Checker::new(B::NAME, subject);
    match subject.strip_prefix("plant-") {
        Some(plant) => plants::run(b, plant.parse().expect("name of a plant"), &mut checker),
        None => {
            let set: Algorithm = subject.parse().expect("name of a set");
            #[cfg(feature = "all-sets")]
            aioli::with_set!(set, P => operations::run::<P, B>(b, &mut checker));
            #[cfg(not(feature = "all-sets"))]
            {
                use aioli::round3::{Mayo1, Mayo2};
                if set == Mayo1::ALGORITHM && B::NAME == Portable::NAME {
                    // Its m-vectors have 40 bytes, not a whole register of 32 as those of MAYO_2.
                    operations::run::<Mayo1, Portable>(Portable::new(), &mut checker);
                } else {
                    assert_eq!(set, Mayo2::ALGORITHM, "the set of a build without the feature all-sets");
                    operations::run::<Mayo2, B>(b, &mut checker);
                }
            }
        }
    }
    checker.finish();
}
