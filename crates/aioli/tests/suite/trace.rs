//! The intermediate values of one signature for each set, compared with `trace.txt`.
//!
//! The scheme runs on a backend that records the inputs and outputs of its kernels, so the values
//! are those of the code that ships, on every backend. The target t is not recorded: no kernel
//! receives it, only y = t - W(v).

use aioli::backend::{Backend, BackendKind, Portable};
use aioli::packed::{Coefficients, Operand};
use aioli::stream::StreamPart;
use aioli::{Error, MessageDigest, ParameterSet, Signature, SigningKey, hazmat};
use sha2::{Digest, Sha256};
use std::cell::RefCell;

const MESSAGE: &[u8] = b"trace";

/// Delegates to `B`, and keeps the values of a signature of the set `P` in this thread's
/// [`RECORD`].
struct Recorder<P, B>(B, std::marker::PhantomData<P>);

thread_local! {
    static RECORD: RefCell<Record> = const { RefCell::new(Record { values: Vec::new(), v: String::new(), vpv: String::new() }) };
}

#[derive(Default)]
struct Record {
    /// Names and digests, in the order of the file.
    values: Vec<(&'static str, String)>,
    /// The digests of V and of V P1 V^T of the current sample, kept until its M is known.
    v: String,
    vpv: String,
}

impl Record {
    fn push(&mut self, name: &'static str, digest: String) {
        self.values.push((name, digest));
    }
}

impl<P, B: Copy> Clone for Recorder<P, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, B: Copy> Copy for Recorder<P, B> {}

impl<P: ParameterSet, B: Backend> Backend for Recorder<P, B> {
    const NAME: &'static str = B::NAME;

    const REGISTER: usize = B::REGISTER;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: &mut [u8], stride: usize) {
        let mb = P::M_BYTES;
        let columns = P::K + usize::from(P::LINEAR);
        let shape = (left.rows(), right.count(), right.row_bytes());
        if shape == (1, P::K * P::O, mb) {
            // The step y - A r: `out` is still y, and the operand holds A by columns.
            RECORD.with_borrow_mut(|record| {
                record.push("y", digest(&unpacked(out)));
                record.push("a", digest(&transposed(&unpacked(right.bytes()), P::M)));
            });
        }
        self.0.left_product(left, right, out, stride);
        RECORD.with_borrow_mut(|record| {
            if shape == (P::K + P::O, P::V, columns * mb) {
                // [U, Lambda(v); N, O^T lambda] = [V; O^T] [T, lambda], with T = (V P1)'.
                let row = |r: usize| (0..P::V).map(move |i| left.of_row(i)[r]);
                if record.values.iter().all(|(name, _)| *name != "oil") {
                    let oil: Vec<u8> = (P::K..P::K + P::O).flat_map(row).collect();
                    record.values.insert(0, ("oil", digest(&transposed(&oil, P::V))));
                }
                record.v = digest(&(0..P::K).flat_map(row).collect::<Vec<_>>());
                let entry = |i: usize, j: usize| unpacked(&out[i * stride + j * mb..][..mb]);
                let vpv: Vec<u8> = (0..P::K * P::K).flat_map(|ij| entry(ij % P::K, ij / P::K)).collect();
                record.vpv = digest(&vpv);
            } else if shape == (P::K, P::V, P::O * mb) {
                // M = V Q + N'.
                let v = std::mem::take(&mut record.v);
                let vpv = std::mem::take(&mut record.vpv);
                record.push("v", v);
                record.push("m", digest(&unpacked(&out[..P::K * P::O * mb])));
                record.push("vpv", vpv);
            } else if shape == (P::K, P::O, P::V_BYTES) {
                // Rows x_i times O^T.
                let x: Vec<u8> = (0..P::K).flat_map(|i| (0..P::O).map(move |l| left.of_row(l)[i])).collect();
                record.push("x", digest(&x));
            }
        });
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: &mut [u8],
        stride: usize,
    ) {
        self.0.left_product_of_stream(left, key, part, window, out, stride);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        self.0.shake256(inputs, outputs);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        self.0.aes128_ctr(key, iv, first, out);
        if *iv != [0; 16] {
            RECORD.with_borrow_mut(|record| record.push("lambda", digest(&unpacked(out))));
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        self.0.solve(columns, m, x)
    }

    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        // Known answers check this code as each backend compiles it. Compiling it here again, for
        // every set, would double the time of building the tests.
        f()
    }
}

/// Unpacks to one element a byte; for even counts only.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect()
}

