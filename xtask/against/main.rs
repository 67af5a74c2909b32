//! Measures two versions of the library beside each other in one process.
//!
//! For every set, backend and operation the two versions take turns over many rounds, one timed
//! call each after one that is not timed; what disturbs the machine for longer than a call disturbs
//! both. Both must give the same bytes. Times are reference cycles of the time-stamp counter on
//! x86-64, nanoseconds elsewhere. The figure of a cell is the median of `before` divided by the
//! median of `after`: above 1 the second version is faster.
//!
//! Usage: against-driver ROUNDS [FILTER]... Each filter must occur in `set backend operation`. The
//! result is JSON.

use std::hint::black_box;

/// The operations of one set on one backend, and what they gave when they were checked.
struct Operations {
    calls: Vec<(&'static str, Box<dyn FnMut()>)>,
    outputs: Vec<Vec<u8>>,
}

/// One side: the same code, compiled against one of the two versions.
macro_rules! side {
    ($version:ident) => {
        mod $version {
            use super::Operations;
            use std::hint::black_box;
            use $version::backend::Backend;
            use $version::{MessageDigest, ParameterSet, SigningKey, hazmat::on};

            fn operations<P: ParameterSet, B: Backend>(b: B) -> Operations {
                let seed: Vec<u8> = (0..P::SECRET_KEY_BYTES).map(|i| (i * 37 + 5) as u8).collect();
                let key = SigningKey::<P>::try_from(&seed[..]).expect("a seed");
                let public_key = on::verifying_key(b, &key);
                let expanded = on::expand_signing_key(b, &key);
                let expanded_public = on::expand_verifying_key(b, &public_key);
                let digest = MessageDigest::of(b"a message");
                let randomizer = move |i: u64| -> Vec<u8> {
                    (0..P::SALT_BYTES as u64)
                        .map(|j| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (j % 8 * 8)) as u8)
                        .collect()
                };
                let signature = on::sign(b, &key, &digest, &randomizer(0), 256).expect("a signature");
                let outputs = vec![public_key.as_ref().to_vec(), signature.as_ref().to_vec()];
                // Both versions sign with the same randomizers in the same order, so they try as
                // many samples.
                let mut signed = 0;
                let mut signed_expanded = 0;
                let key_to_expand = key.clone();
                let key_to_derive = key.clone();
                let calls: Vec<(&str, Box<dyn FnMut()>)> = vec![
                    ("keygen", Box::new(move || _ = black_box(on::verifying_key(b, black_box(&key_to_derive))))),
                    (
                        "expand_sk",
                        Box::new(move || _ = black_box(on::expand_signing_key(b, black_box(&key_to_expand)))),
                    ),
                    ("expand_pk", Box::new(move || _ = black_box(on::expand_verifying_key(b, black_box(&public_key))))),
                    (
                        "sign",
                        Box::new(move || {
                            signed += 1;
                            _ = black_box(
                                on::sign(b, black_box(&key), &digest, &randomizer(signed), 256).expect("a signature"),
                            );
                        }),
                    ),
                    (
                        "verify",
                        Box::new(move || on::verify(b, black_box(&public_key), &digest, &signature).expect("valid")),
                    ),
                    (
                        "sign_expanded",
                        Box::new(move || {
                            signed_expanded += 1;
                            _ = black_box(
                                on::sign_expanded(b, black_box(&expanded), &digest, &randomizer(signed_expanded), 256)
                                    .expect("a signature"),
                            );
                        }),
                    ),
                    (
                        "verify_expanded",
                        Box::new(move || {
                            on::verify_expanded(b, black_box(&expanded_public), &digest, &signature).expect("valid")
                        }),
                    ),
                ];
                Operations { calls, outputs }
            }

            fn on_every_backend<P: ParameterSet>(
                set: &'static str,
                all: &mut Vec<(&'static str, &'static str, Operations)>,
            ) {
                use $version::backend::Portable;
                /// The token, whether `detect` may fail or not.
                fn token<T>(detected: impl Into<Option<T>>) -> Option<T> {
                    detected.into()
                }
                if let Some(b) = token::<Portable>(Portable::detect()) {
                    all.push((set, Portable::NAME, operations::<P, _>(b)));
                }
                #[cfg(target_arch = "x86_64")]
                {
                    use $version::backend::{Avx2, Gfni256, Gfni512};
                    if let Some(b) = Avx2::detect() {
                        all.push((set, Avx2::NAME, operations::<P, _>(b)));
                    }
                    if let Some(b) = Gfni256::detect() {
                        all.push((set, Gfni256::NAME, operations::<P, _>(b)));
                    }
                    if let Some(b) = Gfni512::detect() {
                        all.push((set, Gfni512::NAME, operations::<P, _>(b)));
                    }
                }
                #[cfg(target_arch = "aarch64")]
                if let Some(b) = $version::backend::Neon::detect() {
                    all.push((set, "neon", operations::<P, _>(b)));
                }
            }

            pub(super) fn all() -> Vec<(&'static str, &'static str, Operations)> {
                use $version::{round2, round3};
                let mut all = Vec::new();
                on_every_backend::<round3::Mayo1>("MAYO_1, round 3", &mut all);
                on_every_backend::<round3::Mayo2>("MAYO_2, round 3", &mut all);
                on_every_backend::<round3::Mayo3>("MAYO_3, round 3", &mut all);
                on_every_backend::<round3::Mayo5>("MAYO_5, round 3", &mut all);
                on_every_backend::<round2::Mayo1>("MAYO_1, round 2", &mut all);
                on_every_backend::<round2::Mayo2>("MAYO_2, round 2", &mut all);
                on_every_backend::<round2::Mayo3>("MAYO_3, round 2", &mut all);
                on_every_backend::<round2::Mayo5>("MAYO_5, round 2", &mut all);
                all
            }
        }
    };
}
side!(before);
side!(after);

