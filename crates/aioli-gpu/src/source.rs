//! The source of the kernels for one parameter set, as one piece: what a compiler is given, whichever it is.

use aioli::{ParameterSet, Round};
use std::fmt::Write;

/// The kernels of a set, for a device with so many bytes of shared memory for a block: they decide how many AES tables
/// each keeps there.
///
/// CUDA C++17 without any include, for NVRTC, nvcc, or a C++ compiler behind stand-ins for CUDA's built-ins.
pub fn source<P: ParameterSet>(shared_bytes: u32) -> String {
    let list = |values: &[u8]| values.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    let mut text = String::new();
    let linear = usize::from(P::ROUND == Round::Three);
    let numbers = [
        ("N", P::N),
        ("M", P::M),
        ("O", P::O),
        ("K", P::K),
        ("LINEAR", linear),
        ("SALT_BYTES", P::SALT_BYTES),
        ("DIGEST_BYTES", P::DIGEST_BYTES),
        ("SECRET_KEY_BYTES", P::SECRET_KEY_BYTES),
        ("PUBLIC_KEY_BYTES", P::PUBLIC_KEY_BYTES),
        ("SIGNATURE_BYTES", P::SIGNATURE_BYTES),
    ];
    let lists = [("F_TAIL", list(&P::F_TAIL)), ("EXPONENTS", list(P::EXPONENTS))];
    let values = numbers.map(|(name, value)| (name, value.to_string())).into_iter().chain(lists);
    for (name, value) in values {
        writeln!(text, "#define MAYO_{name} {value}").expect("a string takes everything");
    }
    writeln!(text, "#define AIOLI_SHARED_BYTES {shared_bytes}").expect("a string takes everything");
    for (name, file) in FILES {
        writeln!(text, "#line 1 \"{name}\"").expect("a string takes everything");
        for line in file.lines() {
            // Everything is here already; the lines keep their numbers.
            let dropped = line.starts_with("#include \"") && !line.contains("shim.h") || line == "#pragma once";
            text += if dropped { "" } else { line };
            text += "\n";
        }
    }
    text
}

/// In the order in which they include each other.
const FILES: [(&str, &str); 11] = [
    ("platform.cuh", include_str!("../kernels/platform.cuh")),
    ("params.cuh", include_str!("../kernels/params.cuh")),
    ("field.cuh", include_str!("../kernels/field.cuh")),
    ("shake.cuh", include_str!("../kernels/shake.cuh")),
    ("aes.cuh", include_str!("../kernels/aes.cuh")),
    ("product.cuh", include_str!("../kernels/product.cuh")),
    ("whip.cuh", include_str!("../kernels/whip.cuh")),
    ("seeds.cuh", include_str!("../kernels/seeds.cuh")),
    ("maps.cuh", include_str!("../kernels/maps.cuh")),
    ("solve.cuh", include_str!("../kernels/solve.cuh")),
    ("mayo.cu", include_str!("../kernels/mayo.cu")),
];
