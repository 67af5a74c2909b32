//! The parameter sets of both rounds: one trait, one small macro, eight sets, sizes asserted at
//! compile time.

use crate::Error;
use crate::algorithm::{Algorithm, Round};

/// A MAYO parameter set. The trait is sealed: only the sets in [`round3`] and [`round2`] implement
/// it.
///
/// The letters are those of docs/mayo.md, Letters. Constants that end in `_BYTES` are lengths in
/// bytes; all others count variables, equations, vectors or exponents. An m-vector holds one
/// element of GF(16) for each of the `M` equations, two to a byte.
pub trait ParameterSet: sealed::Sealed + Copy + Clone + core::fmt::Debug + Eq + Send + Sync + 'static {
    /// The same set as a value.
    const ALGORITHM: Algorithm;
    /// The round that the set belongs to. It decides the exponents and whether there is a linear
    /// map.
    const ROUND: Round;
    /// The number of variables, n.
    const N: usize;
    /// The number of equations, m.
    const M: usize;
    /// The dimension of the oil space, o.
    const O: usize;
    /// The number of vectors in a signature, k.
    const K: usize;
    /// The coefficients of z^0 to z^3 of f(z) - z^m.
    const F_TAIL: [u8; 4];
    /// The symmetric matrix of exponents e(i, j) of z, by rows of `K`.
    const EXPONENTS: &'static [u8];
    /// A salt, and the randomizer R that it is derived from.
    const SALT_BYTES: usize;
    /// A message digest D.
    const DIGEST_BYTES: usize;
    /// A compact secret key: seed_sk.
    const SECRET_KEY_BYTES: usize;
    /// A compact public key: seed_pk and P3.
    const PUBLIC_KEY_BYTES: usize;
    /// A signature.
    const SIGNATURE_BYTES: usize;

    /// The number of vinegar variables, v.
    const V: usize = Self::N - Self::O;
    /// An m-vector.
    const M_BYTES: usize = Self::M / 2;
    /// The packed oil matrix O.
    const O_BYTES: usize = (Self::V * Self::O).div_ceil(2);
    /// One packed vinegar vector.
    const V_BYTES: usize = Self::V.div_ceil(2);
    /// The packed randomizer r of the linear system.
    const R_BYTES: usize = (Self::K * Self::O).div_ceil(2);
    /// P1, upper triangular, V by V.
    const P1_BYTES: usize = Self::V * (Self::V + 1) / 2 * Self::M_BYTES;
    /// P2, V by O.
    const P2_BYTES: usize = Self::V * Self::O * Self::M_BYTES;
    /// P3, upper triangular, O by O.
    const P3_BYTES: usize = Self::O * (Self::O + 1) / 2 * Self::M_BYTES;
    /// P1 and P2, which are one key stream.
    const P_BYTES: usize = Self::P1_BYTES + Self::P2_BYTES;
    /// Whether the round has the linear map Lambda.
    const LINEAR: bool = matches!(Self::ROUND, Round::Three);
    /// The largest exponent.
    const MAX_EXPONENT: usize = {
        let mut i = 0;
        let mut largest = 0;
        while i < Self::EXPONENTS.len() {
            if Self::EXPONENTS[i] > largest {
                largest = Self::EXPONENTS[i];
            }
            i += 1;
        }
        largest as usize
    };

    /// A compact secret key as an array.
    type SecretKeyBytes: ByteArray;
    /// A compact public key as an array.
    type PublicKeyBytes: ByteArray;
    /// A signature as an array.
    type SignatureBytes: ByteArray;
    /// A message digest as an array. A salt and a randomizer fit into it, too: neither is longer.
    type DigestBytes: ByteArray;
}

/// An array of bytes, of any length.
pub trait ByteArray:
    Copy
    + Eq
    + core::fmt::Debug
    + AsRef<[u8]>
    + AsMut<[u8]>
    + for<'a> TryFrom<&'a [u8]>
    + zeroize::Zeroize
    + Send
    + Sync
    + 'static
{
    /// The array of zeros.
    const ZERO: Self;
}

