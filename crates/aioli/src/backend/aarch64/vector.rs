//! The NEON instructions that the kernels use, under short names.
//!
//! The kernels must be inlined, into a caller that may fuse XORs and into one that may not. A
//! function that is always inlined cannot have the attribute that enables NEON, and without it may
//! not call the intrinsics safely. The functions here have no attribute either: this module is
//! compiled only where NEON is part of the target.

use core::arch::{aarch64::*, asm};

/// A register of sixteen bytes.
pub(super) type Vector = uint8x16_t;

/// The low and the high nibbles of a register, an element a byte.
#[derive(Clone, Copy)]
pub(super) struct Nibbles {
    pub(super) low: Vector,
    pub(super) high: Vector,
}

/// Bytes of a register.
pub(super) const REGISTER: usize = 16;

const _: () = assert!(cfg!(target_feature = "neon"));

/// Defines functions that call one intrinsic each.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident $(<$n:ident>)? ($($argument:ident: $type:ty),*) -> $result:ty = $intrinsic:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name $(<const $n: i32>)? ($($argument: $type),*) -> $result {
            // SAFETY: the target has NEON, as asserted above.
            unsafe { $intrinsic }
        }
    )*};
}

instructions! {
    splat(byte: u8) -> Vector = vdupq_n_u8(byte);
    and(a: Vector, b: Vector) -> Vector = vandq_u8(a, b);
    or(a: Vector, b: Vector) -> Vector = vorrq_u8(a, b);
    xor(a: Vector, b: Vector) -> Vector = veorq_u8(a, b);
    /// One instruction if this is inlined into a function that may use the SHA-3 extension, else
    /// two.
    xor3(a: Vector, b: Vector, c: Vector) -> Vector = veorq_u8(a, veorq_u8(b, c));
    /// `a` where the mask is all ones, `b` where it is zero.
    select(mask: Vector, a: Vector, b: Vector) -> Vector = vbslq_u8(mask, a, b);
    add(a: Vector, b: Vector) -> Vector = vaddq_u8(a, b);
    sub(a: Vector, b: Vector) -> Vector = vsubq_u8(a, b);
    min(a: Vector, b: Vector) -> Vector = vminq_u8(a, b);
    /// All ones in the bytes that are equal.
    equal(a: Vector, b: Vector) -> Vector = vceqq_u8(a, b);
    /// All ones in the bytes of `a` that are less.
    less(a: Vector, b: Vector) -> Vector = vcltq_u8(a, b);
    least(a: Vector) -> u8 = vminvq_u8(a);
    first(a: Vector) -> u8 = vgetq_lane_u8::<0>(a);
    shift_right<N>(a: Vector) -> Vector = vshrq_n_u8::<N>(a);
    /// The low nibbles of `low`, and above them those of `high`.
    low_nibbles(low: Vector, high: Vector) -> Vector = vsliq_n_u8::<4>(low, high);
    /// The high nibbles of `high`, and below them those of `low`.
    high_nibbles(low: Vector, high: Vector) -> Vector = vsriq_n_u8::<4>(high, low);
    /// The low bytes of the products of polynomials over GF(2).
    polynomial_product(a: Vector, b: Vector) -> Vector = {
        vreinterpretq_u8_p8(vmulq_p8(vreinterpretq_p8_u8(a), vreinterpretq_p8_u8(b)))
    };
    /// The bytes of `table` at the places `index`; zero for places out of range.
    look_up(table: Vector, index: Vector) -> Vector = vqtbl1q_u8(table, index);
    look_up_3(a: Vector, b: Vector, c: Vector, index: Vector) -> Vector = vqtbl3q_u8(uint8x16x3_t(a, b, c), index);
    look_up_4(rows: [Vector; 4], index: Vector) -> Vector = {
        let [a, b, c, d] = rows;
        vqtbl4q_u8(uint8x16x4_t(a, b, c, d), index)
    };
    /// The bytes at even and the bytes at odd places.
    deinterleave(bytes: &[u8; 2 * REGISTER]) -> (Vector, Vector) = {
        let uint8x16x2_t(even, odd) = vld2q_u8(bytes.as_ptr());
        (even, odd)
    };
    load(bytes: &[u8; REGISTER]) -> Vector = vld1q_u8(bytes.as_ptr());
    store(bytes: &mut [u8; REGISTER], value: Vector) -> () = vst1q_u8(bytes.as_mut_ptr(), value);
}

