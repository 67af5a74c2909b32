//! Parameter sets as numbers.

use crate::edge::{self, guarded};
use crate::status::{AioliStatus, Failure};
use aioli::Algorithm;
use std::ffi::{CStr, c_char};

/// MAYO_1 of round 3.
pub const AIOLI_MAYO1: u32 = 0x301;
/// MAYO_2 of round 3.
pub const AIOLI_MAYO2: u32 = 0x302;
/// MAYO_3 of round 3.
pub const AIOLI_MAYO3: u32 = 0x303;
/// MAYO_5 of round 3.
pub const AIOLI_MAYO5: u32 = 0x305;
/// MAYO_1 of round 2.
pub const AIOLI_MAYO1_ROUND2: u32 = 0x201;
/// MAYO_2 of round 2, which is broken at its claimed level: for comparison only.
pub const AIOLI_MAYO2_ROUND2: u32 = 0x202;
/// MAYO_3 of round 2.
pub const AIOLI_MAYO3_ROUND2: u32 = 0x203;
/// MAYO_5 of round 2.
pub const AIOLI_MAYO5_ROUND2: u32 = 0x205;

const NUMBERS: [(u32, Algorithm, &CStr); Algorithm::ALL.len()] = [
    (AIOLI_MAYO1, Algorithm::Mayo1, c"mayo1"),
    (AIOLI_MAYO2, Algorithm::Mayo2, c"mayo2"),
    (AIOLI_MAYO3, Algorithm::Mayo3, c"mayo3"),
    (AIOLI_MAYO5, Algorithm::Mayo5, c"mayo5"),
    (AIOLI_MAYO1_ROUND2, Algorithm::Mayo1Round2, c"mayo1-round2"),
    (AIOLI_MAYO2_ROUND2, Algorithm::Mayo2Round2, c"mayo2-round2"),
    (AIOLI_MAYO3_ROUND2, Algorithm::Mayo3Round2, c"mayo3-round2"),
    (AIOLI_MAYO5_ROUND2, Algorithm::Mayo5Round2, c"mayo5-round2"),
];

/// The set with this number.
pub(crate) fn set(number: u32) -> Result<Algorithm, Failure> {
    let known = NUMBERS.iter().find(|(known, ..)| *known == number);
    known.map(|&(_, algorithm, _)| algorithm).ok_or_else(|| {
        let message = format!("{number:#x} is the number of no parameter set");
        Failure::new(AioliStatus::UnknownAlgorithm, message)
    })
}

/// The number of a set.
pub(crate) fn number(algorithm: Algorithm) -> u32 {
    let known = NUMBERS.iter().find(|(_, known, _)| *known == algorithm);
    known.expect("all sets have numbers").0
}

/// Lengths in bytes.
#[derive(Debug)]
#[repr(C)]
pub struct AioliSizes {
    /// A secret key, which is the seed that it was made from.
    pub secret_key: usize,
    /// A public key.
    pub public_key: usize,
    /// A signature.
    pub signature: usize,
    /// A message digest.
    pub digest: usize,
}

/// Tells how long the keys, signatures and digests of a set are.
///
/// # Safety
///
/// `sizes` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_sizes(algorithm: u32, sizes: *mut AioliSizes) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let sizes = unsafe { edge::place("sizes", sizes) }?;
        let algorithm = set(algorithm)?;
        sizes.write(AioliSizes {
            secret_key: algorithm.secret_key_bytes(),
            public_key: algorithm.public_key_bytes(),
            signature: algorithm.signature_bytes(),
            digest: algorithm.digest_bytes(),
        });
        Ok(())
    })
}

/// The name of a set, such as "mayo1" or "mayo1-round2": a static string, NULL if there is no such
/// set.
#[unsafe(no_mangle)]
pub extern "C" fn aioli_algorithm_name(algorithm: u32) -> *const c_char {
    let known = NUMBERS.iter().find(|(known, ..)| *known == algorithm);
    known.map_or(std::ptr::null(), |(.., name)| name.as_ptr())
}

/// Finds the set with a name.
///
/// # Safety
///
/// `name` is a string that ends with a zero, and `algorithm` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_algorithm_from_name(name: *const c_char, algorithm: *mut u32) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("algorithm", algorithm) }?;
        // SAFETY: the caller promises a string.
        let name = unsafe { edge::string("name", name) }?;
        let known = NUMBERS.iter().find(|(.., known)| *known == name);
        let &(number, ..) = known.ok_or(aioli::Error::UnknownSet)?;
        place.write(number);
        Ok(())
    })
}

/// The version of the library, such as "0.1.0": a static string.
#[unsafe(no_mangle)]
pub extern "C" fn aioli_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero"),
    };
    VERSION.as_ptr()
}
