//! The solver's loop over later pairs of columns, in assembly, with the SHA-3 extension and for the
//! longer columns.
//!
//! Compiled code would move vectors to memory and back, and from register to register.
//!
//! **Registers.** A pair is in v0 to v8. The vectors g and h of both pivots are in v14 to v22 and
//! v23 to v31, their tables in v9 and v10. With pairs of seven registers the free ones hold the
//! constants; with nine the loop fetches the constants each time.

use crate::backend::aarch64::vector::{IOTA, Vector, load, splat, sub};
use core::arch::asm;

/// Replaces a byte, given in all places, by the table of the products of both its elements with
/// each element. `t` may be `elements`.
macro_rules! table {
    ($byte:literal, $mask:literal, $elements:literal, $t:literal) => {
        concat!(
            concat!("ushr v13.16b, ", $byte, ".16b, #4\n"),
            concat!("and ", $byte, ".16b, ", $byte, ".16b, ", $mask, ".16b\n"),
            concat!("pmul v13.16b, v13.16b, ", $elements, ".16b\n"),
            concat!("pmul ", $byte, ".16b, ", $byte, ".16b, ", $elements, ".16b\n"),
            // The upper coefficients of both; α + 1 times them is added onto the lower ones.
            concat!("ushr ", $t, ".16b, ", $byte, ".16b, #4\n"),
            concat!("bcax ", $t, ".16b, ", $t, ".16b, v13.16b, ", $mask, ".16b\n"),
            concat!("sli ", $byte, ".16b, v13.16b, #4\n"),
            concat!("add v13.16b, ", $t, ".16b, ", $t, ".16b\n"),
            concat!("eor3 ", $byte, ".16b, ", $byte, ".16b, ", $t, ".16b, v13.16b"),
        )
    };
}

/// Adds to a register of a pair its products with both pivots' vectors.
macro_rules! add {
    ($rows:literal, $g:literal, $h:literal) => {
        concat!(
            concat!("tbl v11.16b, {{v9.16b}}, ", $g, ".16b\n"),
            concat!("tbl v12.16b, {{v10.16b}}, ", $h, ".16b\n"),
            concat!("eor3 ", $rows, ".16b, ", $rows, ".16b, v11.16b, v12.16b"),
        )
    };
}

