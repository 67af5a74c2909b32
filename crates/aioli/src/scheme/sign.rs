//! Signing (docs/mayo.md, "Signing").
//!
//! Everything heavy is a product from the left (`docs/one-pass.md`). With T = (V P1)' and Q = P2 +
//! (O^T P1)': U = V T, N = O^T T, M = V Q + N', and L is never formed. From a compact key one pass
//! over P1 with the rows of V and O^T together gives both V P1 and O^T P1.

use super::keygen::{seeds_bytes, split_seeds};
use super::public_map::PublicMap;
use super::target::{hash_bytes, lambda_bytes, t_columns, target};
use super::transpose::{add_transposed, write_t};
use super::vinegar::{self, UNSAMPLED, UNSAMPLED_PACKED};
use super::whip;
use crate::Error;
use crate::backend::Backend;
use crate::ct;
use crate::memory::{buffers, overwrite};
use crate::message::MessageDigest;
use crate::packed::{self, Coefficients, Operand, Output};
use crate::params::{ByteArray, ParameterSet};

/// The parts of a secret key that signing reads.
pub(crate) enum SecretMap<'a> {
    /// The seed alone, and memory for P1 and P2 of [`ParameterSet::P_BYTES`].
    Compact(&'a mut [u8]),
    /// O, one element a byte, and P1 and Q as [`expand_sk`](super::keygen::expand_sk) leaves them.
    #[cfg(feature = "alloc")]
    Expanded { oil: &'a [u8], p1_q: &'a [u8] },
}

impl SecretMap<'_> {
    /// The same parts for a call that ends before this value does.
    pub(crate) fn reborrow(&mut self) -> SecretMap<'_> {
        match self {
            Self::Compact(window) => SecretMap::Compact(window),
            #[cfg(feature = "alloc")]
            Self::Expanded { oil, p1_q } => SecretMap::Expanded { oil, p1_q },
        }
    }

    pub(crate) const fn is_expanded(&self) -> bool {
        !matches!(self, Self::Compact(_))
    }
}

/// The vinegar samples that the specification allows.
pub(crate) const ALL_SAMPLES: u16 = 256;

/// A digest to sign, and how.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    seed_sk: &'a [u8],
    pub(crate) digest: &'a [u8],
    randomizer: &'a [u8],
    samples: u16,
    vinegar_twice: bool,
}

impl<'a> Request<'a> {
    /// `randomizer` is R of step 1; at most `samples` vinegar samples are tried, and never more
    /// than the specification's 256.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if the randomizer has not `SALT_BYTES` bytes.
    pub(crate) fn new<P: ParameterSet>(
        seed_sk: &'a [u8],
        digest: &'a MessageDigest<P>,
        randomizer: &'a [u8],
        samples: u16,
    ) -> Result<Self, Error> {
        if randomizer.len() == P::SALT_BYTES {
            return Ok(Self { seed_sk, digest: digest.as_ref(), randomizer, samples, vinegar_twice: false });
        }
        Err(Error::Length {
            what: "randomizer",
            algorithm: P::ALGORITHM,
            expected: P::SALT_BYTES,
            given: randomizer.len(),
        })
    }

    /// The same request; V is derived a second time before it enters the signature.
    pub(crate) fn with_vinegar_twice(&self) -> Self {
        Self { vinegar_twice: true, ..*self }
    }
}

