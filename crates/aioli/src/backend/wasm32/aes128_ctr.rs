//! AES-128 of counter blocks by vector permutations.
//!
//! **Idea** (after Hamburg, "Accelerating AES with vector permute instructions"). A byte is
//! `x = k + i A` with i and k in GF(16), a nibble each, and A outside of it. A is chosen with
//! `A + A^16 = A A^16 = a`, so its conjugate is `A + a`. Let `j = i + k`. The norm of x is
//! `N = k^2 + a i j`, and `1/x` is linear in `u = (k + a i) / N` and `v = (k + a j) / N`, whose
//! inverses take five look-ups of nibbles:
//!
//! ```text
//! 1/u = j + 1 / (1/i + a/k)
//! 1/v = i + 1 / (1/j + a/k)
//! ```
//!
//! The inverse of 0 is [`INFINITY`], which stays out of range when a nibble is added, and whose
//! look-ups are 0. So every case of a zero comes out right, and 0 for x = 0.
//!
//! States stay in these coordinates from round to round. The look-ups by 1/u and 1/v contain all
//! that is linear: the affine map of the S-box, its double for `MixColumns`, and the way back to
//! coordinates. `ShiftRows` and the rotations of `MixColumns` are permutations by constants.
//!
//! **Cost.** A round takes 9 look-ups, 4 permutations and 14 other instructions; on x86-64, 9 more
//! for places out of range.
//!
//! The rest of this page is docs/aes-ctr.md.
#![doc = ""]
#![doc = include_str!("../../../docs/aes-ctr.md")]

use super::vector::*;
use crate::gf16::{self, INVERSE};

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    // Longer streams would change another byte in column 0 of the first round.
    assert!((out.len() as u64) < 1 << 40, "length of a key stream");
    let keys = Keys::new(key);
    let iv = u128::from_be_bytes(*iv);
    let two_rounds = |counter: u64| {
        let block = coordinates(load(&(iv ^ u128::from(counter)).to_be_bytes()));
        round(round(xor(block, keys.first), keys.middle[0]), keys.middle[1])
    };
    let mut counter = u64::from(first);
    let mut table = [splat(0); 256];
    let last_byte = |counter: u64| (counter & 255) as usize;
    // Only the entries that are needed, from the first counter's on and around the end.
    let needed = out.len().div_ceil(16).min(table.len());
    for n in (last_byte(counter)..).take(needed).map(|n| n % 256) {
        table[n] = two_rounds((counter & !255) + n as u64);
    }
    let base = two_rounds(counter & !255);

    let mut rest = out;
    while !rest.is_empty() {
        let table = &table[last_byte(counter)..];
        let (run, after) = rest.split_at_mut(rest.len().min(16 * table.len()));
        rest = after;
        let constant = xor(base, two_rounds(counter & !255));
        let (blocks, tail) = run.as_chunks_mut::<16>();
        for (block, &entry) in blocks.iter_mut().zip(table) {
            store(block, keys.remaining_rounds(xor(entry, constant)));
        }
        if !tail.is_empty() {
            let mut block = [0; 16];
            store(&mut block, keys.remaining_rounds(xor(table[blocks.len()], constant)));
            tail.copy_from_slice(&block[..tail.len()]);
        }
        counter = (counter & !255) + 256;
    }
}

/// The round keys in coordinates, with the constants of the S-box.
struct Keys {
    first: Vector,
    /// Those of rounds 1 to 9.
    middle: [Vector; 9],
    /// That of round 10, as bytes.
    last: Vector,
}

impl Keys {
    fn new(key: &[u8; 16]) -> Self {
        let keys = expand_key(key);
        // `MixColumns` keeps a constant that all bytes share.
        let key = |round: usize| xor(load(&keys[round]), splat(AFFINE_CONSTANT));
        Self {
            first: coordinates(load(&keys[0])),
            middle: core::array::from_fn(|i| coordinates(key(i + 1))),
            last: key(10),
        }
    }