/// Adds to each pair its entries in the first pivot's row times `g` and those in the second's times
/// `h`.
///
/// # Safety
///
/// The caller may use the SHA-3 extension.
#[expect(clippy::too_many_lines, reason = "two unrolled assembly loops and their operands")]
#[inline(always)]
pub(super) unsafe fn add_multiples<const REGISTERS: usize>(
    pairs: &mut [[Vector; REGISTERS]],
    places: [Vector; 2],
    g: &[Vector; REGISTERS],
    h: &[Vector; REGISTERS],
) {
    if pairs.is_empty() {
        return;
    }
    let [p, q] = places;
    let [p_64, q_64] = places.map(|place| sub(place, splat(64)));
    let pairs = pairs.as_mut_ptr_range();
    let elements = load(&IOTA);
    // SAFETY: the loops write only pairs, and read only these and the constants, all whole
    // registers. The caller vouches for the instructions.
    unsafe {
        match (g.as_slice(), h.as_slice()) {
            (&[g0, g1, g2, g3, g4, g5, g6], &[h0, h1, h2, h3, h4, h5, h6]) => asm!(
                "2:",
                "ldp q0, q1, [{pair}]",
                "ldp q2, q3, [{pair}, #32]",
                "ldp q4, q5, [{pair}, #64]",
                "ldr q6, [{pair}, #96]",
                "tbl v9.16b, {{v0.16b, v1.16b, v2.16b, v3.16b}}, v21.16b",
                "tbl v10.16b, {{v0.16b, v1.16b, v2.16b, v3.16b}}, v22.16b",
                "tbx v9.16b, {{v4.16b, v5.16b, v6.16b}}, v30.16b",
                "tbx v10.16b, {{v4.16b, v5.16b, v6.16b}}, v31.16b",
                table!("v9", "v7", "v8", "v11"),
                table!("v10", "v7", "v8", "v11"),
                add!("v0", "v14", "v23"),
                add!("v1", "v15", "v24"),
                add!("v2", "v16", "v25"),
                add!("v3", "v17", "v26"),
                add!("v4", "v18", "v27"),
                add!("v5", "v19", "v28"),
                add!("v6", "v20", "v29"),
                "stp q0, q1, [{pair}], #32",
                "stp q2, q3, [{pair}], #32",
                "stp q4, q5, [{pair}], #32",
                "str q6, [{pair}], #16",
                "cmp {pair}, {end}",
                "b.ne 2b",
                pair = inout(reg) pairs.start => _, end = in(reg) pairs.end,
                in("v14") g0, in("v15") g1, in("v16") g2, in("v17") g3, in("v18") g4, in("v19") g5, in("v20") g6,
                in("v23") h0, in("v24") h1, in("v25") h2, in("v26") h3, in("v27") h4, in("v28") h5, in("v29") h6,
                in("v21") p, in("v22") q, in("v30") p_64, in("v31") q_64, in("v7") splat(15), in("v8") elements,
                out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _,
                out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _,
                options(nostack),
            ),
            (&[g0, g1, g2, g3, g4, g5, g6, g7, g8], &[h0, h1, h2, h3, h4, h5, h6, h7, h8]) => {
                let [p_128, q_128] = places.map(|place| sub(place, splat(128)));
                let mut constants = [p, q, p_64, q_64, p_128, q_128, splat(15), elements];
                asm!(
                    "2:",
                    "ldp q0, q1, [{pair}]",
                    "ldp q2, q3, [{pair}, #32]",
                    "ldp q4, q5, [{pair}, #64]",
                    "ldp q6, q7, [{pair}, #96]",
                    "ldr q8, [{pair}, #128]",
                    "ldp q9, q10, [{constants}]",
                    "tbl v9.16b, {{v0.16b, v1.16b, v2.16b, v3.16b}}, v9.16b",
                    "tbl v10.16b, {{v0.16b, v1.16b, v2.16b, v3.16b}}, v10.16b",
                    "ldp q11, q12, [{constants}, #32]",
                    "tbx v9.16b, {{v4.16b, v5.16b, v6.16b, v7.16b}}, v11.16b",
                    "tbx v10.16b, {{v4.16b, v5.16b, v6.16b, v7.16b}}, v12.16b",
                    "ldp q11, q12, [{constants}, #64]",
                    "tbx v9.16b, {{v8.16b}}, v11.16b",
                    "tbx v10.16b, {{v8.16b}}, v12.16b",
                    "ldp q11, q12, [{constants}, #96]",
                    table!("v9", "v11", "v12", "v12"),
                    "ldr q12, [{constants}, #112]",
                    table!("v10", "v11", "v12", "v12"),
                    add!("v0", "v14", "v23"),
                    add!("v1", "v15", "v24"),
                    add!("v2", "v16", "v25"),
                    add!("v3", "v17", "v26"),
                    add!("v4", "v18", "v27"),
                    add!("v5", "v19", "v28"),
                    add!("v6", "v20", "v29"),
                    add!("v7", "v21", "v30"),
                    add!("v8", "v22", "v31"),
                    "stp q0, q1, [{pair}], #32",
                    "stp q2, q3, [{pair}], #32",
                    "stp q4, q5, [{pair}], #32",
                    "stp q6, q7, [{pair}], #32",
                    "str q8, [{pair}], #16",
                    "cmp {pair}, {end}",
                    "b.ne 2b",
                    pair = inout(reg) pairs.start => _, end = in(reg) pairs.end, constants = in(reg) &constants,
                    in("v14") g0, in("v15") g1, in("v16") g2, in("v17") g3, in("v18") g4, in("v19") g5, in("v20") g6,
                    in("v21") g7, in("v22") g8,
                    in("v23") h0, in("v24") h1, in("v25") h2, in("v26") h3, in("v27") h4, in("v28") h5, in("v29") h6,
                    in("v30") h7, in("v31") h8,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _,
                    out("v7") _, out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _,
                    options(nostack),
                );
                constants.fill(splat(0));
                zeroize::optimization_barrier(&constants);
            }
            _ => unreachable!("a pair of columns of seven or nine registers"),
        }
    }
}