buffers! {
    /// The secret working memory of [`sign`], of any content.
    ///
    /// The matrices come first: in some sets their rows are whole cache lines, and memory begins at
    /// one.
    SignBuffers<P>(expanded: bool, width: usize) {
        /// `[V; O^T] P1` in `width` columns; with an expanded key V P1 alone.
        left_p1: (if expanded { P::K } else { P::K + P::O }) * width * P::M_BYTES,
        /// `width` rows of `[T | lambda]`.
        t_matrix: width * t_columns::<P>() * P::M_BYTES,
        /// `[U, Lambda(v); N, O^T lambda]`.
        products: (P::K + P::O) * t_columns::<P>() * P::M_BYTES,
        /// `width` rows of Q; none with an expanded key, which holds Q.
        q: if expanded { 0 } else { P::O * width * P::M_BYTES },
        /// M_1 .. M_k, rows of O m-vectors.
        m_matrices: P::K * P::O * P::M_BYTES,
        /// `lambda_oil + O^T lambda_vinegar`, O m-vectors.
        oil_linear: P::O * P::M_BYTES,
        /// The columns of A, and y.
        system: (P::K * P::O + 1) * P::M_BYTES,
        /// SHAKE256 of digest and salt.
        hash: hash_bytes::<P>(),
        /// v_1 .. v_k and r, packed.
        vinegar: P::K * P::V_BYTES + P::R_BYTES,
        /// SHAKE256 of the secret seed; unused with an expanded key.
        seeds: if expanded { 0 } else { seeds_bytes::<P>() },
        /// O, V rows of O elements; unused with an expanded key.
        oil: if expanded { 0 } else { P::V * P::O },
        /// lambda_0 .. lambda_{n-1}.
        lambda: lambda_bytes::<P>(),
        /// `[V; O^T]` transposed: the coefficients that belong to one vinegar variable together.
        vo: P::V * (P::K + P::O),
        /// O^T, packed rows.
        oil_t: P::O * P::V_BYTES,
        /// V, K rows of V elements.
        v: P::K * P::V,
        /// v_i + O x_i, packed.
        s_vinegar: P::K * P::V_BYTES,
        /// r, K O elements.
        r: P::K * P::O,
        /// x, K O elements.
        x: P::K * P::O,
        /// s, K rows of N elements.
        s: P::K * P::N,
    }
}

/// Signs; returns the signature.
///
/// Each column of P1 gives a row of T and a row of Q, and each of these is used once; so `width`
/// columns at a time are enough. With V of them Q is kept for further samples; an expanded key
/// needs that width.
///
/// # Errors
///
/// [`Error::SamplesExhausted`] if no vinegar sample gave a system of full rank,
/// [`Error::FaultDetected`] if V cannot have been sampled as it should.
#[inline(never)]
pub(crate) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    request: &Request<'_>,
    secret: SecretMap<'_>,
    width: usize,
    memory: &mut [u8],
) -> Result<P::SignatureBytes, Error> {
    let Request { seed_sk, digest, randomizer, samples, vinegar_twice } = *request;
    let mut signature = P::SignatureBytes::ZERO;
    let (s_bytes, salt) = signature.as_mut().split_at_mut(P::SIGNATURE_BYTES - P::SALT_BYTES);
    ct::secret(seed_sk);

    // Step 1: the salt, and what follows from it and the key. The first sample is hashed along.
    b.shake256(&[&[digest, randomizer, seed_sk]], &mut [salt]);
    // It is part of the signature.
    ct::public(salt);
    let mut signing = Signing::<P, B>::begin(b, seed_sk, digest, salt, secret, width, memory);

    for ctr in 0..samples.min(ALL_SAMPLES) {
        // Step 2: v_1 .. v_k and r. Only a fault makes a V that is refused, so that may show.
        let vinegar_input: &[&[u8]] = &[digest, salt, seed_sk, &[ctr as u8]];
        if ctr > 0 {
            signing.begin_again(vinegar_input);
        }
        signing.decode_vinegar();
        if ct::public_byte(vinegar::is_sampled::<P>(signing.buffers.v)) == 0 {
            return Err(Error::FaultDetected);
        }

        // Step 3: y = t - W(v), and all M_i = v_i^T L.
        signing.multiply();
        signing.set_right_side();

        // Step 4: A.
        signing.set_matrix();

        // Step 5: x = r + a solution of A x' = y - A r. The number of samples is public.
        if ct::public_byte(signing.solve()) == 0 {
            continue;
        }
        // Protection against faults. Only a fault makes another V, so that may show.
        if vinegar_twice && ct::public_byte(signing.vinegar_is_derived_from(vinegar_input)) == 0 {
            return Err(Error::FaultDetected);
        }

        // Step 6: s_i = (v_i + O x_i) || x_i.
        signing.write_vectors(s_bytes);
        // They are the signature.
        ct::public(s_bytes);
        return Ok(signature);
    }
    Err(Error::SamplesExhausted)
}

/// A signature in the making.
struct Signing<'a, P: ParameterSet, B> {
    b: B,
    p: PublicMap<'a, P>,
    q: Q<'a>,
    width: usize,
    buffers: SignBuffers<'a>,
}