    /// Rounds 3 to 10.
    #[inline(always)]
    fn remaining_rounds(&self, mut state: Vector) -> Vector {
        for &key in &self.middle[2..] {
            state = round(state, key);
        }
        let (u, v) = inverses(state);
        let bytes = xor(look_up(load(&FINAL[0]), u), look_up(load(&FINAL[1]), v));
        xor(shift_rows::<0>(bytes), self.last)
    }
}

/// A round but for the last one, with its key at the end.
#[inline(always)]
fn round(state: Vector, key: Vector) -> Vector {
    let (u, v) = inverses(state);
    let once = xor(look_up(load(&ONCE[0]), u), look_up(load(&ONCE[1]), v));
    let twice = xor(look_up(load(&TWICE[0]), u), look_up(load(&TWICE[1]), v));
    let two_rows = xor(shift_rows::<0>(twice), shift_rows::<1>(xor(twice, once)));
    let others = xor(shift_rows::<2>(once), shift_rows::<3>(once));
    xor(xor(two_rows, others), key)
}

/// 1/u and 1/v of each byte.
#[inline(always)]
fn inverses(state: Vector) -> (Vector, Vector) {
    let Nibbles { low: k, high: i } = split(state);
    let j = xor(i, k);
    let inverse = load(&INVERSE_OR_INFINITY);
    let a_by_k = look_up(load(&A_BY), k);
    let u = xor(look_up(inverse, xor(look_up(inverse, i), a_by_k)), j);
    let v = xor(look_up(inverse, xor(look_up(inverse, j), a_by_k)), i);
    (u, v)
}

/// `ShiftRows`, and then each column rotated by `R` rows: row r takes what is in row r + R.
#[inline(always)]
fn shift_rows<const R: usize>(state: Vector) -> Vector {
    match R {
        0 => i8x16_shuffle::<0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11>(state, state),
        1 => i8x16_shuffle::<5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8, 1, 6, 11, 12>(state, state),
        2 => i8x16_shuffle::<10, 15, 0, 5, 14, 3, 4, 9, 2, 7, 8, 13, 6, 11, 12, 1>(state, state),
        _ => i8x16_shuffle::<15, 0, 5, 10, 3, 4, 9, 14, 7, 8, 13, 2, 11, 12, 1, 6>(state, state),
    }
}

/// Bytes as coordinates, `i` in the high and `k` in the low nibble.
#[inline(always)]
fn coordinates(bytes: Vector) -> Vector {
    let Nibbles { low, high } = split(bytes);
    xor(look_up(load(&COORDINATES[0]), low), look_up(load(&COORDINATES[1]), high))
}

/// The eleven round keys (FIPS 197, section 5.2).
fn expand_key(key: &[u8; 16]) -> [[u8; 16]; 11] {
    let mut keys = [*key; 11];
    let mut constant = 1;
    for n in 1..keys.len() {
        let before = keys[n - 1];
        for i in 0..16 {
            let above = if i < 4 {
                S_BOX[before[12 + (i + 1) % 4] as usize] ^ if i == 0 { constant } else { 0 }
            } else {
                keys[n][i - 4]
            };
            keys[n][i] = before[i] ^ above;
        }
        constant = product(constant, 2);
    }
    keys
}

/// The product in the field of AES.
const fn product(a: u8, b: u8) -> u8 {
    let mut sum = 0;
    let mut bit = 8;
    while bit > 0 {
        bit -= 1;
        sum = (sum << 1) ^ ((sum >> 7) * 0x1b) ^ (a * (b >> bit & 1));
    }
    sum
}

/// `x^16`, the conjugate of x over GF(16).
const fn conjugate(mut x: u8) -> u8 {
    let mut i = 0;
    while i < 4 {
        x = product(x, x);
        i += 1;
    }
    x
}