/// Writes `sum` to the register at a pointer, or adds it; the pointer moves on by `distance`.
///
/// # Safety
///
/// The pointer is valid for reading and writing a register.
#[inline(always)]
pub(super) unsafe fn write_and_move(pointer: &mut *mut u8, distance: usize, adds: bool, mut sum: Vector) {
    // SAFETY: reads and writes only the register that the caller vouches for.
    unsafe {
        if adds {
            sum = xor(sum, load(&*pointer.cast()));
        }
        asm!(
            "st1 {{{sum:v}.16b}}, [{pointer}], {distance}",
            pointer = inout(reg) *pointer, distance = in(reg) distance, sum = in(vreg) sum,
            options(nostack, preserves_flags),
        );
    }
}

/// Looks up the low and the high indices in two tables, and adds the entries to `low` and `high`.
///
/// The pointer to the tables moves on. A table has two registers with `SHA3`, else one. This is
/// assembly because the compiler would fetch all tables of a loop's body first, have no registers
/// for them, and move accumulators to memory.
///
/// # Safety
///
/// The pointer is valid for reading both tables, and `SHA3` is true only in functions that may use
/// the extension.
#[inline(always)]
pub(super) unsafe fn add_products<const SHA3: bool>(
    low: &mut Vector,
    high: &mut Vector,
    tables: &mut *const Vector,
    [i, j]: [Nibbles; 2],
) {
    macro_rules! add_products {
        ($($line:expr),*; $($free:tt),*) => {
            asm!(
                $($line),*,
                tables = inout(reg) *tables, low = inout(vreg) *low, high = inout(vreg) *high,
                low_i = in(vreg) i.low, high_i = in(vreg) i.high, low_j = in(vreg) j.low, high_j = in(vreg) j.high,
                a = out(vreg) _, b = out(vreg) _, $(out($free) _),*,
                options(readonly, nostack, preserves_flags),
            )
        };
    }
    // SAFETY: reads only the tables, and uses only instructions, that the caller vouches for.
    unsafe {
        if SHA3 {
            add_products!(
                "ld1 {{v28.16b, v29.16b, v30.16b, v31.16b}}, [{tables}], #64",
                "tbl {a:v}.16b, {{v28.16b, v29.16b}}, {low_i:v}.16b",
                "tbl {b:v}.16b, {{v30.16b, v31.16b}}, {low_j:v}.16b",
                "eor3 {low:v}.16b, {low:v}.16b, {a:v}.16b, {b:v}.16b",
                "tbl v28.16b, {{v28.16b, v29.16b}}, {high_i:v}.16b",
                "tbl v30.16b, {{v30.16b, v31.16b}}, {high_j:v}.16b",
                "eor3 {high:v}.16b, {high:v}.16b, v28.16b, v30.16b";
                "v28", "v29", "v30", "v31"
            )
        } else {
            add_products!(
                "ldp q30, q31, [{tables}], #32",
                "tbl {a:v}.16b, {{v30.16b}}, {low_i:v}.16b",
                "tbl {b:v}.16b, {{v31.16b}}, {low_j:v}.16b",
                "tbl v30.16b, {{v30.16b}}, {high_i:v}.16b",
                "tbl v31.16b, {{v31.16b}}, {high_j:v}.16b",
                "eor {a:v}.16b, {a:v}.16b, {b:v}.16b",
                "eor v30.16b, v30.16b, v31.16b",
                "eor {low:v}.16b, {low:v}.16b, {a:v}.16b",
                "eor {high:v}.16b, {high:v}.16b, v30.16b";
                "v30", "v31"
            )
        }
    }
}

/// The bytes of one to four registers at the places `index`; those of `otherwise` for places out of
/// range.
#[inline(always)]
pub(super) fn look_up_or(otherwise: Vector, table: &[Vector], index: Vector) -> Vector {
    // SAFETY: the target has NEON, as asserted above.
    unsafe {
        match *table {
            [a] => vqtbx1q_u8(otherwise, a, index),
            [a, b] => vqtbx2q_u8(otherwise, uint8x16x2_t(a, b), index),
            [a, b, c] => vqtbx3q_u8(otherwise, uint8x16x3_t(a, b, c), index),
            [a, b, c, d] => vqtbx4q_u8(otherwise, uint8x16x4_t(a, b, c, d), index),
            _ => unreachable!("a table of one to four registers"),
        }
    }
}

/// The register that begins at byte `at`.
#[inline(always)]
pub(super) fn load_at(bytes: &[u8], at: usize) -> Vector {
    load(bytes[at..].first_chunk().expect("a whole register"))
}

/// Writes the register to the bytes from `at` on.
#[inline(always)]
pub(super) fn store_at(bytes: &mut [u8], at: usize, value: Vector) {
    store(bytes[at..].first_chunk_mut().expect("a whole register"), value);
}

/// The places in a register, which are also all elements of GF(16).
pub(super) const IOTA: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
