//! The intermediate values of one signature for each set, compared with `trace.txt`.
//!
//! The scheme runs on a backend that records the inputs and outputs of its kernels, so the values
//! are those of the code that ships, on every backend. The target t is not recorded: no kernel
//! receives it, only y = t - W(v).

use aioli::backend::{Backend, BackendKind, DetectedBackend, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use aioli::{Error, MessageDigest, ParameterSet, Signature, SigningKey, hazmat};
use sha2::{Digest, Sha256};
use std::cell::RefCell;

const MESSAGE: &[u8] = b"trace";

/// Delegates to the kernels of a backend, and keeps the values of a signature of the set `P` in
/// this thread's [`RECORD`].
///
/// The backend is chosen when a kernel is called. With a type for each, the scheme would be
/// compiled for all of them, which takes most of the time of building the tests.
struct Recorder<P>(BackendKind, std::marker::PhantomData<P>);

thread_local! {
    static RECORD: RefCell<Record> = const { RefCell::new(Record { values: Vec::new(), v: String::new(), vpv: String::new(), n_transposed: Vec::new() }) };
}

#[derive(Default)]
struct Record {
    /// Names and digests, in the order of the file.
    values: Vec<(&'static str, String)>,
    /// The digests of V and of V P1 V^T of the current sample, kept until its M is known.
    v: String,
    vpv: String,
    /// The elements of N', which the scheme adds to V Q.
    n_transposed: Vec<u8>,
}

impl Record {
    fn push(&mut self, name: &'static str, digest: String) {
        self.values.push((name, digest));
    }
}

impl<P> Clone for Recorder<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Recorder<P> {}

/// Evaluates an expression with the token of a backend.
macro_rules! on {
    ($kind:expr, $token:ident => $kernel:expr) => {
        match $kind {
            #[cfg(target_arch = "aarch64")]
            BackendKind::Neon => on!(@ aioli::backend::Neon::detect(), $token => $kernel),
            #[cfg(target_arch = "x86_64")]
            BackendKind::Avx2 => on!(@ aioli::backend::Avx2::detect(), $token => $kernel),
            #[cfg(target_arch = "x86_64")]
            BackendKind::Gfni256 => on!(@ aioli::backend::Gfni256::detect(), $token => $kernel),
            #[cfg(target_arch = "x86_64")]
            BackendKind::Gfni512 => on!(@ aioli::backend::Gfni512::detect(), $token => $kernel),
            BackendKind::Portable => on!(@ Some(Portable::new()), $token => $kernel),
            other => panic!("this test does not know the backend {other}"),
        }
    };
    (@ $detected:expr, $token:ident => $kernel:expr) => {{
        let $token = $detected.expect("a backend that was detected");
        $kernel
    }};
}

impl<P: ParameterSet> Backend for Recorder<P> {
    const NAME: &'static str = "recorder";

    const REGISTER: usize = 64;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
        let mb = P::M_BYTES;
        let columns = P::K + usize::from(P::LINEAR);
        let shape = (left.rows(), right.count(), right.row_bytes());
        if shape == (1, P::K * P::O, mb) {
            // The step y - A r: `out` is still y, and the operand holds A by columns.
            RECORD.with_borrow_mut(|record| {
                record.push("y", digest(&unpacked(out.bytes_mut())));
                record.push("a", digest(&transposed(&unpacked(right.bytes()), P::M)));
            });
        }
        let stride = out.stride();
        on!(self.0, backend => backend.left_product(left, right, out.from_column(0)));
        let out = out.bytes_mut();
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
                record.n_transposed = (0..P::K * P::O).flat_map(|il| entry(P::K + il % P::O, il / P::O)).collect();
            } else if shape == (P::K, P::V, P::O * mb) {
                // M = V Q + N'.
                let v = std::mem::take(&mut record.v);
                let vpv = std::mem::take(&mut record.vpv);
                record.push("v", v);
                let n_transposed = std::mem::take(&mut record.n_transposed);
                let m = unpacked(&out[..P::K * P::O * mb]);
                record.push("m", digest(&m.iter().zip(n_transposed).map(|(a, b)| a ^ b).collect::<Vec<_>>()));
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
        out: Output<'_>,
    ) {
        on!(self.0, backend => backend.left_product_of_stream(left, key, part, window, out));
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        on!(self.0, backend => backend.shake256(inputs, outputs));
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        on!(self.0, backend => backend.aes128_ctr(key, iv, first, out));
        if *iv != [0; 16] {
            RECORD.with_borrow_mut(|record| record.push("lambda", digest(&unpacked(out))));
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        on!(self.0, backend => backend.solve(columns, m, x))
    }

    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        // Known answers check this code as each backend compiles it.
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

fn values_of_a_signature<P: ParameterSet>(backend: DetectedBackend) {
    let recorder = Recorder::<P>(backend.kind(), std::marker::PhantomData);
    let key = key::<P>();
    let message = MessageDigest::of(MESSAGE);
    let randomizer = vec![0; P::SALT_BYTES];
    let expanded = hazmat::expand_signing_key(backend, &key);
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
    assert_eq!(sign(true), expected::<P>(), "{} on {backend}, compact key", P::ALGORITHM);
    assert_eq!(sign(false), expected::<P>(), "{} on {backend}, expanded key", P::ALGORITHM);
}

#[test]
fn intermediate_values_are_those_of_the_specification_on_every_backend() {
    for backend in DetectedBackend::all() {
        for algorithm in aioli::Algorithm::ALL {
            aioli::with_set!(algorithm, P => values_of_a_signature::<P>(backend));
        }
    }
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
