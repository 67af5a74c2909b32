//! The parameter sets, and the backend that computes.

use crate::command::round::round_number;
use crate::edge::object;
use aioli::Algorithm;
use aioli::backend::DetectedBackend;
use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** The name of a parameter set, as the command `aioli` takes it. */
export type Algorithm =
    | "mayo1" | "mayo2" | "mayo3" | "mayo5"
    | "mayo1-round2" | "mayo2-round2" | "mayo3-round2" | "mayo5-round2";

/** A parameter set: its names, its sizes, its level. */
export interface AlgorithmInfo {
    readonly name: Algorithm;
    /** The name in the specification: `MAYO_1`. */
    readonly set: string;
    readonly round: 2 | 3;
    /** The claimed NIST security level. */
    readonly level: 1 | 3 | 5;
    readonly secretKeyBytes: number;
    readonly publicKeyBytes: number;
    readonly signatureBytes: number;
    /** Why the set should not protect anything, if there is a reason. */
    readonly warning?: string;
}
"#;

/// The parameter sets of this build, round 3 first.
#[wasm_bindgen(unchecked_return_type = "AlgorithmInfo[]")]
pub fn algorithms() -> Array {
    Algorithm::ALL.iter().map(|&algorithm| info(algorithm)).collect()
}

/// The name of the backend that computes: `simd128`, or `portable` in builds without vectors.
#[wasm_bindgen(unchecked_return_type = "\"simd128\" | \"portable\"")]
pub fn backend() -> String {
    DetectedBackend::best().to_string()
}

fn info(algorithm: Algorithm) -> Object {
    let known = [
        ("name", algorithm.name().into()),
        ("set", algorithm.set_name().into()),
        ("round", round_number(algorithm).into()),
        ("level", algorithm.level().into()),
        ("secretKeyBytes", algorithm.secret_key_bytes().into()),
        ("publicKeyBytes", algorithm.public_key_bytes().into()),
        ("signatureBytes", algorithm.signature_bytes().into()),
    ];
    object(known.into_iter().chain(algorithm.warning().map(|warning| ("warning", warning.into()))))
}