/// The elements of GF(16), as this crate writes them, in the field of AES.
const EMBEDDED: [u8; 16] = {
    // A root of the polynomial of GF(16).
    let mut root = 2;
    while product(product(root, root), product(root, root)) != root ^ 1 {
        root += 1;
    }
    let mut elements = [0; 16];
    let mut e = 1;
    while e < 16 {
        // Horner's rule over the bits of e.
        let mut bit = 4;
        while bit > 0 {
            bit -= 1;
            elements[e] = product(elements[e], root) ^ (e >> bit & 1) as u8;
        }
        e += 1;
    }
    elements
};

/// The second coordinate's element A.
const BASIS: u8 = {
    let mut basis = 2;
    while conjugate(basis) == basis || conjugate(basis) ^ basis != product(conjugate(basis), basis) {
        basis += 1;
    }
    basis
};

/// The trace and norm of A, in GF(16).
const TRACE: u8 = {
    let mut e = 0;
    while EMBEDDED[e] != conjugate(BASIS) ^ BASIS {
        e += 1;
    }
    e as u8
};

/// `1/x` by u and v: `1/x = (k + a i + i A) / N`.
const fn inverse_of(u: u8, v: u8) -> u8 {
    let by_a = INVERSE[TRACE as usize];
    // i / N, as a k / N = u + v.
    let i = gf16::mul(by_a, u ^ gf16::mul(by_a, u ^ v));
    EMBEDDED[u as usize] ^ product(EMBEDDED[i as usize], BASIS)
}

/// The coordinates of all bytes.
const ALL_COORDINATES: [u8; 256] = {
    let mut all = [0; 256];
    let mut n = 0;
    while n < 256 {
        all[(EMBEDDED[n & 15] ^ product(EMBEDDED[n >> 4], BASIS)) as usize] = n as u8;
        n += 1;
    }
    all
};

/// The coordinates of bytes with one nibble only, the low or the high one.
const COORDINATES: [[u8; 16]; 2] = {
    let mut tables = [[0; 16]; 2];
    let mut n = 0;
    while n < 16 {
        tables[0][n] = ALL_COORDINATES[n];
        tables[1][n] = ALL_COORDINATES[n << 4];
        n += 1;
    }
    tables
};

/// The linear part of the S-box behind the inverse.
const fn affine(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4)
}

/// The rest of it.
const AFFINE_CONSTANT: u8 = 0x63;

/// The tables that look 1/u and 1/v up: the summands of the S-box times `factor`, in coordinates
/// or not.
const fn summands(factor: u8, in_coordinates: bool) -> [[u8; 16]; 2] {
    let mut tables = [[0; 16]; 2];
    let mut n = 1;
    while n < 16 {
        let inverse = INVERSE[n];
        let mut i = 0;
        while i < 2 {
            let x = if i == 0 { inverse_of(inverse, 0) } else { inverse_of(0, inverse) };
            let byte = product(affine(x), factor);
            tables[i][n] = if in_coordinates { ALL_COORDINATES[byte as usize] } else { byte };
            i += 1;
        }
        n += 1;
    }
    tables
}

const ONCE: [[u8; 16]; 2] = summands(1, true);
const TWICE: [[u8; 16]; 2] = summands(2, true);
const FINAL: [[u8; 16]; 2] = summands(1, false);

/// The inverse of zero, out of range of every table.
const INFINITY: u8 = 0x80;

const INVERSE_OR_INFINITY: [u8; 16] = {
    let mut table = INVERSE;
    table[0] = INFINITY;
    table
};

/// `a / k`.
const A_BY: [u8; 16] = {
    let mut table = [INFINITY; 16];
    let mut k = 1;
    while k < 16 {
        table[k] = gf16::mul(TRACE, INVERSE[k]);
        k += 1;
    }
    table
};

/// The S-box, for keys.
const S_BOX: [u8; 256] = {
    let mut table = [AFFINE_CONSTANT; 256];
    let mut x = 1;
    while x < 256 {
        // x^254 = 1/x.
        let mut power = 1;
        let mut n = 0;
        while n < 254 {
            power = product(power, x as u8);
            n += 1;
        }
        table[x] ^= affine(power);
        x += 1;
    }
    table
};