/// Q = P2 + (O^T P1)', V rows of O m-vectors.
enum Q<'a> {
    /// All of it.
    Known(&'a [u8]),
    /// Memory for as many rows as columns of P1 are taken at a time.
    Unknown(&'a mut [u8]),
}

impl<'a, P: ParameterSet, B: Backend> Signing<'a, P, B> {
    /// The rest of step 1: t, lambda, and from a compact key O and P. And the first sample, packed.
    fn begin(
        b: B,
        seed_sk: &[u8],
        digest: &[u8],
        salt: &[u8],
        secret: SecretMap<'a>,
        width: usize,
        memory: &'a mut [u8],
    ) -> Self {
        let mut buffers = SignBuffers::carve::<P>(memory, secret.is_expanded(), width);
        let SignBuffers { hash, vinegar, seeds, .. } = &mut buffers;
        overwrite(vinegar, UNSAMPLED_PACKED);
        let target_input: &[&[u8]] = &[digest, salt];
        let vinegar_input: &[&[u8]] = &[digest, salt, seed_sk, &[0]];
        let (p, q) = match secret {
            SecretMap::Compact(window) => {
                b.shake256(&[target_input, vinegar_input, &[seed_sk]], &mut [hash, vinegar, seeds]);
                let seed_pk = split_seeds(core::mem::take(&mut buffers.seeds), buffers.oil);
                set_oil::<P, B>(b, buffers.oil, buffers.v, buffers.vo, buffers.oil_t);
                (PublicMap::from_seed(b, seed_pk, window), Q::Unknown(core::mem::take(&mut buffers.q)))
            }
            #[cfg(feature = "alloc")]
            SecretMap::Expanded { oil, p1_q } => {
                b.shake256(&[target_input, vinegar_input], &mut [hash, vinegar]);
                set_oil::<P, B>(b, oil, buffers.v, buffers.vo, buffers.oil_t);
                // Q has replaced P2, which signing with an expanded key never reads.
                (PublicMap::from_memory(p1_q), Q::Known(&p1_q[P::P1_BYTES..]))
            }
        };
        overwrite(buffers.v, UNSAMPLED);
        target::<P, B>(b, buffers.hash, buffers.lambda);
        Self { b, p, q, width, buffers }
    }

    /// The next sample, packed.
    fn begin_again(&mut self, vinegar_input: &[&[u8]]) {
        overwrite(self.buffers.vinegar, UNSAMPLED_PACKED);
        overwrite(self.buffers.v, UNSAMPLED);
        self.b.shake256(&[vinegar_input], &mut [self.buffers.vinegar]);
    }

    /// Unpacks V into `[V; O^T]`, and r.
    fn decode_vinegar(&mut self) {
        let SignBuffers { vinegar, v, vo, r, .. } = &mut self.buffers;
        let (v_bytes, r_bytes) = vinegar.split_at(P::K * P::V_BYTES);
        // Slices of constant lengths, which the compiler unrolls.
        let v = &mut v[..P::K * P::V];
        let vo = &mut vo[..P::V * (P::K + P::O)];
        self.b.vectorize(
            #[inline(always)]
            || {
                for (v, bytes) in v.chunks_exact_mut(P::V).zip(v_bytes.chunks_exact(P::V_BYTES)) {
                    packed::decode(bytes, v);
                }
                for (j, vo) in vo.chunks_exact_mut(P::K + P::O).enumerate() {
                    for (vo, v) in vo[..P::K].iter_mut().zip(v.chunks_exact(P::V)) {
                        *vo = v[j];
                    }
                }
                packed::decode(r_bytes, r);
            },
        );
    }

    /// `[U, Lambda(v); N, O^T lambda] = [V; O^T] [T | lambda]`, and M = V Q + N'.
    fn multiply(&mut self) {
        let b = self.b;
        let columns = t_columns::<P>();
        for first in (0..P::V).step_by(self.width) {
            let strip = first..P::V.min(first + self.width);
            self.multiply_by_p1(strip.clone());
            let SignBuffers { left_p1, t_matrix, products, m_matrices, lambda, vo, .. } = &mut self.buffers;
            let row_bytes = strip.len() * P::M_BYTES;
            let t_matrix = &mut t_matrix[..columns * row_bytes];
            b.vectorize(
                #[inline(always)]
                || write_t::<P, B>(left_p1, lambda, strip.clone(), t_matrix),
            );
            // The first strip gives the first terms of the sums.
            let adds = first > 0;
            let vo = Coefficients::new(vo, P::K + P::O, P::K + P::O).columns_in(strip.clone());
            let t_rows = Operand::full(t_matrix, strip.len(), columns * P::M_BYTES);
            b.left_product(vo, t_rows, Output::new(products, columns * P::M_BYTES, adds));
            let q = match &self.q {
                Q::Known(q) => q,
                Q::Unknown(q) => &q[..P::O * row_bytes],
            };
            let v = Coefficients::new(vo.elements(), P::K + P::O, P::K);
            let q_rows = Operand::full(q, strip.len(), P::O * P::M_BYTES);
            b.left_product(v, q_rows, Output::new(m_matrices, P::O * P::M_BYTES, adds));

            if strip.end == P::V {
                // N is complete.
                b.vectorize(
                    #[inline(always)]
                    || {
                        let columns = t_columns::<P>();
                        let oil_products = &products[P::K * columns * P::M_BYTES..];
                        add_transposed::<P>((P::O, columns), oil_products, m_matrices);
                    },
                );
            }
        }
    }

    /// V P1 in the columns `strip`; and unless Q is known, O^T P1, which gives those rows of Q.
    fn multiply_by_p1(&mut self, strip: core::ops::Range<usize>) {
        let SignBuffers { left_p1, vo, .. } = &mut self.buffers;
        let row_bytes = strip.len() * P::M_BYTES;
        let left = |rows| Coefficients::new(vo, P::K + P::O, rows);
        let Q::Unknown(q) = &mut self.q else {
            return self.p.left_product_p1(self.b, left(P::K), strip, Output::replace(left_p1, row_bytes));
        };
        self.p.left_product_p1(self.b, left(P::K + P::O), strip.clone(), Output::replace(left_p1, row_bytes));
        let rows = &mut q[..P::O * row_bytes];
        self.p.copy_p2(self.b, strip.clone(), rows);
        self.b.vectorize(
            #[inline(always)]
            || add_transposed::<P>((P::O, strip.len()), &left_p1[P::K * row_bytes..], rows),
        );
        if strip.len() == P::V {
            let rows: &'a mut [u8] = core::mem::take(q);
            self.q = Q::Known(rows);
        }
    }

    /// y = t - W(v).
    fn set_right_side(&mut self) {
        let SignBuffers { products, system, hash, .. } = &mut self.buffers;
        let columns = t_columns::<P>();
        let y = &mut system[P::K * P::O * P::M_BYTES..];
        whip::whipped_sum::<P, B>(self.b, &products[..P::K * columns * P::M_BYTES], columns, y);
        let t = &hash[..P::M_BYTES];
        packed::add(y, t);
    }

    /// A, from M and, in round 3, the oil part of the linear map.
    fn set_matrix(&mut self) {
        let SignBuffers { products, m_matrices, oil_linear, system, lambda, .. } = &mut self.buffers;
        if P::LINEAR {
            let vinegar_parts = products.chunks_exact(P::M_BYTES).skip(P::K).step_by(t_columns::<P>()).skip(P::K);
            let oil_parts = lambda[P::V * P::M_BYTES..].chunks_exact(P::M_BYTES);
            for ((linear, vinegar), oil) in oil_linear.chunks_exact_mut(P::M_BYTES).zip(vinegar_parts).zip(oil_parts) {
                linear.copy_from_slice(vinegar);
                packed::add(linear, oil);
            }
        }
        whip::linear_system::<P, B>(self.b, &m_matrices[..P::K * P::O * P::M_BYTES], oil_linear, system);
    }

    /// Whether there is an x with A x = y; then computes it.
    fn solve(&mut self) -> u8 {
        let SignBuffers { system, r, x, .. } = &mut self.buffers;
        let (a, y) = system.split_at_mut(P::K * P::O * P::M_BYTES);
        let a = Operand::full(a, P::K * P::O, P::M_BYTES);
        self.b.left_product(Coefficients::new(r, 1, 1), a, Output::add_to(y, P::M_BYTES));
        let solved = self.b.solve(system, P::M, x);
        packed::add(x, r);
        solved
    }

    /// Whether the packed V and r are those of this input, from which they are derived again. Call
    /// it behind [`solve`](Self::solve): it writes over products that nothing reads from then on.
    fn vinegar_is_derived_from(&mut self, vinegar_input: &[&[u8]]) -> u8 {
        let SignBuffers { vinegar, products, .. } = &mut self.buffers;
        let again = &mut products[..vinegar.len()];
        overwrite(again, !UNSAMPLED_PACKED);
        self.b.shake256(&[vinegar_input], &mut [again]);
        ct::equal(vinegar, again)
    }

    /// s_i = (v_i + O x_i) || x_i, packed into `s_bytes`.
    fn write_vectors(&mut self, s_bytes: &mut [u8]) {
        // r is part of x by now, and its memory takes x_1 .. x_k as columns.
        let SignBuffers { vinegar, oil_t, s_vinegar, x, r: x_t, s, .. } = &mut self.buffers;
        s_vinegar.copy_from_slice(&vinegar[..P::K * P::V_BYTES]);
        for (i, x) in x.chunks_exact(P::O).enumerate() {
            for (x_t, &element) in x_t.chunks_exact_mut(P::K).zip(x) {
                x_t[i] = element;
            }
        }
        let oil_t = Operand::full(oil_t, P::O, P::V_BYTES);
        self.b.left_product(Coefficients::new(x_t, P::K, P::K), oil_t, Output::add_to(s_vinegar, P::V_BYTES));
        let x = &x[..P::K * P::O];
        let s = &mut s[..P::K * P::N];
        self.b.vectorize(
            #[inline(always)]
            || {
                let parts = s_vinegar.chunks_exact(P::V_BYTES).zip(x.chunks_exact(P::O));
                for (s, (vinegar, x)) in s.chunks_exact_mut(P::N).zip(parts) {
                    let (s_vinegar, s_oil) = s.split_at_mut(P::V);
                    packed::decode(vinegar, s_vinegar);
                    s_oil.copy_from_slice(x);
                }
                packed::encode(s, s_bytes);
            },
        );
    }
}

/// Writes O into the last rows of `[V; O^T]`, and O^T as packed rows. `column` has room for V
/// elements.
fn set_oil<P: ParameterSet, B: Backend>(b: B, oil: &[u8], column: &mut [u8], vo: &mut [u8], oil_t: &mut [u8]) {
    // Slices of constant lengths, which the compiler unrolls.
    let oil = &oil[..P::V * P::O];
    let vo = &mut vo[..P::V * (P::K + P::O)];
    let oil_t = &mut oil_t[..P::O * P::V_BYTES];
    b.vectorize(
        #[inline(always)]
        || {
            for (vo, oil) in vo.chunks_exact_mut(P::K + P::O).zip(oil.chunks_exact(P::O)) {
                vo[P::K..].copy_from_slice(oil);
            }
            for (l, oil_t) in oil_t.chunks_exact_mut(P::V_BYTES).enumerate() {
                let column = &mut column[..P::V];
                for (element, oil) in column.iter_mut().zip(oil.chunks_exact(P::O)) {
                    *element = oil[l];
                }
                packed::encode(column, oil_t);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::backend::Portable;
    use crate::params::with_set;

    fn a_v_that_is_not_decoded_is_refused<P: ParameterSet>() {
        let (seed_sk, digest, salt) = (&[7; 40][..P::SECRET_KEY_BYTES], &[8; 32], &[9; 24]);
        let (window, memory) = (&mut vec![0; P::P_BYTES], &mut vec![0; SignBuffers::bytes::<P>(false, P::V)]);
        let secret = SecretMap::Compact(window);
        let mut signing = Signing::<P, _>::begin(Portable::new(), seed_sk, digest, salt, secret, P::V, memory);
        assert_eq!(vinegar::is_sampled::<P>(signing.buffers.v), 0, "{}", P::ALGORITHM);
        signing.decode_vinegar();
        assert_eq!(vinegar::is_sampled::<P>(signing.buffers.v), 1, "{}", P::ALGORITHM);
        signing.begin_again(&[digest, salt, seed_sk, &[1]]);
        assert_eq!(vinegar::is_sampled::<P>(signing.buffers.v), 0, "{}", P::ALGORITHM);
    }

    #[test]
    fn decoding_cannot_be_left_out() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => a_v_that_is_not_decoded_is_refused::<P>());
        }
    }
}
