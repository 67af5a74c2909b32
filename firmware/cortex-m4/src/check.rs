//! Checks that only the device can make.
//!
//! The kernels in assembly keep the calling convention, and the backend agrees with the portable
//! one, which the library's tests compare with definitions.

use crate::random::Random;
use aioli::backend::{Armv7em, Backend, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;

core::arch::global_asm!(include_str!("abi.s"), options(raw));

/// Runs all checks. Returns their number, or the first that fails.
pub(crate) fn all(b: Armv7em) -> Result<usize, &'static str> {
    Ok(abi()? + products(b)? + streams(b)? + aes(b)? + systems(b)?)
}

unsafe extern "C" {
    fn aioli_check_abi(function: *const (), arguments: &[usize; 8], values: &[u32; 24]) -> u32;
    fn aioli_planted_core();
    fn aioli_planted_float();
    fn aioli_planted_stack();
    fn aioli_planted_alignment();
    fn aioli_planted_call();
    fn aioli_armv7em_aes_rounds();
    fn aioli_armv7em_look_up_1();
    fn aioli_armv7em_look_up_2();
    fn aioli_armv7em_double_table();
    fn aioli_armv7em_add_columns();
    fn aioli_armv7em_slices();
    fn aioli_armv7em_pivot_row();
    fn aioli_armv7em_eliminate();
}

/// Calls every kernel, and every planted violation, through the stub of `abi.s`.
fn abi() -> Result<usize, &'static str> {
    let mut random = Random::new(1);
    let mut memory = [0u32; 1024];
    let mut checked = 0;
    for _ in 0..20 {
        memory.fill_with(|| random.next());
        let [table, sums, rows, context] = [0, 512, 640, 704].map(|at| memory[at..].as_mut_ptr() as usize);
        // `slices` takes three rows of coefficients; the last one has the mark of the end.
        for (i, coefficient) in memory[704..707].iter_mut().enumerate() {
            *coefficient = *coefficient & 0xff80_0000 | if i == 2 { 1 << 22 } else { 0 };
        }
        let kernels: [(*const (), [usize; 8]); 8] = [
            (aioli_armv7em_aes_rounds as *const (), [table, context, sums, 3, 250, 77, 0, 0]),
            (aioli_armv7em_look_up_1 as *const (), [sums, rows, rows + 13, table, 3, 0, 0, 0]),
            (aioli_armv7em_look_up_2 as *const (), [sums, rows, rows + 14, table, 3, 0, 0, 0]),
            (aioli_armv7em_double_table as *const (), [table, 16, 5, 6, 0, 0, 0, 0]),
            (aioli_armv7em_add_columns as *const (), [sums, 4, rows + 1, 16, 7, 2, 0, 0]),
            (aioli_armv7em_slices as *const (), [rows, context, sums, 0, 0, 0, 0, 0]),
            // `eliminate` takes the coefficients that `pivot_row` writes.
            (aioli_armv7em_pivot_row as *const (), [table, rows, context, table + 3, 2, 4, 5, 0]),
            (aioli_armv7em_eliminate as *const (), [table, context, sums, 5, 0, 0, 0, 0]),
        ];
        let planted = [
            (aioli_planted_core as *const (), 1 << 3),
            (aioli_planted_float as *const (), 1 << 12),
            (aioli_planted_stack as *const (), 1 << 24),
            (aioli_planted_alignment as *const (), 1 << 24 | 1 << 25),
            // The function calls with a misaligned stack. The stub sees that the callee changes r7.
            (aioli_planted_call as *const (), 1 << 3),
        ];
        let mut values = [0; 24];
        values.fill_with(|| random.next());
        for (kernel, arguments) in kernels {
            // SAFETY: the arguments satisfy the header of each kernel, and their addresses are
            // within `memory`.
            if unsafe { aioli_check_abi(kernel, &arguments, &values) } != 0 {
                return Err("a kernel breaks the calling convention");
            }
            checked += 1;
        }
        for (function, violation) in planted {
            // SAFETY: the stub restores every register that these functions break.
            if unsafe { aioli_check_abi(function, &[0; 8], &values) } != violation {
                return Err("a planted violation of the calling convention was not found");
            }
            checked += 1;
        }
    }
    Ok(checked)
}

/// Compares left products of many shapes, with public and secret operands.
fn products(b: Armv7em) -> Result<usize, &'static str> {
    let mut random = Random::new(2);
    let mut checked = 0;
    let mut right = [0; 8192];
    let mut left = [0; 24 * 48];
    for row_bytes in [1, 2, 3, 15, 16, 17, 39, 63, 64, 65, 66, 67, 100, 127, 224, 225, 240] {
        for rows in [0, 1, 2, 7, 8, 9, 11, 16, 17, 18, 24] {
            for count in [1, 2, 3, 4, 5, 31, 32, 33] {
                for step in [0, 3, 39] {
                    let length = count * row_bytes - (step * (count * (count - 1) / 2)).min(count * row_bytes);
                    if (count - 1) * step >= row_bytes || length > right.len() {
                        continue;
                    }
                    random.fill(&mut right[..length]);
                    random.fill(&mut left);
                    left.iter_mut().for_each(|element| *element &= 15);
                    let elements = rows.max(1);
                    let left = Coefficients::new(&left[..count * elements], elements, rows);
                    let stride = row_bytes + checked % 3;
                    for public in [false, true] {
                        let right = Operand::upper(&right[..length], count, row_bytes, step);
                        let right = if public { right.public() } else { right };
                        let [mut expected, mut out] = [[0xa5; 24 * 256]; 2];
                        let adds = checked / 2 % 2 == 0;
                        Portable::new().left_product(left, right, Output::new(&mut expected, stride, adds));
                        b.left_product(left, right, Output::new(&mut out, stride, adds));
                        if out != expected {
                            return Err("a left product");
                        }
                        checked += 1;
                    }
                }
            }
        }
    }
    Ok(checked)
}

