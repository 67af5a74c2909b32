//! The bounds of docs/gpu.md: rates that an H200 cannot exceed, from the shapes of the sets and the
//! instructions of the loops.
//!
//! `cargo run -p aioli-gpu --example bounds`

use aioli::{Algorithm, ParameterSet, with_set};

/// Cycles a second of all multiprocessors of an H200 together.
const CYCLES: f64 = 132.0 * 1.98e9;
/// Lanes of loads from shared memory in a cycle.
const LOADS: f64 = 32.0;
/// Lanes of bit operations in a cycle (LOP3, PRMT, SHF and LEA share a pipe).
const BITS: f64 = 64.0;

/// Loads of an AES block: 140 words, and 9 of four words that all lanes share.
const AES_LOADS: f64 = 149.0;
/// Bit operations of an AES block: 150 PRMT and 68 LOP3.
const AES_BITS: f64 = 218.0;
/// The same with two tables instead of four, which takes 70 rotations more.
const AES_BITS_OF_TWO_TABLES: f64 = 288.0;
/// Bit operations for the multiples of a word of the right matrix.
const MULTIPLES: f64 = 12.0;
/// Bit operations for a word and a row of the left matrix: an AND with XOR for each of four bits.
const PRODUCT: f64 = 4.0;
/// Bit operations for the masks of a coefficient: a PRMT for each of four bits.
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

    /// Bit operations for a word of the right matrix.
    fn bits(&self, rows: usize) -> f64 {
        rows as f64 * (PRODUCT + MASKS / self.stages as f64) + MULTIPLES
    }
}

/// The cost of an operation of a set.
struct Cost {
    /// Bit operations of an AES block.
    aes_bits: f64,
    /// AES blocks of P.
    map_blocks: usize,
    /// AES blocks of lambda.
    lambda_blocks: usize,
    /// Bit operations of a lane for the products with P.
    product_bits: f64,
    /// Bit operations of a lane for contracting those products with the left matrix.
    contraction_bits: f64,
}

impl Cost {
    /// The cost with `rows` rows of the left matrix, of which `below` meet P2. The contraction
    /// takes `contracted` products of an m-vector with an element.
    fn new<P: ParameterSet>(rows: usize, below: usize, contracted: usize, lambda: bool, p3: bool) -> Self {
        let mb = P::M_BYTES;
        let words = mb.div_ceil(4) as f64;
        let plan = Plan::new::<P>(rows, P::V);
        let plan_2 = Plan::new::<P>(below, P::O);
        let blocks_of = |byte: usize, vectors: usize| (byte % 16 + vectors * mb).div_ceil(16);
        let mut map_blocks = 0;
        for tile in 0..plan.tiles {
            let first = tile * plan.stages * plan.columns;
            let end = P::V.min(first + plan.stages * plan.columns);
            for row in 0..end {
                let column = first.max(row);
                map_blocks +=
                    blocks_of(mb * (row * P::V + column - row - row * row.saturating_sub(1) / 2), end - column);
            }
        }
        map_blocks += (0..P::V).map(|row| blocks_of(P::P1_BYTES + mb * row * P::O, P::O)).sum::<usize>();
        let lambda_blocks = if lambda && P::LINEAR { (P::N * mb).div_ceil(16) } else { 0 };
        let p3 = if p3 { P::P3_BYTES } else { 0 };
        // Words for which a thread of the contraction uses the same masks.
        let shared = if plan.stages * rows + 2 * rows <= 80 { 2.0 } else { 1.0 };
        let contracted = contracted as f64 * words;
        Self {
            aes_bits: AES_BITS,
            map_blocks,
            lambda_blocks,
            product_bits: (P::P1_BYTES as f64 * plan.bits(rows) + (P::P2_BYTES + p3) as f64 * plan_2.bits(below)) / 4.0,
            contraction_bits: contracted * (PRODUCT + MASKS / shared) + contracted / rows as f64 * MULTIPLES,
        }
    }

    /// Upper bounds on the rate with `blocks` AES blocks.
    fn bounds(&self, blocks: usize) -> Bounds {
        let blocks = blocks as f64;
        let field_bits = self.product_bits + self.contraction_bits;
        let rate = |cycles: f64| CYCLES / cycles / 1e6;
        Bounds {
            loads: rate(blocks * AES_LOADS / LOADS),
            field: rate(field_bits / BITS),
            bits: rate((blocks * self.aes_bits + field_bits) / BITS),
        }
    }
}

/// Upper bounds on a rate, in millions a second.
struct Bounds {
    /// The bound by the loads of AES alone.
    loads: f64,
    /// The bound by the bit operations of the field arithmetic alone.
    field: f64,
    /// The bound by all bit operations.
    bits: f64,
}

/// Prints the bounds of all operations of a set.
fn show<P: ParameterSet>() {
    let columns = P::K + usize::from(P::LINEAR);
    let contracted = (columns * (P::K + P::O) + P::O * P::K) * P::V;
    let keygen = Cost::new::<P>(P::O, P::O, P::O * P::O * P::V, false, false);
    let mut sign = Cost::new::<P>(P::K + P::O, P::K, contracted, true, false);
    let verify = Cost::new::<P>(P::K, P::K, columns * P::K * P::N, true, true);
    // The sums of MAYO_5's signing leave too little shared memory for four tables.
    if P::M > 128 {
        sign.aes_bits = AES_BITS_OF_TWO_TABLES;
    }
    for (operation, cost) in [("keygen", &keygen), ("sign", &sign), ("verify", &verify)] {
        line::<P>(operation, cost, cost.map_blocks + cost.lambda_blocks);
        if P::ALGORITHM == Algorithm::Mayo1 {
            let aes = (cost.map_blocks + cost.lambda_blocks) as f64 * cost.aes_bits / BITS;
            let product = cost.product_bits / BITS;
            let contraction = cost.contraction_bits / BITS;
            println!("    cycles of bit operations: AES {aes:.0}, product {product:.0}, contraction {contraction:.0}");
        }
    }
    line::<P>("verify, one key", &verify, verify.lambda_blocks);
}

/// Prints the bounds of an operation.
fn line<P: ParameterSet>(operation: &str, cost: &Cost, blocks: usize) {
    let Bounds { loads, field, bits } = cost.bounds(blocks);
    let set = P::ALGORITHM.name();
    println!("{set:13} {operation:15} {blocks:6} {loads:8.2} {field:8.2} {:8.2}", loads.min(bits));
}

fn main() {
    println!("million a second  {:>16} {:>8} {:>8} {:>8}", "AES blocks", "loads", "field", "all");
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => show::<P>());
    }
}

/// Threads of a block, as in kernels/aes.cuh.
const THREADS: usize = 512;
/// Registers of a thread for sums and multiples, as in kernels/product.cuh.
const SLOTS: usize = 84;
