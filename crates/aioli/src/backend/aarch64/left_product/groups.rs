//! The loop of the left product with the SHA-3 extension, in assembly: sums over groups of five
//! rows of `right`.
//!
//! A step has two halves. Each takes two rows, two bits of the fifth row, and two tables for each
//! pair of rows of `left`.
//!
//! **Registers.** The accumulators of pair p are `v(2 p)` and `v(2 p + 1)`; v22 and v23 are
//! products, v24 to v27 indices, v28 to v31 tables. Up to ten pairs leave v20 for the fifth row and
//! v21 for the mask of its bits. With more pairs, each half fetches the two to registers that
//! tables take later; the accumulators of a twelfth pair are in memory.

use crate::backend::aarch64::vector::{Vector, splat};
use core::arch::asm;

/// Adds the products of half a step to the accumulators of a pair of rows of `left`.
macro_rules! add_pair {
    ($low:literal, $high:literal) => {
        concat!(
            look_up!(),
            concat!("eor3 ", $low, ".16b, ", $low, ".16b, v22.16b, v23.16b\n"),
            concat!("eor3 ", $high, ".16b, ", $high, ".16b, v28.16b, v30.16b"),
        )
    };
    ($memory:ident) => {
        concat!(
            look_up!(),
            concat!("ldp q29, q31, [{", stringify!($memory), "}]\n"),
            "eor3 v29.16b, v29.16b, v22.16b, v23.16b\n",
            "eor3 v31.16b, v31.16b, v28.16b, v30.16b\n",
            concat!("stp q29, q31, [{", stringify!($memory), "}]"),
        )
    };
}

/// Looks up the four indices of half a step in the next two tables, which leaves the products in
/// v22, v23, v28 and v30.
macro_rules! look_up {
    () => {
        "ld1 {{v28.16b, v29.16b, v30.16b, v31.16b}}, [{tables}], #64
        tbl v22.16b, {{v28.16b, v29.16b}}, v24.16b
        tbl v23.16b, {{v30.16b, v31.16b}}, v26.16b
        tbl v28.16b, {{v28.16b, v29.16b}}, v25.16b
        tbl v30.16b, {{v30.16b, v31.16b}}, v27.16b
        "
    };
}

/// Loads two rows, or the fifth. With `places`, `next` points to the places of the next rows; with
/// `stride`, to the next row itself.
macro_rules! load_rows {
    (places a b) => {
        "ldp {a}, {b}, [{next}], #16
        ldp {c}, {d}, [{next}], #16
        ldr {e}, [{next}], #8
        ldr q24, [{bytes}, {a}]
        ldr q26, [{bytes}, {b}]"
    };
    (places c d) => {
        "ldr q24, [{bytes}, {c}]
        ldr q26, [{bytes}, {d}]"
    };
    (places e $fifth:literal) => {
        concat!("ldr q", $fifth, ", [{bytes}, {e}]")
    };
    (stride a b) => {
        "ld1 {{v24.16b}}, [{next}], {stride}
        ld1 {{v26.16b}}, [{next}], {stride}"
    };
    (stride c d) => {
        "ld1 {{v24.16b}}, [{next}], {stride}
        ld1 {{v26.16b}}, [{next}], {two_strides}"
    };
    (stride e $fifth:literal) => {
        concat!("ldr q", $fifth, ", [{next}, {two_strides}]")
    };
}