impl<const N: usize> ByteArray for [u8; N]
where
    Self: zeroize::Zeroize,
{
    const ZERO: Self = [0; N];
}

/// Bytes of seed_pk, which begins a public key and is the AES-128 key of the stream P1, P2.
pub const PUBLIC_SEED_BYTES: usize = 16;

mod sealed {
    pub trait Sealed {}
}

/// Evaluates an expression with a type alias bound to the set of an [`Algorithm`].
///
/// ```
/// # use aioli::{Algorithm, ParameterSet, with_set};
/// let equations = with_set!(Algorithm::Mayo2, P => P::M);
/// assert_eq!(equations, 64);
/// ```
#[macro_export]
macro_rules! with_set {
    ($algorithm:expr, $set:ident => $body:expr) => {
        $crate::for_the_sets! { ($algorithm, $set, $body) => $crate::match_set }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! match_set {
    (
        ($algorithm:expr, $name:ident, $body:expr)
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {
        match $algorithm {
            $($($crate::Algorithm::$variant => {
                type $name = $crate::$round::$set;
                $body
            })*)*
        }
    };
}
#[cfg(all(feature = "alloc", not(aioli_ct)))]
pub(crate) use with_set;

impl Algorithm {
    /// The round that the set belongs to.
    pub fn round(self) -> Round {
        with_set!(self, P => P::ROUND)
    }

    /// Bytes of a compact secret key.
    pub fn secret_key_bytes(self) -> usize {
        with_set!(self, P => P::SECRET_KEY_BYTES)
    }

    /// Bytes of a compact public key.
    pub fn public_key_bytes(self) -> usize {
        with_set!(self, P => P::PUBLIC_KEY_BYTES)
    }

    /// Bytes of a signature.
    pub fn signature_bytes(self) -> usize {
        with_set!(self, P => P::SIGNATURE_BYTES)
    }

    /// Bytes of a message digest.
    pub fn digest_bytes(self) -> usize {
        with_set!(self, P => P::DIGEST_BYTES)
    }
}

/// Parses the names that [`Algorithm::name`] gives.
impl core::str::FromStr for Algorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or(Error::UnknownSet)
    }
}

macro_rules! parameter_set {
    (
        $(#[$doc:meta])* $set:ident: $algorithm:ident, $round:ident,
        n $n:literal, m $m:literal, o $o:literal, k $k:literal, f $f:expr, exponents $exponents:expr,
        salt $salt:literal, digest $digest:literal,
        secret key $sk:literal, public key $pk:literal, signature $sig:literal, p $p:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $set;

        impl super::sealed::Sealed for $set {}

        impl super::ParameterSet for $set {
            const ALGORITHM: super::Algorithm = super::Algorithm::$algorithm;
            const ROUND: super::Round = super::Round::$round;
            const N: usize = $n;
            const M: usize = $m;
            const O: usize = $o;
            const K: usize = $k;
            const F_TAIL: [u8; 4] = $f;
            const EXPONENTS: &'static [u8] = $exponents;
            const SALT_BYTES: usize = $salt;
            const DIGEST_BYTES: usize = $digest;
            const SECRET_KEY_BYTES: usize = $sk;
            const PUBLIC_KEY_BYTES: usize = $pk;
            const SIGNATURE_BYTES: usize = $sig;
            type SecretKeyBytes = [u8; $sk];
            type PublicKeyBytes = [u8; $pk];
            type SignatureBytes = [u8; $sig];
            type DigestBytes = [u8; $digest];
        }

        // The published sizes follow from the parameters. The code of the scheme relies on the
        // other conditions.
        const _: () = {
            use super::ParameterSet as P;
            assert!(<$set as P>::PUBLIC_KEY_BYTES == super::PUBLIC_SEED_BYTES + <$set as P>::P3_BYTES);
            assert!($sig == ($n * $k as usize).div_ceil(2) + $salt);
            assert!(<$set as P>::P_BYTES == $p);
            assert!(<$set as P>::EXPONENTS.len() == $k * $k);
            assert!($m % 2 == 0 && $k * $o >= $m && $salt <= $digest);
            // One fold reduces a whipped sum modulo f(z), see scheme/whip.rs.
            assert!(<$set as P>::MAX_EXPONENT + 4 <= $m);
        };
    };
}

/// The parameter sets of round 3 (specification of August 2026): the current MAYO.
pub mod round3 {
    parameter_set! {
        /// MAYO_1, NIST level 1: the smallest public key.
        Mayo1: Mayo1, Three, n 88, m 80, o 8, k 10, f [2, 0, 4, 2], exponents super::exponents::MDS_10,
        salt 24, digest 32, secret key 24, public key 1456, signature 464, p 155_200
    }
    parameter_set! {
        /// MAYO_2, NIST level 1: the smallest signature, the fastest verification.
        Mayo2: Mayo2, Three, n 86, m 64, o 13, k 5, f [8, 0, 2, 8], exponents super::exponents::MDS_5,
        salt 24, digest 32, secret key 24, public key 2928, signature 239, p 116_800
    }
    parameter_set! {
        /// MAYO_3, NIST level 3.
        Mayo3: Mayo3, Three, n 118, m 108, o 10, k 11, f [8, 0, 1, 7], exponents super::exponents::MDS_11,
        salt 32, digest 48, secret key 32, public key 2986, signature 681, p 376_164
    }
    parameter_set! {
        /// MAYO_5, NIST level 5.
        Mayo5: Mayo5, Three, n 154, m 142, o 12, k 12, f [4, 0, 8, 1], exponents super::exponents::MDS_12,
        salt 40, digest 64, secret key 40, public key 5554, signature 964, p 841_847
    }
}

/// The parameter sets of round 2 (specification of February 2025), the version of most published
/// figures.
///
/// They do not interoperate with round 3.
#[cfg(feature = "round2")]
pub mod round2 {
    parameter_set! {
        /// Round 2's MAYO_1, NIST level 1.
        Mayo1: Mayo1Round2, Two, n 86, m 78, o 8, k 10, f [8, 1, 1, 0], exponents &super::exponents::counting::<10, 100>(),
        salt 24, digest 32, secret key 24, public key 1420, signature 454, p 144_495
    }
    parameter_set! {
        /// Round 2's MAYO_2. **Broken at its claimed level 1**: the wedge attack takes about 2^113
        /// operations. It is here only for comparison with published figures.
        Mayo2: Mayo2Round2, Two, n 81, m 64, o 17, k 4, f [8, 0, 2, 8], exponents &super::exponents::counting::<4, 16>(),
        salt 24, digest 32, secret key 24, public key 4912, signature 186, p 101_376
    }
    parameter_set! {
        /// Round 2's MAYO_3, NIST level 3.
        Mayo3: Mayo3Round2, Two, n 118, m 108, o 10, k 11, f [8, 0, 1, 7], exponents &super::exponents::counting::<11, 121>(),
        salt 32, digest 48, secret key 32, public key 2986, signature 681, p 376_164
    }
    parameter_set! {
        /// Round 2's MAYO_5, NIST level 5.
        Mayo5: Mayo5Round2, Two, n 154, m 142, o 12, k 12, f [4, 0, 8, 1], exponents &super::exponents::counting::<12, 144>(),
        salt 40, digest 64, secret key 40, public key 5554, signature 964, p 841_847
    }
}

mod exponents {
    /// The exponents of round 2 (docs/mayo.md, The whipped map, 2). They count up from 0 along
    /// i = 0, ..., k-1 and, for each i, along j = k-1 down to i. `KK` is `K * K`.
    #[cfg(feature = "round2")]
    pub(super) const fn counting<const K: usize, const KK: usize>() -> [u8; KK] {
        let mut table = [0; KK];
        let mut i = 0;
        let mut exponent = 0;
        while i < K {
            let mut j = K;
            while j > i {
                j -= 1;
                table[i * K + j] = exponent;
                table[j * K + i] = exponent;
                exponent += 1;
            }
            i += 1;
        }
        table
    }

    // The exponents of round 3 (docs/mayo.md, The whipped map, 3): fixed symmetric tables in which
    // every square submatrix of powers of z has full rank.
    #[rustfmt::skip]
    pub(super) const MDS_5: &[u8] = &[
        11, 13,  3,  4,  6,
        13,  0, 14, 10,  2,
         3, 14,  8,  1,  5,
         4, 10,  1, 12,  9,
         6,  2,  5,  9,  7,
    ];
    #[rustfmt::skip]
    pub(super) const MDS_10: &[u8] = &[
        10, 25,  7, 44, 40, 24, 12, 32,  5, 27,
        25,  6, 45, 50, 19,  0, 11, 14, 37, 52,
         7, 45, 51, 16, 42, 30, 53,  8, 21,  4,
        44, 50, 16, 15, 39, 26, 48, 54, 23, 34,
        40, 19, 42, 39, 22, 33,  1, 35, 41, 18,
        24,  0, 30, 26, 33, 13, 46, 17,  2, 47,
        12, 11, 53, 48,  1, 46, 36, 20, 49, 43,
        32, 14,  8, 54, 35, 17, 20, 38, 29,  9,
         5, 37, 21, 23, 41,  2, 49, 29,  3, 31,
        27, 52,  4, 34, 18, 47, 43,  9, 31, 28,
    ];
    #[rustfmt::skip]
    pub(super) const MDS_11: &[u8] = &[
        35, 13, 39, 32,  4,  7, 40, 14, 43, 62, 64,
        13, 55, 42, 11, 63, 19, 58, 49, 36, 12, 20,
        39, 42,  6, 15, 57, 47, 16, 34, 44, 46, 50,
        32, 11, 15, 18,  5, 21, 28, 10, 51, 24, 31,
         4, 63, 57,  5, 38,  0, 56, 29, 54, 60, 23,
         7, 19, 47, 21,  0, 22, 27, 61,  3, 48,  8,
        40, 58, 16, 28, 56, 27, 37, 45, 30,  1, 17,
        14, 49, 34, 10, 29, 61, 45, 26, 52, 59, 41,
        43, 36, 44, 51, 54,  3, 30, 52, 25,  9,  2,
        62, 12, 46, 24, 60, 48,  1, 59,  9, 53, 65,
        64, 20, 50, 31, 23,  8, 17, 41,  2, 65, 33,
    ];
    #[rustfmt::skip]
    pub(super) const MDS_12: &[u8] = &[
        62, 30, 52, 53, 24,  0, 25, 12, 71, 20, 57, 32,
        30,  7, 37, 55, 43, 70, 31, 47, 35,  9, 69, 15,
        52, 37, 64, 26, 76, 45, 54, 10, 40, 34, 11, 19,
        53, 55, 26, 61, 16, 60,  5, 18, 42, 17,  8, 75,
        24, 43, 76, 16, 41, 27,  6,  2,  4, 51, 68, 38,
         0, 70, 45, 60, 27, 63, 22, 49, 23,  1, 21, 48,
        25, 31, 54,  5,  6, 22, 14, 29, 44, 65, 77, 72,
        12, 47, 10, 18,  2, 49, 29, 58, 67, 59, 39, 56,
        71, 35, 40, 42,  4, 23, 44, 67, 33, 73, 36, 74,
        20,  9, 34, 17, 51,  1, 65, 59, 73, 28, 46,  3,
        57, 69, 11,  8, 68, 21, 77, 39, 36, 46, 50, 13,
        32, 15, 19, 75, 38, 48, 72, 56, 74,  3, 13, 66,
    ];
}
