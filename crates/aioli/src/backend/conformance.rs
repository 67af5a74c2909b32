//! The conformance suite: the promises of [`Backend`], tested on every backend that this machine
//! can run.
//!
//! Each kernel is compared with an obvious computation made from [`gf16::mul`](crate::gf16::mul)
//! or, for AES, from single blocks.

mod left_product;
mod random;
mod sets;
mod solve;

use super::{Backend, DetectedBackend, with_backend};
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use random::Random;

/// Runs `$check` for every backend of this machine and prints their names.
///
/// Fails if a backend that `AIOLI_REQUIRE_BACKENDS` names, separated by commas, did not run.
macro_rules! on_every_backend {
    ($($test:ident: $check:path;)*) => {$(
        #[test]
        fn $test() {
            let mut ran = Vec::new();
            for backend in DetectedBackend::all() {
                with_backend!(backend, |b| {
                    $check(b);
                    ran.push(name_of(b));
                });
            }
            println!("{}: ran on {}", stringify!($test), ran.join(", "));
            let required = std::env::var("AIOLI_REQUIRE_BACKENDS").unwrap_or_default();
            for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                assert!(ran.contains(&name), "backend {name} is required, and did not run; ran: {ran:?}");
            }
        }
    )*};
}

on_every_backend! {
    left_product_on_a_basis: left_product::on_a_basis;
    left_product_is_bilinear_and_adds: left_product::is_bilinear_and_adds;
    left_product_of_odd_shapes: left_product::of_odd_shapes;
    left_product_of_every_set: left_product::of_every_set;
    left_product_without_rows: left_product::without_rows;
    aes128_ctr_block_by_block: aes128_ctr;
    solve_of_every_set: solve::solve;
    vectorize_returns_the_value: vectorize;
}

fn name_of<B: Backend>(_: B) -> &'static str {
    B::NAME
}

fn aes128_ctr<B: Backend>(b: B) {
    let mut random = Random(4);
    let lengths = (0..=300usize).chain([511, 512, 513, 1000, 1024, 2048, 4080, 4096, 4097, 5000, 9999, 65_536, 70_003]);
    for length in lengths {
        for first in [0, 1, 254, 255, 256, u32::MAX - 2] {
            let key: [u8; 16] = core::array::from_fn(|_| random.next() as u8);
            let iv: [u8; 16] =
                if random.below(4) == 0 { [0; 16] } else { core::array::from_fn(|_| random.next() as u8) };
            let cipher = aes::Aes128::new(&Array(key));
            let mut expected = Vec::new();
            for j in 0..length.div_ceil(16) as u128 {
                let counter = (u128::from(first) + j).to_be_bytes();
                let mut block = Array(core::array::from_fn(|i| iv[i] ^ counter[i]));
                cipher.encrypt_block(&mut block);
                expected.extend_from_slice(&block);
            }
            expected.truncate(length);
            let mut out = random.bytes(length + 1);
            expected.push(out[length]);
            b.aes128_ctr(&key, &iv, first, &mut out[..length]);
            assert!(out == expected, "{}: {length} bytes from block {first}", B::NAME);
        }
    }
}

fn vectorize<B: Backend>(b: B) {
    let words: Vec<u64> = (0..100).collect();
    assert_eq!(b.vectorize(|| words.iter().map(|word| word * word).sum::<u64>()), 328_350);
    let mut copy = vec![0; 100];
    b.vectorize(
        #[inline(always)]
        || copy.copy_from_slice(&words),
    );
    assert_eq!(copy, words);
}
