//! The NEON instructions that the kernels use, under short names.
//!
//! The intrinsics may be called where NEON is enabled by an attribute, which functions that are always inlined cannot
//! have; and inlined they must be, into a caller that may fuse XORs and into one that may not. So here they are without
//! the attribute: this module is compiled only where NEON is part of the target.

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

/// Each a call of one intrinsic.
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
    /// `a` but where `b` has ones.
    and_not(a: Vector, b: Vector) -> Vector = vbicq_u8(a, b);
    or(a: Vector, b: Vector) -> Vector = vorrq_u8(a, b);
    xor(a: Vector, b: Vector) -> Vector = veorq_u8(a, b);
    /// One instruction where the function that this is inlined into may use the SHA-3 extension, else two.
    xor3(a: Vector, b: Vector, c: Vector) -> Vector = veorq_u8(a, veorq_u8(b, c));
    /// `a` where the mask is ones, `b` where it is zeros.
    select(mask: Vector, a: Vector, b: Vector) -> Vector = vbslq_u8(mask, a, b);
    add(a: Vector, b: Vector) -> Vector = vaddq_u8(a, b);
    sub(a: Vector, b: Vector) -> Vector = vsubq_u8(a, b);
    min(a: Vector, b: Vector) -> Vector = vminq_u8(a, b);
    /// Masks of the bytes that are equal.
    equal(a: Vector, b: Vector) -> Vector = vceqq_u8(a, b);
    /// Masks of the bytes of `a` that are less.
    less(a: Vector, b: Vector) -> Vector = vcltq_u8(a, b);
    least(a: Vector) -> u8 = vminvq_u8(a);
    greatest(a: Vector) -> u8 = vmaxvq_u8(a);
    first(a: Vector) -> u8 = vgetq_lane_u8::<0>(a);
    shift_right<N>(a: Vector) -> Vector = vshrq_n_u8::<N>(a);
    /// The low nibbles of `low`, and above them those of `high`.
    low_nibbles(low: Vector, high: Vector) -> Vector = vsliq_n_u8::<4>(low, high);
    /// The high nibbles of `high`, and below them those of `low`.
    high_nibbles(low: Vector, high: Vector) -> Vector = vsriq_n_u8::<4>(high, low);
    /// The low bytes of products of polynomials.
    polynomial_product(a: Vector, b: Vector) -> Vector = {
        vreinterpretq_u8_p8(vmulq_p8(vreinterpretq_p8_u8(a), vreinterpretq_p8_u8(b)))
    };
    /// Looks the bytes of `index` up; zero where they are out of range.
    look_up(table: Vector, index: Vector) -> Vector = vqtbl1q_u8(table, index);
    look_up_3(a: Vector, b: Vector, c: Vector, index: Vector) -> Vector = vqtbl3q_u8(uint8x16x3_t(a, b, c), index);
    /// The bytes at even and those at odd places.
    deinterleave(bytes: &[u8; 2 * REGISTER]) -> (Vector, Vector) = {
        let uint8x16x2_t(even, odd) = vld2q_u8(bytes.as_ptr());
        (even, odd)
    };
    load(bytes: &[u8; REGISTER]) -> Vector = vld1q_u8(bytes.as_ptr());
    store(bytes: &mut [u8; REGISTER], value: Vector) -> () = vst1q_u8(bytes.as_mut_ptr(), value);
}