/// Adds the products of groups of rows of `right` to `low` and `high`, the accumulators of pairs of
/// rows of `left`.
///
/// The rows begin at the distances `places` from `bytes`; given the `stride` between all of them,
/// only the first place is used. The pointer to the tables moves on.
///
/// # Safety
///
/// A register is readable at each of the places, the tables of all groups are there, and the caller
/// may use the SHA-3 extension.
#[expect(clippy::too_many_lines, reason = "the operands of one assembly loop for each number of pairs")]
#[inline(always)]
pub(super) unsafe fn add_groups<const PAIRS: usize>(
    low: &mut [Vector; PAIRS],
    high: &mut [Vector; PAIRS],
    bytes: *const u8,
    places: &[[usize; 5]],
    stride: Option<usize>,
    tables: &mut *const Vector,
) {
    let Some(first) = places.as_flattened().first() else {
        return;
    };
    let low = low.as_mut_slice();
    let high = high.as_mut_slice();
    macro_rules! add_groups {
        (places; $($rest:tt)*) => {
            add_groups! {
                [
                    next = inout(reg) places.as_ptr() => _, end = in(reg) places.as_ptr_range().end,
                    bytes = in(reg) bytes,
                    a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _, e = out(reg) _,
                ]
                places $($rest)*
            }
        };
        ($stride:ident; $($rest:tt)*) => {
            add_groups! {
                [
                    next = inout(reg) bytes.wrapping_add(*first) => _,
                    end = in(reg) bytes.wrapping_add(first.wrapping_add(5 * places.len() * $stride)),
                    stride = in(reg) $stride, two_strides = in(reg) 2 * $stride,
                ]
                stride $($rest)*
            }
        };
        (
            [$($operands:tt)*]
            $rows:ident fifth row $fifth:literal, mask $mask:literal $(once $once:literal)? $(again $again:literal)?;
            $(pair $p:literal $low:tt $high:tt,)* $(free $free:tt,)* $(in memory $last:ident)?
        ) => {
            asm!(
                $(concat!("movi v", $mask, $once),)?
                "2:",
                // Rows a and b take bits 0 and 1 of e.
                load_rows!($rows a b),
                load_rows!($rows e $fifth),
                $(concat!("movi v", $mask, $again),)?
                concat!("and v22.16b, v", $fifth, ".16b, v", $mask, ".16b"),
                concat!("and v25.16b, v", $fifth, ".16b, v", $mask, ".16b"),
                "sri v25.16b, v24.16b, #4",
                "sli v24.16b, v22.16b, #4",
                concat!("ushr v23.16b, v", $fifth, ".16b, #1"),
                concat!("and v22.16b, v23.16b, v", $mask, ".16b"),
                concat!("and v27.16b, v23.16b, v", $mask, ".16b"),
                "sri v27.16b, v26.16b, #4",
                "sli v26.16b, v22.16b, #4",
                $(add_pair!($low, $high),)*
                $(add_pair!($last),)?
                // Rows c and d take bits 2 and 3. After a shift by 3 the high nibble has one bit
                // only.
                $(concat!(load_rows!($rows e $fifth), "\nmovi v", $mask, $again),)?
                load_rows!($rows c d),
                concat!("ushr v23.16b, v", $fifth, ".16b, #2"),
                concat!("and v22.16b, v23.16b, v", $mask, ".16b"),
                concat!("and v25.16b, v23.16b, v", $mask, ".16b"),
                "sri v25.16b, v24.16b, #4",
                "sli v24.16b, v22.16b, #4",
                concat!("ushr v27.16b, v", $fifth, ".16b, #3"),
                concat!("and v22.16b, v27.16b, v", $mask, ".16b"),
                "sri v27.16b, v26.16b, #4",
                "sli v26.16b, v22.16b, #4",
                $(add_pair!($low, $high),)*
                $(add_pair!($last),)?
                "cmp {next}, {end}",
                "b.ne 2b",
                $($operands)*
                tables = inout(reg) *tables,
                $(inout($low) low[$p], inout($high) high[$p],)*
                $(out($free) _,)*
                $($last = in(reg) $last.as_mut_ptr(),)?
                out("v22") _, out("v23") _, out("v24") _, out("v25") _, out("v26") _, out("v27") _,
                out("v28") _, out("v29") _, out("v30") _, out("v31") _,
                options(nostack),
            )
        };
    }
    macro_rules! match_pairs {
        ($rows:ident) => {
            match PAIRS {
                1 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1",
                    free "v20", free "v21",
                },
                2 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3",
                    free "v20", free "v21",
                },
                3 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5",
                    free "v20", free "v21",
                },
                4 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    free "v20", free "v21",
                },
                5 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9",
                    free "v20", free "v21",
                },
                6 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11",
                    free "v20", free "v21",
                },
                7 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13",
                    free "v20", free "v21",
                },
                8 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13", pair 7 "v14" "v15",
                    free "v20", free "v21",
                },
                9 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13", pair 7 "v14" "v15",
                    pair 8 "v16" "v17",
                    free "v20", free "v21",
                },
                10 => add_groups! {
                    $rows; fifth row 20, mask 21 once ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13", pair 7 "v14" "v15",
                    pair 8 "v16" "v17", pair 9 "v18" "v19",
                    free "v20", free "v21",
                },
                11 => add_groups! {
                    $rows; fifth row 31, mask 30 again ".16b, #0x11";
                    pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                    pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13", pair 7 "v14" "v15",
                    pair 8 "v16" "v17", pair 9 "v18" "v19", pair 10 "v20" "v21",
                },
                _ => {
                    let mut last = [low[11], high[11]];
                    add_groups! {
                        $rows; fifth row 31, mask 30 again ".16b, #0x11";
                        pair 0 "v0" "v1", pair 1 "v2" "v3", pair 2 "v4" "v5", pair 3 "v6" "v7",
                        pair 4 "v8" "v9", pair 5 "v10" "v11", pair 6 "v12" "v13", pair 7 "v14" "v15",
                        pair 8 "v16" "v17", pair 9 "v18" "v19", pair 10 "v20" "v21",
                        in memory last
                    }
                    [low[11], high[11]] = last;
                    last = [splat(0); 2];
                    zeroize::optimization_barrier(&last);
                }
            }
        };
    }
    // SAFETY: reads only the rows and tables that the caller vouches for, and writes only `last`.
    unsafe { if let Some(stride) = stride { match_pairs!(stride) } else { match_pairs!(places) } }
}
