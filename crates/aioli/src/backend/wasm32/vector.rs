//! The instructions that the kernels use, under short names.

use core::arch::wasm32::{
    i8x16_swizzle, u8x16_extract_lane, u8x16_ge, u8x16_shr, u8x16_splat, v128_and, v128_bitselect, v128_load,
    v128_store,
};

pub(super) use core::arch::wasm32::{
    i8x16_shuffle, i16x8_shuffle, i32x4_shuffle, i64x2_shuffle, u8x16_add as add, u8x16_eq as equal, u8x16_min as min,
    u8x16_shl, u8x16_sub as sub, v128 as Vector, v128_or as or, v128_xor as xor,
};

/// The low and the high nibbles of a register, an element a byte.
#[derive(Clone, Copy)]
pub(super) struct Nibbles {
    pub(super) low: Vector,
    pub(super) high: Vector,
}

/// Bytes of a register.
pub(super) const REGISTER: usize = 16;

#[inline(always)]
pub(super) fn splat(byte: u8) -> Vector {
    u8x16_splat(byte)
}

#[inline(always)]
pub(super) fn and(a: Vector, b: Vector) -> Vector {
    v128_and(a, b)
}

/// The bytes of `table` at the places `index`; zero for places out of range.
#[inline(always)]
pub(super) fn look_up(table: Vector, index: Vector) -> Vector {
    i8x16_swizzle(table, index)
}

#[inline(always)]
pub(super) fn split(bytes: Vector) -> Nibbles {
    Nibbles { low: and(bytes, splat(15)), high: u8x16_shr(bytes, 4) }
}

/// The bits of `a` where the mask is one, those of `b` elsewhere.
#[inline(always)]
pub(super) fn select(mask: Vector, a: Vector, b: Vector) -> Vector {
    v128_bitselect(a, b, mask)
}

/// All ones in the bytes of `a` that are at least those of `b`.
#[inline(always)]
pub(super) fn not_below(a: Vector, b: Vector) -> Vector {
    u8x16_ge(a, b)
}

/// The first byte.
#[inline(always)]
pub(super) fn first(bytes: Vector) -> u8 {
    u8x16_extract_lane::<0>(bytes)
}

#[inline(always)]
pub(super) fn load(bytes: &[u8; REGISTER]) -> Vector {
    // SAFETY: the reference is to as many bytes as are read, and any alignment will do.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

#[inline(always)]
pub(super) fn store(bytes: &mut [u8; REGISTER], value: Vector) {
    // SAFETY: the reference is to as many bytes as are written, and any alignment will do.
    unsafe { v128_store(bytes.as_mut_ptr().cast(), value) }
}