/// An operation of a set on a backend, by both versions.
struct Cell {
    set: &'static str,
    backend: &'static str,
    operation: &'static str,
    calls: [Box<dyn FnMut()>; 2],
    samples: [Vec<u64>; 2],
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rounds, filters) = arguments.split_first().expect("the number of rounds");
    let rounds: usize = rounds.parse().expect("the number of rounds");
    let mut cells = cells(filters);
    for round in 0..rounds {
        for cell in &mut cells {
            // Caches and branch predictors are filled by a call that is not timed.
            for side in [round % 2, 1 - round % 2] {
                cell.calls[side]();
                let start = ticks();
                cell.calls[side]();
                cell.samples[side].push(ticks() - start);
            }
        }
    }
    let unit = if cfg!(target_arch = "x86_64") { "reference cycles" } else { "nanoseconds" };
    let cells: Vec<_> = cells.into_iter().map(report).collect();
    println!("{}", serde_json::json!({ "rounds": rounds, "unit": unit, "cells": cells }));
}

fn cells(filters: &[String]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for ((set, backend, before), (set_after, backend_after, after)) in before::all().into_iter().zip(after::all()) {
        assert_eq!((set, backend), (set_after, backend_after), "the versions have different backends");
        assert!(before.outputs == after.outputs, "{set} on {backend}: the versions give different bytes");
        for ((operation, before), (_, after)) in before.calls.into_iter().zip(after.calls) {
            let name = format!("{set} {backend} {operation}");
            if filters.iter().all(|filter| name.contains(filter)) {
                cells.push(Cell { set, backend, operation, calls: [before, after], samples: Default::default() });
            }
        }
    }
    cells
}

fn report(mut cell: Cell) -> serde_json::Value {
    let [before, after] = cell.samples.each_mut().map(|samples| {
        samples.sort_unstable();
        let at = |quarter: usize| samples[(samples.len() - 1) * quarter / 4] as f64;
        [at(0), at(1), at(2), at(3)]
    });
    serde_json::json!({
        "set": cell.set, "backend": cell.backend, "operation": cell.operation,
        "before": { "minimum": before[0], "first_quartile": before[1], "median": before[2], "third_quartile": before[3] },
        "after": { "minimum": after[0], "first_quartile": after[1], "median": after[2], "third_quartile": after[3] },
        "times_as_fast": before[2] / after[2],
    })
}

/// Now, in reference cycles or nanoseconds.
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut core = 0;
        // SAFETY: every processor of this architecture has both instructions. The first fence keeps
        // earlier work before the reading, the second keeps later work behind it.
        black_box(unsafe {
            std::arch::x86_64::_mm_lfence();
            let ticks = std::arch::x86_64::__rdtscp(&mut core);
            std::arch::x86_64::_mm_lfence();
            ticks
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        black_box(START.elapsed().as_nanos() as u64)
    }
}
