//! Signing (MAYO.md, "Signing").
//!
//! Everything heavy is a product from the left (`docs/one-pass.md`). With T = (V P1)' and Q = P2 + (O^T P1)':
//! u = V T, N = O^T T, M = V Q + N', and L is never formed. From a compact key one pass over P1 with the rows of V and
//! O^T together gives both V P1 and O^T P1.

use crate::Error;
use crate::backend::Backend;
use crate::ct;
use crate::keygen::{seeds_bytes, split_seeds};
use crate::memory::Memory;
use crate::message::MessageDigest;
use crate::packed::{self, Coefficients, Operand};
use crate::params::{ByteArray, ParameterSet};
use crate::public_map::PublicMap;
use crate::verify::{lambda_bytes, t_columns, target, target_bytes};
use crate::whip;

/// What signing needs of a secret key.
pub(crate) enum SecretMap<'a> {
    /// The seed alone, and memory for P1 and P2 of [`ParameterSet::P_BYTES`].
    Compact(&'a mut [u8]),
    /// O, one element a byte, and P1 and Q as [`expand_sk`](crate::keygen::expand_sk) leaves them.
    #[cfg(feature = "alloc")]
    Expanded { oil: &'a [u8], p1_q: &'a [u8] },
}

/// What is signed, and how.
pub(crate) struct Request<'a> {
    seed_sk: &'a [u8],
    digest: &'a [u8],
    randomizer: &'a [u8],
    samples: u16,
}

impl<'a> Request<'a> {
    /// `randomizer` is fresh random bytes, or zeros for a deterministic signature; at most `samples` vinegar samples
    /// are tried, and never more than the specification's 256.
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
        match randomizer.len() {
            given if given == P::SALT_BYTES => Ok(Self { seed_sk, digest: digest.as_ref(), randomizer, samples }),
            given => {
                let (what, algorithm, expected) = ("randomizer", P::ALGORITHM, P::SALT_BYTES);
                Err(Error::Length { what, algorithm, expected, given })
            }
        }
    }
}

/// Secret working memory of [`sign`], with an expanded key or without, that takes `width` columns of P1 at a time; must be
/// zero.
pub(crate) const fn sign_memory<P: ParameterSet>(expanded: bool, width: usize) -> usize {
    let rows = P::K + P::O;
    let vinegar = P::K * P::V_BYTES + P::R_BYTES;
    let own = if expanded { 0 } else { seeds_bytes::<P>() + P::V * P::O + 2 * width * P::O * P::M_BYTES };
    let elements = P::V * rows + P::K * P::V + 2 * P::K * P::O + P::K * P::N;
    let packed_s = P::O * P::V_BYTES + P::K * P::V_BYTES;
    let products = P::K * width + width * t_columns::<P>() + rows * t_columns::<P>() + P::K * P::O;
    let system = P::O + P::K * P::O + 1;
    own + vinegar + target_bytes::<P>() + elements + packed_s + lambda_bytes::<P>() + (products + system) * P::M_BYTES
}

