//! The field GF(16) = GF(2)\[α\] / (α^4 + α + 1), the definition that every kernel is tested
//! against.
//!
//! An element is a nibble, bit i being the coefficient of α^i. A `u64` here is sixteen elements,
//! lowest nibble first, as they lie in packed bytes read little-endian. Nothing branches and
//! nothing is looked up, so operands may be secret.

/// The lowest bit of each of sixteen nibbles.
pub const ONES: u64 = 0x1111_1111_1111_1111;

/// The product of two elements.
pub const fn mul(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut bit = 0;
    while bit < 4 {
        product ^= (a << bit) & 0u8.wrapping_sub(b >> bit & 1);
        bit += 1;
    }
    // α^4 = α + 1 folds the coefficients of α^4, α^5, α^6 onto the low ones.
    let high = product >> 4;
    (product ^ high ^ high << 1) & 15
}

/// The inverse of a non-zero element; zero for zero.
pub const fn inverse(a: u8) -> u8 {
    // a^14, as a^15 = 1.
    let a2 = mul(a, a);
    let a4 = mul(a2, a2);
    mul(mul(a2, a4), mul(a4, a4))
}

/// [`inverse`] of each element, for kernels that look it up in a register.
pub const INVERSE: [u8; 16] = {
    let mut table = [0; 16];
    let mut element = 0;
    while element < 16 {
        table[element as usize] = inverse(element);
        element += 1;
    }
    table
};

/// `1/p + 1`, by the pivot p, for solvers: an entry s of the pivot's row becomes
/// `s + (1/p + 1) s = s/p`. Zero for p = 0, which stands for no pivot.
pub const IN_PIVOT_ROW: [u8; 16] = {
    let mut table = [0; 16];
    let mut pivot = 1;
    while pivot < 16 {
        table[pivot] = INVERSE[pivot] ^ 1;
        pivot += 1;
    }
    table
};

/// α times each of sixteen elements.
#[inline(always)]
pub const fn double(word: u64) -> u64 {
    let carry = word >> 3 & ONES;
    (word & (ONES * 7)) << 1 ^ carry ^ carry << 1
}

/// `word`, `α word`, `α^2 word`, `α^3 word`: what [`mul_word`] combines.
#[inline(always)]
pub const fn multiples(word: u64) -> [u64; 4] {
    let a = double(word);
    let b = double(a);
    [word, a, b, double(b)]
}

/// For each bit of an element, all ones if it is set: what [`mul_word`] selects by.
#[inline(always)]
pub const fn bit_masks(element: u8) -> [u64; 4] {
    let e = element as u64;
    [(e & 1).wrapping_neg(), (e >> 1 & 1).wrapping_neg(), (e >> 2 & 1).wrapping_neg(), (e >> 3 & 1).wrapping_neg()]
}

/// Sixteen elements, given by their [`multiples`], times one element, given by its [`bit_masks`].
#[inline(always)]
pub const fn mul_word(multiples: [u64; 4], masks: [u64; 4]) -> u64 {
    multiples[0] & masks[0] ^ multiples[1] & masks[1] ^ multiples[2] & masks[2] ^ multiples[3] & masks[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schoolbook definition, kept apart from the code above: multiply as polynomials, then
    /// divide.
    fn mul_by_definition(a: u8, b: u8) -> u8 {
        let mut product = (0..4).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ a << bit);
        for degree in (4..7).rev() {
            if product >> degree & 1 == 1 {
                product ^= 0b10011 << (degree - 4);
            }
        }
        product
    }

    #[test]
    fn multiplication_is_the_definition() {
        for a in 0..16 {
            for b in 0..16 {
                assert_eq!(mul(a, b), mul_by_definition(a, b), "{a} * {b}");
            }
        }
    }

    #[test]
    fn inverses_are_inverse() {
        assert_eq!(inverse(0), 0);
        for a in 1..16 {
            assert_eq!(mul_by_definition(a, inverse(a)), 1, "1 / {a}");
        }
    }

    #[test]
    fn words_are_sixteen_elements() {
        let word = 0xfedc_ba98_7654_3210;
        for b in 0..16 {
            let product = mul_word(multiples(word), bit_masks(b));
            for i in 0..16 {
                assert_eq!((product >> (4 * i) & 15) as u8, mul_by_definition(i as u8, b));
            }
        }
    }
}