/// Adds to the register at a pointer, which moves on by `distance`.
///
/// # Safety
///
/// A register is to be read and written there.
#[inline(always)]
pub(super) unsafe fn add_and_move(pointer: &mut *mut u8, distance: usize, summand: Vector) {
    // SAFETY: as the caller says.
    unsafe {
        asm!(
            "ldr {sum:q}, [{pointer}]",
            "eor {sum:v}.16b, {sum:v}.16b, {summand:v}.16b",
            "st1 {{{sum:v}.16b}}, [{pointer}], {distance}",
            pointer = inout(reg) *pointer, distance = in(reg) distance, summand = in(vreg) summand, sum = out(vreg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// The two registers at a pointer, which moves on.
///
/// # Safety
///
/// Two registers are to be read there.
#[inline(always)]
pub(super) unsafe fn next_two(pointer: &mut *const Vector) -> [Vector; 2] {
    let (a, b);
    // SAFETY: as the caller says.
    unsafe {
        asm!(
            "ldp {a:q}, {b:q}, [{pointer}], #32",
            pointer = inout(reg) *pointer, a = out(vreg) a, b = out(vreg) b,
            options(readonly, nostack, preserves_flags),
        );
    }
    [a, b]
}

/// Adds two registers to another in assembly, the first of which may be lost.
macro_rules! add_two {
    (eor3, $to:literal, $a:literal, $b:literal) => {
        concat!("eor3 ", $to, ".16b, ", $to, ".16b, ", $a, ".16b, ", $b, ".16b")
    };
    (eor, $to:literal, $a:literal, $b:literal) => {
        concat!("eor ", $a, ".16b, ", $a, ".16b, ", $b, ".16b\neor ", $to, ".16b, ", $to, ".16b, ", $a, ".16b")
    };
}

/// Adds what two tables have for the low and for the high indices of two rows into `low` and `high`.
///
/// Like all that a step of the left product consists of in assembly: the compiler otherwise fetches the tables of a
/// loop's body first, has no registers for them, and moves accumulators to memory.
///
/// # Safety
///
/// `SHA3` is true only in functions that may use the extension.
#[inline(always)]
pub(super) unsafe fn add_products<const SHA3: bool>(
    low: &mut Vector,
    high: &mut Vector,
    tables: [Vector; 2],
    rows: [Nibbles; 2],
) {
    macro_rules! add_products {
        ($xor:ident) => {
            asm!(
                "tbl {a:v}.16b, {{{table_a:v}.16b}}, {low_a:v}.16b",
                "tbl {b:v}.16b, {{{table_b:v}.16b}}, {low_b:v}.16b",
                add_two!($xor, "{low:v}", "{a:v}", "{b:v}"),
                "tbl {a:v}.16b, {{{table_a:v}.16b}}, {high_a:v}.16b",
                "tbl {b:v}.16b, {{{table_b:v}.16b}}, {high_b:v}.16b",
                add_two!($xor, "{high:v}", "{a:v}", "{b:v}"),
                low = inout(vreg) *low, high = inout(vreg) *high, table_a = in(vreg) tables[0], table_b = in(vreg) tables[1],
                low_a = in(vreg) rows[0].low, high_a = in(vreg) rows[0].high,
                low_b = in(vreg) rows[1].low, high_b = in(vreg) rows[1].high,
                a = out(vreg) _, b = out(vreg) _,
                options(nomem, nostack, preserves_flags),
            )
        };
    }
    // SAFETY: touches no memory, and has the instructions, as the caller says.
    unsafe { if SHA3 { add_products!(eor3) } else { add_products!(eor) } }
}

/// The same for two pairs of rows of X, with the four tables at a pointer, which moves on.
///
/// # Safety
///
/// As for [`add_products`], and the tables are there.
#[inline(always)]
pub(super) unsafe fn add_products_of_two_pairs<const SHA3: bool>(
    low: &mut [Vector; 2],
    high: &mut [Vector; 2],
    tables: &mut *const Vector,
    rows: [Nibbles; 2],
) {
    macro_rules! add_products {
        ($xor:ident) => {
            asm!(
                "ld1 {{v28.16b, v29.16b, v30.16b, v31.16b}}, [{tables}], #64",
                "tbl {a:v}.16b, {{v28.16b}}, {low_a:v}.16b",
                "tbl {b:v}.16b, {{v29.16b}}, {low_b:v}.16b",
                add_two!($xor, "{low_0:v}", "{a:v}", "{b:v}"),
                "tbl v28.16b, {{v28.16b}}, {high_a:v}.16b",
                "tbl v29.16b, {{v29.16b}}, {high_b:v}.16b",
                add_two!($xor, "{high_0:v}", "v28", "v29"),
                "tbl {a:v}.16b, {{v30.16b}}, {low_a:v}.16b",
                "tbl {b:v}.16b, {{v31.16b}}, {low_b:v}.16b",
                add_two!($xor, "{low_1:v}", "{a:v}", "{b:v}"),
                "tbl v30.16b, {{v30.16b}}, {high_a:v}.16b",
                "tbl v31.16b, {{v31.16b}}, {high_b:v}.16b",
                add_two!($xor, "{high_1:v}", "v30", "v31"),
                tables = inout(reg) *tables,
                low_0 = inout(vreg) low[0], high_0 = inout(vreg) high[0],
                low_1 = inout(vreg) low[1], high_1 = inout(vreg) high[1],
                low_a = in(vreg) rows[0].low, high_a = in(vreg) rows[0].high,
                low_b = in(vreg) rows[1].low, high_b = in(vreg) rows[1].high,
                a = out(vreg) _, b = out(vreg) _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
                options(readonly, nostack, preserves_flags),
            )
        };
    }
    // SAFETY: reads what the caller says is there, and has the instructions.
    unsafe { if SHA3 { add_products!(eor3) } else { add_products!(eor) } }
}

/// The same for one pair of rows of X and four rows.
///
/// # Safety
///
/// As for [`add_products_of_two_pairs`].
#[inline(always)]
pub(super) unsafe fn add_products_of_four<const SHA3: bool>(
    low: &mut Vector,
    high: &mut Vector,
    tables: &mut *const Vector,
    rows: [Nibbles; 4],
) {
    macro_rules! add_products {
        ($xor:ident) => {
            asm!(
                "ld1 {{v28.16b, v29.16b, v30.16b, v31.16b}}, [{tables}], #64",
                "tbl {a:v}.16b, {{v28.16b}}, {low_a:v}.16b",
                "tbl {b:v}.16b, {{v29.16b}}, {low_b:v}.16b",
                add_two!($xor, "{low:v}", "{a:v}", "{b:v}"),
                "tbl v28.16b, {{v28.16b}}, {high_a:v}.16b",
                "tbl v29.16b, {{v29.16b}}, {high_b:v}.16b",
                add_two!($xor, "{high:v}", "v28", "v29"),
                "tbl {a:v}.16b, {{v30.16b}}, {low_c:v}.16b",
                "tbl {b:v}.16b, {{v31.16b}}, {low_d:v}.16b",
                add_two!($xor, "{low:v}", "{a:v}", "{b:v}"),
                "tbl v30.16b, {{v30.16b}}, {high_c:v}.16b",
                "tbl v31.16b, {{v31.16b}}, {high_d:v}.16b",
                add_two!($xor, "{high:v}", "v30", "v31"),
                tables = inout(reg) *tables, low = inout(vreg) *low, high = inout(vreg) *high,
                low_a = in(vreg) rows[0].low, high_a = in(vreg) rows[0].high,
                low_b = in(vreg) rows[1].low, high_b = in(vreg) rows[1].high,
                low_c = in(vreg) rows[2].low, high_c = in(vreg) rows[2].high,
                low_d = in(vreg) rows[3].low, high_d = in(vreg) rows[3].high,
                a = out(vreg) _, b = out(vreg) _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
                options(readonly, nostack, preserves_flags),
            )
        };
    }
    // SAFETY: as above.
    unsafe { if SHA3 { add_products!(eor3) } else { add_products!(eor) } }
}

/// Looks the bytes of `index` up in one to four registers; keeps those of `otherwise` where they are out of range.
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