/// Compares left products with parts of a stream, with windows that hold few columns or all.
fn streams(b: Armv7em) -> Result<usize, &'static str> {
    let mut random = Random::new(3);
    let mut checked = 0;
    let mut left = [0; 24 * 30];
    let mut window = [0; 24 << 10];
    for (row_bytes, step, count) in
        [(30_usize * 39, 39_usize, 30_usize), (25 * 32, 32, 25), (20 * 54, 54, 20), (300, 0, 30)]
    {
        for rows in [0, 1, 8, 10, 16, 18, 24] {
            for columns in [0..row_bytes, 0..row_bytes / 2, row_bytes / 3..row_bytes - 5] {
                let reaching = if step == 0 { count } else { count.min(columns.end.div_ceil(step)) };
                random.fill(&mut left);
                left.iter_mut().for_each(|element| *element &= 15);
                let elements = rows.max(1);
                let left = Coefficients::new(&left[..reaching * elements], elements, rows);
                let part = StreamPart::new(random.next() as usize % 5000, row_bytes, step, reaching, columns);
                let mut key = [0; 16];
                random.fill(&mut key);
                let [mut expected, mut out] = [[0x5a; 24 * 1200]; 2];
                let stride = part.width() + 1;
                let adds = checked / 4 % 2 == 0;
                let product = Output::new(&mut expected, stride, adds);
                Portable::new().left_product_of_stream(left, &key, &part, &mut window[..2000], product);
                for bytes in [2001, 6000, 9999, window.len()] {
                    out.fill(0x5a);
                    b.left_product_of_stream(
                        left,
                        &key,
                        &part,
                        &mut window[..bytes],
                        Output::new(&mut out, stride, adds),
                    );
                    if out != expected {
                        return Err("a left product with a part of a stream");
                    }
                    checked += 1;
                }
            }
        }
    }
    Ok(checked)
}

/// Compares AES in counter mode, at many lengths and counters.
fn aes(b: Armv7em) -> Result<usize, &'static str> {
    let mut random = Random::new(4);
    let mut checked = 0;
    let [mut key, mut iv] = [[0; 16]; 2];
    for length in (0..70).chain([255, 256, 1000, 4100, 9999]) {
        for first in [0, 1, 255, 256, 0xff_ffff, u32::MAX - 2] {
            random.fill(&mut key);
            random.fill(&mut iv);
            let [mut expected, mut out] = [[0; 10_003]; 2];
            Portable::new().aes128_ctr(&key, &iv, first, &mut expected[checked % 4..][..length]);
            b.aes128_ctr(&key, &iv, first, &mut out[checked % 4..][..length]);
            if out != expected {
                return Err("AES in counter mode");
            }
            checked += 1;
        }
    }
    Ok(checked)
}

/// Compares linear systems of all sets, of full and of lower rank, with pivots in any order.
fn systems(b: Armv7em) -> Result<usize, &'static str> {
    let mut random = Random::new(5);
    let mut checked = 0;
    // Systems without and with a solution.
    let mut solved = [0; 2];
    let mut matrix = [[0; 145]; 142];
    let [mut expected, mut columns] = [[0; 145 * 71]; 2];
    let [mut expected_x, mut x] = [[0; 144]; 2];
    for (m, unknowns) in [(80, 80), (64, 65), (108, 110), (142, 144), (78, 80), (64, 68), (12, 5), (2, 16)] {
        for round in 0..40 {
            let matrix = &mut matrix[..m];
            for row in matrix.iter_mut() {
                random.fill(row);
                row.iter_mut().for_each(|element| *element &= 15);
            }
            // Makes some columns copies of earlier ones.
            for _ in 0..round % 5 {
                let column = 1 + random.below(unknowns - 1);
                let from = random.below(column);
                matrix.iter_mut().for_each(|row| row[column] = row[from]);
            }
            match round % 8 {
                5 => matrix[random.below(m)] = matrix[random.below(m)],
                6 => {
                    let shift = random.below(m);
                    for (i, row) in matrix.iter_mut().enumerate() {
                        for (j, element) in row[..unknowns].iter_mut().enumerate() {
                            *element = if (i + shift) % m == j % m { *element | 1 } else { 0 };
                        }
                    }
                }
                7 => matrix.iter_mut().skip(random.below(m)).for_each(|row| row[..unknowns / 2].fill(0)),
                _ => {}
            }
            let length = (unknowns + 1) * m / 2;
            for (c, column) in expected[..length].chunks_exact_mut(m / 2).enumerate() {
                for (byte, rows) in column.iter_mut().zip(matrix.chunks_exact(2)) {
                    *byte = rows[0][c] | rows[1][c] << 4;
                }
            }
            columns[..length].copy_from_slice(&expected[..length]);
            let solvable = Portable::new().solve(&mut expected[..length], m, &mut expected_x[..unknowns]);
            if b.solve(&mut columns[..length], m, &mut x[..unknowns]) != solvable
                || solvable == 1 && x[..unknowns] != expected_x[..unknowns]
            {
                return Err("a linear system");
            }
            solved[usize::from(solvable)] += 1;
            checked += 1;
        }
    }
    if solved.into_iter().any(|systems| systems < 80) {
        return Err("too few linear systems with, or without, a solution");
    }
    Ok(checked)
}