/// Signs; returns the signature.
///
/// Each column of P1 gives a row of T and a row of Q, and each of these is used once; so `width` columns at a time are
/// enough. With V of them Q is kept for further samples; an expanded key needs that width.
///
/// # Errors
///
/// [`Error::SamplesExhausted`] if no vinegar sample gave a system of full rank.
pub(crate) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    request: &Request<'_>,
    secret: SecretMap<'_>,
    width: usize,
    memory: &mut [u8],
) -> Result<P::SignatureBytes, Error> {
    let mut memory = Memory::new(memory);
    let (mb, rows, columns) = (P::M_BYTES, P::K + P::O, t_columns::<P>());
    let Request { seed_sk, digest, randomizer, samples } = *request;
    ct::secret(seed_sk);

    // Step 1: the salt. From it follow the target with the linear map, and the first vinegar sample.
    let mut signature = P::SignatureBytes::ZERO;
    let (s_bytes, salt) = signature.as_mut().split_at_mut(P::SIGNATURE_BYTES - P::SALT_BYTES);
    b.shake256(&[&[digest, randomizer, seed_sk]], &mut [salt]);
    // Part of the signature.
    ct::public(salt);
    // The matrices first: their rows are whole cache lines in some sets, and memory begins at one.
    let own_rows = if matches!(secret, SecretMap::Compact(_)) { P::O } else { 0 };
    let vp1 = memory.take((P::K + own_rows) * width * mb);
    // A part of T, with lambda as its last column.
    let (t_matrix, products) = (memory.take(width * columns * mb), memory.take(rows * columns * mb));
    // Q, in the expanded key or here; it is known after the first pass over P1.
    let own_q = memory.take(own_rows * width * mb);
    let mut own_q_known = false;
    let (m_matrices, oil_linear) = (memory.take(P::K * P::O * mb), memory.take(P::O * mb));
    let system = memory.take((P::K * P::O + 1) * mb);

    let (hash, vinegar) = (memory.take(target_bytes::<P>()), memory.take(P::K * P::V_BYTES + P::R_BYTES));
    let (target_input, vinegar_input): (&[&[u8]], &[&[u8]]) = (&[digest, salt], &[digest, salt, seed_sk, &[0]]);
    let seed_pk;
    let (oil, mut p, known_q): (_, _, Option<&[u8]>) = match secret {
        SecretMap::Compact(window) => {
            let (seeds, oil) = (memory.take(seeds_bytes::<P>()), memory.take(P::V * P::O));
            b.shake256(&[target_input, vinegar_input, &[seed_sk]], &mut [hash, vinegar, seeds]);
            seed_pk = split_seeds(seeds, oil);
            (&*oil, PublicMap::<P>::from_seed(b, &seed_pk, window), None)
        }
        #[cfg(feature = "alloc")]
        // Of P2, whose place Q has taken, nothing is asked then.
        SecretMap::Expanded { oil, p1_q } => {
            b.shake256(&[target_input, vinegar_input], &mut [hash, vinegar]);
            (oil, PublicMap::from_memory(p1_q), Some(&p1_q[P::P1_BYTES..]))
        }
    };

    // t and lambda follow from the salt.
    let lambda = memory.take(lambda_bytes::<P>());
    let t = target::<P, B>(b, hash, lambda);

    // [V; O^T], transposed: the coefficients that belong to one vinegar variable together. And O^T as packed rows.
    let (vo, oil_t) = (memory.take(P::V * rows), memory.take(P::O * P::V_BYTES));
    let (v, s_vinegar) = (memory.take(P::K * P::V), memory.take(P::K * P::V_BYTES));
    let (r, x, s) = (memory.take(P::K * P::O), memory.take(P::K * P::O), memory.take(P::K * P::N));
    b.vectorize(
        #[inline(always)]
        || {
            for (vo, oil) in vo.chunks_exact_mut(P::K + P::O).zip(oil.chunks_exact(P::O)) {
                vo[P::K..].copy_from_slice(oil);
            }
            for (l, oil_t) in oil_t.chunks_exact_mut(P::V_BYTES).enumerate() {
                let column = &mut v[..P::V];
                for (element, oil) in column.iter_mut().zip(oil.chunks_exact(P::O)) {
                    *element = oil[l];
                }
                packed::encode(column, oil_t);
            }
        },
    );

    for ctr in 0..samples.min(256) {
        // Step 2: vinegar and randomizer.
        if ctr > 0 {
            b.shake256(&[&[digest, salt, seed_sk, &[ctr as u8]]], &mut [vinegar]);
        }
        let (v_bytes, r_bytes) = vinegar.split_at(P::K * P::V_BYTES);
        b.vectorize(
            #[inline(always)]
            || {
                let v = &mut v[..P::K * P::V];
                for (v, bytes) in v.chunks_exact_mut(P::V).zip(v_bytes.chunks_exact(P::V_BYTES)) {
                    packed::decode(bytes, v);
                }
                for (j, vo) in vo[..P::V * (P::K + P::O)].chunks_exact_mut(P::K + P::O).enumerate() {
                    for (vo, v) in vo[..P::K].iter_mut().zip(v.chunks_exact(P::V)) {
                        *vo = v[j];
                    }
                }
                packed::decode(r_bytes, r);
            },
        );

        if ctr > 0 {
            products.fill(0);
            m_matrices.fill(0);
        }
        for first in (0..P::V).step_by(width) {
            let strip = first..P::V.min(first + width);
            let row_bytes = strip.len() * mb;
            // V P1, and with a compact key O^T P1, which gives Q, unless that is known.
            let vp1 = &mut vp1[..(P::K + own_rows) * row_bytes];
            if ctr > 0 || first > 0 {
                vp1.fill(0);
            }
            let pass = Coefficients::new(vo, rows, if known_q.is_none() && !own_q_known { rows } else { P::K });
            p.left_product_p1(b, pass, strip.clone(), vp1, row_bytes);
            let own_q = &mut own_q[..own_rows * row_bytes];
            if pass.rows() == rows {
                p.copy_p2(b, strip.clone(), own_q);
                b.vectorize(
                    #[inline(always)]
                    || packed::add_transposed::<P>((P::O, strip.len()), &vp1[P::K * row_bytes..], own_q),
                );
                own_q_known = width == P::V;
            }
            let q = known_q.unwrap_or(own_q);

            // [u, Lambda(v); N, O^T lambda] += [V; O^T] [T | lambda].
            let t_matrix = &mut t_matrix[..columns * row_bytes];
            b.vectorize(
                #[inline(always)]
                || {
                    // A constant here, and not what a closure has captured.
                    let columns = t_columns::<P>();
                    packed::transpose::<P>((P::K, strip.len()), (vp1, strip.len()), (t_matrix, columns));
                    if P::LINEAR && (width < P::V || ctr == 0) {
                        let (lambda, last) = (&lambda[first * P::M_BYTES..], &mut t_matrix[P::K * P::M_BYTES..]);
                        packed::transpose::<P>((1, strip.len()), (lambda, P::N), (last, columns));
                    }
                },
            );
            let vo = Coefficients::new(vo, rows, rows).columns_in(strip.clone());
            b.left_product(vo, Operand::full(t_matrix, strip.len(), columns * mb), products, columns * mb);

            // M += V Q; and N', once N is complete.
            if strip.end == P::V {
                b.vectorize(
                    #[inline(always)]
                    || {
                        // As above.
                        let columns = t_columns::<P>();
                        packed::add_transposed::<P>(
                            (P::O, columns),
                            &products[P::K * columns * P::M_BYTES..],
                            m_matrices,
                        );
                    },
                );
            }
            let v_rows = Coefficients::new(vo.elements(), rows, P::K);
            b.left_product(v_rows, Operand::full(q, strip.len(), P::O * mb), m_matrices, P::O * mb);
        }
        let (vinegar_products, oil_products) = products.split_at(P::K * columns * mb);

        // Steps 3 and 4: y = t - W(v), and A.
        let (a, y) = system.split_at_mut(P::K * P::O * mb);
        whip::whip::<P, B>(b, vinegar_products, columns, y);
        packed::add(y, t);
        if P::LINEAR {
            for (l, linear) in oil_linear.chunks_exact_mut(mb).enumerate() {
                linear.copy_from_slice(&oil_products[(l * columns + P::K) * mb..][..mb]);
                packed::add(linear, &lambda[(P::V + l) * mb..][..mb]);
            }
        }
        whip::system::<P, B>(b, m_matrices, oil_linear, a);

        // Step 5: x = r + a solution of A x' = y - A r.
        b.left_product(Coefficients::new(r, 1, 1), Operand::full(a, P::K * P::O, mb), y, mb);
        // How many samples are tried may show.
        let solved = ct::public_byte(b.solve(system, P::M, x));
        if solved == 0 {
            continue;
        }
        packed::add(x, r);

        // Step 6: s_i = (v_i + O x_i) || x_i.
        s_vinegar.copy_from_slice(v_bytes);
        transpose_elements(x, P::O, r);
        b.left_product(Coefficients::new(r, P::K, P::K), Operand::full(oil_t, P::O, P::V_BYTES), s_vinegar, P::V_BYTES);
        b.vectorize(
            #[inline(always)]
            || {
                for (i, s) in s.chunks_exact_mut(P::N).enumerate() {
                    let (vinegar, oil) = s.split_at_mut(P::V);
                    packed::decode(&s_vinegar[i * P::V_BYTES..], vinegar);
                    oil.copy_from_slice(&x[i * P::O..][..P::O]);
                }
                packed::encode(s, s_bytes);
            },
        );
        // The signature.
        ct::public(s_bytes);
        return Ok(signature);
    }
    Err(Error::SamplesExhausted)
}

/// `from` has rows of `columns` elements; `to` becomes its transpose.
fn transpose_elements(from: &[u8], columns: usize, to: &mut [u8]) {
    let rows = from.len() / columns;
    for (i, row) in from.chunks_exact(columns).enumerate() {
        for (j, &element) in row.iter().enumerate() {
            to[j * rows + i] = element;
        }
    }
}
