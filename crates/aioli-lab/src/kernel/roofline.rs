//! The roofline of the left product: multiply-accumulates per cycle, and the limits that the
//! processor sets.
//!
//! The horizontal axis is multiply-accumulates per byte of P1, two for each row of the left
//! operand. Two things limit a kernel. Its multiplying instruction: multiply-accumulates per
//! instruction times instructions per cycle. The second cache, which holds P1 since the first is
//! too small: multiply-accumulates per byte times bytes per cycle. Instructions and bytes per cycle
//! are assumptions about the processor, and the report states them.

use super::{Kernels, OPERATIONS};
use crate::record::Measurement;
use crate::show::{Block, Chart, Curve, Marks};
use aioli::backend::BackendKind;

/// A roof: the limit that an instruction sets.
struct Roof {
    kind: BackendKind,
    instruction: &'static str,
    /// Multiply-accumulates per instruction.
    each: f64,
    /// Instructions per cycle, an assumption.
    starts: f64,
}

/// The roofs. Shuffles and affine maps of 256 bits start twice a cycle on Zen 3 to 5 and on Intel
/// since Ice Lake; those of 512 bits once on Zen 4 and Intel, twice on Zen 5.
const ROOFS: [Roof; 4] = [
    // A shuffle looks up 32 bytes, each with the products of two rows of the left operand.
    Roof { kind: BackendKind::Avx2, instruction: "vpshufb ymm", each: 64.0, starts: 2.0 },
    // An affine map multiplies 32 bytes, vectors of two elements, by a matrix of 2 by 2 elements.
    Roof { kind: BackendKind::Gfni256, instruction: "vgf2p8affineqb ymm", each: 128.0, starts: 2.0 },
    Roof { kind: BackendKind::Gfni512, instruction: "vgf2p8affineqb zmm", each: 256.0, starts: 1.0 },
    Roof { kind: BackendKind::Gfni512, instruction: "vgf2p8affineqb zmm", each: 256.0, starts: 2.0 },
];

/// The kernels that are drawn: few enough for colours that tell them apart. The tables have all.
const DRAWN: [&str; 6] = ["bitsliced", "m4r_2", "portable", "neon", "avx2", "gfni512"];

/// Bytes per cycle from the second cache, an assumption.
const L2_BYTES: f64 = 32.0;

/// The chart and its assumptions, if the core's clock is known.
pub(super) fn blocks(section: &Kernels) -> Vec<Block> {
    if section.conditions.core_ghz.is_none() {
        return vec![Block::Text("Without the core's clock there is no roofline.".into())];
    }
    let roofs: Vec<String> = ROOFS
        .iter()
        .filter(|roof| roof.kind.detect().is_ok())
        .map(|roof| format!("{} {} of {}", roof.instruction, roof.starts, roof.each))
        .collect();
    let text = format!(
        "Roofs, as instructions per cycle and multiply-accumulates of each: {}. The second cache gives {L2_BYTES} \
         bytes per cycle. Zen 5 starts two instructions of 512 bits per cycle, Zen 4 and Intel one.",
        roofs.join("; ")
    );
    vec![Block::Text(text), Block::Chart(chart(section))]
}

pub(super) fn chart(section: &Kernels) -> Chart {
    let mut curves: Vec<Curve> = Vec::new();
    for shape in &section.shapes {
        let drawn =
            |result: &&Measurement| OPERATIONS.contains(&&*result.operation) && DRAWN.contains(&&*result.label.backend);
        for result in section.of_set(shape).filter(drawn) {
            let (Some(height), _) = section.per_cycle(result, shape.work(&result.operation)) else { continue };
            let point = (intensity(shape.rows(&result.operation)), height);
            match curves.iter_mut().find(|curve| curve.name == result.label.backend) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name: result.label.backend.clone(), points: vec![point], line: false }),
            }
        }
    }
    let all = || curves.iter().flat_map(|curve| &curve.points).map(|&(x, _)| x);
    let least = all().fold(f64::INFINITY, f64::min);
    let most = all().fold(0.0, f64::max);
    let roofs: Vec<Curve> = ROOFS
        .iter()
        .filter(|roof| roof.kind.detect().is_ok() && DRAWN.contains(&roof.kind.name()))
        .map(|roof| Curve {
            name: format!("{} {} a cycle", roof.starts, roof.instruction),
            points: roof_points(roof.each * roof.starts, least, most),
            line: true,
        })
        .collect();
    curves.extend(roofs);
    Chart {
        name: "roofline".into(),
        title: "The left product against what the instructions allow".into(),
        x: "multiply-accumulates for a byte of P1".into(),
        y: "multiply-accumulates per core cycle".into(),
        log: true,
        marks: Marks::Curves(curves),
    }
}

/// Multiply-accumulates per byte of P1.
fn intensity(rows: usize) -> f64 {
    (2 * rows) as f64
}

/// The line of a roof from `least` to `most`: it rises with the bytes of the cache, then is flat at
/// `height`.
fn roof_points(height: f64, least: f64, most: f64) -> Vec<(f64, f64)> {
    let ridge = height / L2_BYTES;
    let at = |x: f64| (x, height.min(x * L2_BYTES));
    let mut points = vec![at(least)];
    if least < ridge && ridge < most {
        points.push(at(ridge));
    }
    points.push(at(most));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roofs_rise_to_the_ridge() {
        assert_eq!(roof_points(256.0, 2.0, 40.0), [(2.0, 64.0), (8.0, 256.0), (40.0, 256.0)]);
        assert_eq!(roof_points(256.0, 10.0, 40.0), [(10.0, 256.0), (40.0, 256.0)]);
        assert_eq!(roof_points(256.0, 2.0, 4.0), [(2.0, 64.0), (4.0, 128.0)]);
    }
}
