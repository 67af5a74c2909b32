// Whipping: sums of z^e times m-vectors in GF(16)[z] / f(z). An m-vector is a polynomial in z,
// lowest coefficient first, so z^e times it is a shift by e nibbles. The shifted vectors are added
// into a longer sum, which one fold reduces at the end. The exponents are public.
#pragma once
#include "field.cuh"

// Words of a sum before reduction.
constexpr int WIDE = divide_up(M + max_exponent(), 8);
// The coefficients from z^m upwards, times the tail of degree 3, stay below z^m.
static_assert(max_exponent() + 4 <= M, "one fold is enough");

// Word `p` of z^e times the vector.
DEVICE u32 shifted_word(const u32* vector, int p, int e) {
    const int at = p - e / 8;
    const u32 here = at >= 0 && at < MW ? vector[at] : 0, below = at >= 1 && at <= MW ? vector[at - 1] : 0;
    return __funnelshift_l(below, here, 4 * (e & 7));
}

DEVICE u32 times_constant(u32 word, u32 constant) { return product(multiples(word), masks(constant)); }

// The eight coefficients from z^(m + 8 p) on.
DEVICE u32 above(const u32* wide, int p) {
    const int at = M / 8 + p;
    const u32 low = p >= 0 && at < WIDE ? wide[at] : 0, high = p >= 0 && at + 1 < WIDE ? wide[at + 1] : 0;
    return p < 0 ? 0 : __funnelshift_r(low, high, 4 * (M & 7));
}

// Word `p` of the remainder of a sum modulo f.
DEVICE u32 reduced_word(const u32* wide, int p) {
    u32 word = wide[p];
    const u32 below = above(wide, p - 1), here = above(wide, p);
    UNROLL for (int d = 0; d < 4; d++) word ^= times_constant(__funnelshift_l(below, here, 4 * d), f_tail(d));
    return word & (p == MW - 1 ? LAST_WORD : ~0u);
}

// Adds W to the zeroed sum `wide`:
//
//     sum over i, j < K of z^e(i, j) products[j][i],
//
// and with the linear map also the sum over i < K of z^e(i, 0) products[K][i]. A row of `products`
// has `rows` m-vectors; row K is Lambda of each vector.
DEVICE void add_whipped(u32* wide, const u32* products, int rows) {
    const int groups = blockDim.x / WIDE, p = threadIdx.x % WIDE, group = threadIdx.x / WIDE;
    if (group >= groups) return;
    u32 sum = 0;
    for (int term = group; term < K * (LINEAR ? K + 1 : K); term += groups) {
        const int j = term / K, i = term % K;
        sum ^= shifted_word(products + (j * rows + i) * MW, p, EXPONENTS.e[i * K + (j < K ? j : 0)]);
    }
    atomicXor(wide + p, sum);
}