/// The transpose of a matrix whose rows have `columns` elements.
fn transposed(elements: &[u8], columns: usize) -> Vec<u8> {
    (0..columns).flat_map(|j| elements.chunks_exact(columns).map(move |row| row[j])).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn digest(elements: &[u8]) -> String {
    hex(&Sha256::digest(elements)[..16])
}

/// The lines of the file about a set.
fn expected<P: ParameterSet>() -> Vec<(&'static str, String)> {
    let lines = include_str!("trace.txt").lines().filter(|line| !line.starts_with('#'));
    let mut values = Vec::new();
    for line in lines {
        let [set, name, digest] = line.split(' ').collect::<Vec<_>>().try_into().expect("three words a line");
        if set == P::ALGORITHM.name() {
            values.push((name, digest.to_owned()));
        }
    }
    values
}

fn key<P: ParameterSet>() -> SigningKey<P> {
    let seed: Vec<u8> = (0..P::SECRET_KEY_BYTES as u8).collect();
    SigningKey::try_from(&seed[..]).unwrap()
}

fn values_of_a_signature<P: ParameterSet, B: Backend>(b: B) {
    let recorder = Recorder::<P, B>(b, std::marker::PhantomData);
    let key = key::<P>();
    let message = MessageDigest::of(MESSAGE);
    let randomizer = vec![0; P::SALT_BYTES];
    let expanded = hazmat::on::expand_signing_key(b, &key);
    let sign = |compact: bool| -> Vec<(&'static str, String)> {
        RECORD.take();
        let signature = match compact {
            true => hazmat::on::sign(recorder, &key, &message, &randomizer, 256),
            false => hazmat::on::sign_expanded(recorder, &expanded, &message, &randomizer, 256),
        };
        let mut values = RECORD.take().values;
        values.push(("sig", hex(&Sha256::digest(signature.unwrap().as_bytes()))));
        values
    };
    assert_eq!(sign(true), expected::<P>(), "{} on {}, compact key", P::ALGORITHM, B::NAME);
    assert_eq!(sign(false), expected::<P>(), "{} on {}, expanded key", P::ALGORITHM, B::NAME);
}

/// Checks all sets; returns the backend's name.
fn values_on<B: Backend>(b: B) -> &'static str {
    for algorithm in aioli::Algorithm::ALL {
        aioli::with_set!(algorithm, P => values_of_a_signature::<P, B>(b));
    }
    B::NAME
}

#[test]
fn intermediate_values_are_those_of_the_specification_on_every_backend() {
    let known = [
        Some(values_on(Portable::new())),
        #[cfg(target_arch = "aarch64")]
        aioli::backend::Neon::detect().map(values_on),
        #[cfg(target_arch = "x86_64")]
        aioli::backend::Avx2::detect().map(values_on),
        #[cfg(target_arch = "x86_64")]
        aioli::backend::Gfni256::detect().map(values_on),
        #[cfg(target_arch = "x86_64")]
        aioli::backend::Gfni512::detect().map(values_on),
    ];
    let backends = known.iter().flatten().count();
    assert_eq!(backends, BackendKind::available().count(), "backends that this test does not know");
}

/// The first sample of this message has no solution in round 3's MAYO_1. So a limit of one sample
/// fails there, and elsewhere only a limit of none.
fn samples_are_counted<P: ParameterSet>() {
    let b = Portable::new();
    let key = key::<P>();
    let message = MessageDigest::of(MESSAGE);
    let randomizer = vec![0; P::SALT_BYTES];
    let expanded = key.expand();
    let sign = |samples| -> Result<Signature<P>, Error> {
        let compact = hazmat::on::sign(b, &key, &message, &randomizer, samples);
        assert_eq!(hazmat::on::sign_expanded(b, &expanded, &message, &randomizer, samples), compact);
        compact
    };
    let needed = expected::<P>().iter().filter(|(name, _)| *name == "v").count() as u16;
    assert_eq!(needed, if P::ALGORITHM == aioli::Algorithm::Mayo1 { 2 } else { 1 });
    assert_eq!(sign(needed - 1), Err(Error::SamplesExhausted));
    let signature = sign(needed).unwrap();
    assert_eq!(sign(256).unwrap(), signature);
    assert_eq!(key.verifying_key().verify_digest(&message, &signature), Ok(()));
}

#[test]
fn a_sample_without_solution_is_followed_by_the_next_or_by_the_error() {
    for algorithm in aioli::Algorithm::ALL {
        aioli::with_set!(algorithm, P => samples_are_counted::<P>());
    }
}
