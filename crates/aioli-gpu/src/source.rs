//! The source of the kernels for one parameter set, in one piece, for any compiler.

use aioli::{ParameterSet, Round};
use std::fmt::Write;

/// The source of the kernels of a set, for a device with `shared_bytes` bytes of shared memory for
/// a block. They decide how many AES tables each kernel keeps there.
///
/// The source is CUDA C++17 without includes, for NVRTC, nvcc, or a C++ compiler with stand-ins for
/// CUDA's built-ins.
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
            // An included file is part of this text already. An empty line keeps the line numbers.
            let dropped = line.starts_with("#include \"") && !line.contains("shim.h") || line == "#pragma once";
            text += if dropped { "" } else { line };
            text += "\n";
        }
    }
    text
}

/// Names and contents of the files, each behind those that it includes.
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
