//! The bounds of docs/gpu.md: what an H200 cannot exceed, from the shapes of the sets and the instructions of the loops.
//!
//! `cargo run -p aioli-gpu --example bounds`

use aioli::{Algorithm, ParameterSet, with_set};

/// Multiprocessors of an H200, times their clock.
const CYCLES: f64 = 132.0 * 1.98e9;
/// Lanes of loads from shared memory, and of bit operations (LOP3, PRMT, SHF and LEA share a pipe), in a cycle.
const LOADS: f64 = 32.0;
const BITS: f64 = 64.0;

/// The loop of an AES block: loads (140 words, 9 of four words that all lanes share), bit operations (150 PRMT, 68 LOP3).
const AES_LOADS: f64 = 149.0;
const AES_BITS: f64 = 218.0;
/// With two tables instead of four, 70 rotations more.
const AES_BITS_OF_TWO: f64 = 288.0;
/// Of a word of R: its multiples. For each row of X: an AND and XOR for each of four bits; and masks, one PRMT each.
const MULTIPLES: f64 = 12.0;
const PRODUCT: f64 = 4.0;
const MASKS: f64 = 4.0;

/// `Plan` of kernels/product.cuh.
struct Plan {
    tiles: usize,
    stages: usize,
    columns: usize,
}

impl Plan {
    fn new<P: ParameterSet>(rows: usize, all: usize) -> Self {
        let columns = |groups: usize| (THREADS / groups * 4 / P::M_BYTES).min(all);
        let fits = |groups: usize| (rows + 4) * all.div_ceil(columns(groups)) <= SLOTS;
        let groups = [8, 4, 2].into_iter().find(|&groups| fits(groups)).unwrap_or(1);
        let in_all = all.div_ceil(columns(groups));
        let tiles = if fits(groups) { 1 } else { in_all.div_ceil(SLOTS / (rows + 4)) };
        let stages = in_all.div_ceil(tiles);
        Self { tiles, stages, columns: all.div_ceil(tiles * stages) }
    }

    /// Bit operations for a word of R.
    fn bits(&self, rows: usize) -> f64 {
        rows as f64 * (PRODUCT + MASKS / self.stages as f64) + MULTIPLES
    }
}

/// What an operation of a set costs.
struct Cost {
    /// Bit operations of an AES block.
    aes_bits: f64,
    /// AES blocks: of P, and of lambda.
    blocks: [usize; 2],
    /// Bit operations of a lane, for the products with P and for the second products.
    bits: [f64; 2],
}

impl Cost {
    /// With `rows` rows of X, of which `below` meet P2, and `second` products of m-vectors with elements after that.
    fn new<P: ParameterSet>(rows: usize, below: usize, second: usize, lambda: bool, p3: bool) -> Self {
        let (mb, words) = (P::M_BYTES, P::M_BYTES.div_ceil(4) as f64);
        let (plan, plan_2) = (Plan::new::<P>(rows, P::V), Plan::new::<P>(below, P::O));
        let blocks_of = |byte: usize, vectors: usize| (byte % 16 + vectors * mb).div_ceil(16);
        let mut p = 0;
        for tile in 0..plan.tiles {
            let first = tile * plan.stages * plan.columns;
            let end = P::V.min(first + plan.stages * plan.columns);
            for row in 0..end {
                let left = first.max(row);
                p += blocks_of(mb * (row * P::V + left - row - row * row.saturating_sub(1) / 2), end - left);
            }
        }
        p += (0..P::V).map(|row| blocks_of(P::P1_BYTES + mb * row * P::O, P::O)).sum::<usize>();
        let lambda = if lambda && P::LINEAR { (P::N * mb).div_ceil(16) } else { 0 };
        let p3 = if p3 { P::P3_BYTES } else { 0 };
        // Words that a thread of the second product has with the same masks.
        let shared = if plan.stages * rows + 2 * rows <= 80 { 2.0 } else { 1.0 };
        let second = second as f64 * words;
        Self {
            aes_bits: AES_BITS,
            blocks: [p, lambda],
            bits: [
                (P::P1_BYTES as f64 * plan.bits(rows) + (P::P2_BYTES + p3) as f64 * plan_2.bits(below)) / 4.0,
                second * (PRODUCT + MASKS / shared) + second / rows as f64 * MULTIPLES,
            ],
        }
    }

    /// Millions a second: by the loads, by the bit operations of the arithmetic, and by all bit operations.
    fn bounds(&self, blocks: usize) -> [f64; 3] {
        let (blocks, arithmetic) = (blocks as f64, self.bits[0] + self.bits[1]);
        [blocks * AES_LOADS / LOADS, arithmetic / BITS, (blocks * self.aes_bits + arithmetic) / BITS]
            .map(|cycles| CYCLES / cycles / 1e6)
    }
}

fn show<P: ParameterSet>() {
    let columns = P::K + usize::from(P::LINEAR);
    let sign = (columns * (P::K + P::O) + P::O * P::K) * P::V;
    let mut costs = [
        ("keygen", Cost::new::<P>(P::O, P::O, P::O * P::O * P::V, false, false)),
        ("sign", Cost::new::<P>(P::K + P::O, P::K, sign, true, false)),
        ("verify", Cost::new::<P>(P::K, P::K, columns * P::K * P::N, true, true)),
    ];
    // Four tables leave too little shared memory for its sums.
    if P::M > 128 {
        costs[1].1.aes_bits = AES_BITS_OF_TWO;
    }
    for (operation, cost) in costs {
        let [p, lambda] = cost.blocks;
        let line = |operation: &str, blocks: usize| {
            let [loads, arithmetic, bits] = cost.bounds(blocks);
            println!(
                "{:13} {operation:15} {blocks:6} {loads:8.2} {arithmetic:8.2} {:8.2}",
                P::ALGORITHM.name(),
                loads.min(bits)
            );
        };
        line(operation, p + lambda);
        if operation == "verify" {
            line("verify, one key", lambda);
        }
        if P::ALGORITHM == Algorithm::Mayo1 {
            let cycles = [(p + lambda) as f64 * AES_BITS, cost.bits[0], cost.bits[1]].map(|bits| bits / BITS);
            println!(
                "    cycles of bit operations: AES {:.0}, product {:.0}, second {:.0}",
                cycles[0], cycles[1], cycles[2]
            );
        }
    }
}

fn main() {
    println!("million a second  {:>16} {:>8} {:>8} {:>8}", "AES blocks", "loads", "field", "all");
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => show::<P>());
    }
}

const THREADS: usize = 512;
const SLOTS: usize = 84;
