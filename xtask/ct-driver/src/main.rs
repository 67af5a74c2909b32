//! Runs operations on secrets under a checker of constant time: `cargo xtask ct-valgrind`,
//! `ct-msan`, `ct-trace`.
//!
//! `ct-driver BACKEND SUBJECT [OPERATION]`, where the subject is a set (`mayo1`, ...) or, in builds
//! with `--cfg aioli_plants`, a planted leak (`plant-solver`, ...). Built with `--cfg aioli_ct`,
//! the library marks its secrets, and the tool around this process reports. Built without, the
//! process traces itself and exits with 86 if two secrets can be told apart. Any other failure is
//! a panic, and means that no check took place.

#[cfg(not(any(aioli_ct, all(target_os = "linux", target_arch = "x86_64"))))]
compile_error!("the trace needs Linux on x86-64");

#[cfg_attr(all(target_os = "linux", target_arch = "x86_64", not(aioli_ct)), path = "trace.rs")]
#[cfg_attr(aioli_ct, path = "tool.rs")]
mod checker;
#[cfg(not(aioli_ct))]
mod one_p;
mod operations;
#[cfg(aioli_plants)]
mod plants;
mod systems;

use aioli::Algorithm;
#[cfg(not(feature = "all-sets"))]
use aioli::ParameterSet;
#[cfg(target_arch = "x86_64")]
use aioli::backend::{Avx2, Gfni256, Gfni512};
use aioli::backend::{Backend, BackendKind, Portable};
use checker::Checker;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (kind, subject, operation) = match arguments.as_slice() {
        [kind, subject] => (kind, subject, None),
        [kind, subject, operation] => (kind, subject, Some(operation.as_str())),
        _ => panic!("usage: ct-driver BACKEND SUBJECT [OPERATION]"),
    };
    let kind: BackendKind = kind.parse().expect("name of a backend");
    // The tokens exclude a silent change to another backend.
    match kind {
        BackendKind::Portable => run(one_p(Portable::new()), subject, operation),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Avx2 => run(one_p(Avx2::detect().expect("avx2 on this processor")), subject, operation),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Gfni256 => run(Gfni256::detect().expect("gfni256 on this processor"), subject, operation),
        #[cfg(target_arch = "x86_64")]
        BackendKind::Gfni512 => run(Gfni512::detect().expect("gfni512 on this processor"), subject, operation),
        other => panic!("no backend {other} for this target"),
    }
}

/// The backend for a checker that compares secrets, if memory is addressed by P.
#[cfg(not(aioli_ct))]
fn one_p<B: Backend>(b: B) -> impl Backend {
    one_p::OneP(b)
}

/// The backend itself: P has no mark, so memory may be addressed by it.
#[cfg(aioli_ct)]
fn one_p<B: Backend>(b: B) -> impl Backend {
    b
}

fn run<B: Backend>(b: B, subject: &str, operation: Option<&str>) {
    #[cfg(aioli_plants)]
    if let Some(plant) = subject.strip_prefix("plant-") {
        let plant: plants::Plant = plant.parse().expect("name of a plant");
        let mut checker = Checker::new(B::NAME, subject, plant.operation());
        plants::run(b, plant, &mut checker);
        return checker.finish();
    }
    let mut checker = Checker::new(B::NAME, subject, operation);
    let set: Algorithm = subject.parse().expect("name of a set");
    #[cfg(feature = "all-sets")]
    aioli::with_set!(set, P => operations::run::<P, B>(b, &mut checker));
    #[cfg(not(feature = "all-sets"))]
    {
        use aioli::round3::{Mayo1, Mayo2};
        if set == Mayo1::ALGORITHM && B::NAME == Portable::NAME {
            // Its m-vectors have 40 bytes, not a whole register of 32 as those of MAYO_2.
            operations::run::<Mayo1, _>(one_p(Portable::new()), &mut checker);
        } else {
            assert_eq!(set, Mayo2::ALGORITHM, "the set of a build without the feature all-sets");
            operations::run::<Mayo2, B>(b, &mut checker);
        }
    }
    checker.finish();
}
