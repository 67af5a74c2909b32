// Arithmetic in GF(16) = GF(2)[x] / (x^4 + x + 1), on words of eight elements, lowest nibble first,
// without branches and look-ups.
#pragma once
#include "params.cuh"

// The multiples of a word by 1, x, x^2, x^3.
struct Multiples { u32 m[4]; };

DEVICE u32 times_x(u32 word) {
    const u32 carry = (word >> 3) & 0x11111111u;
    return ((word << 1) & 0xeeeeeeeeu) ^ (carry * 3);
}

DEVICE Multiples multiples(u32 word) {
    Multiples result;
    result.m[0] = word;
    result.m[1] = times_x(result.m[0]);
    result.m[2] = times_x(result.m[1]);
    result.m[3] = times_x(result.m[2]);
    return result;
}

// A mask for each bit of an element: all ones if the bit is set, else zero.
struct Masks { u32 m[4]; };

DEVICE Masks masks(u32 element) {
    return {{0u - (element & 1), 0u - ((element >> 1) & 1), 0u - ((element >> 2) & 1), 0u - ((element >> 3) & 1)}};
}

// The eight elements of a word times one element.
DEVICE u32 product(const Multiples& word, const Masks& element) {
    return (word.m[0] & element.m[0]) ^ (word.m[1] & element.m[1]) ^ (word.m[2] & element.m[2]) ^
           (word.m[3] & element.m[3]);
}

// The product of two elements, which are in the lowest nibbles.
DEVICE u32 element_product(u32 a, u32 b) {
    u32 sum = 0;
    UNROLL for (int bit = 0; bit < 4; bit++) sum ^= (a << bit) & (0u - ((b >> bit) & 1));
    const u32 high = sum >> 4;
    return (sum ^ high ^ (high << 1)) & 15;
}

// a^14, which is the inverse of a, or zero for zero.
DEVICE u32 element_inverse(u32 a) {
    const u32 a2 = element_product(a, a), a4 = element_product(a2, a2);
    return element_product(element_product(a2, a4), element_product(a4, a4));
}

// The element at `index` of packed elements.
DEVICE u32 element_at(const u8* packed, int index) { return (packed[index / 2] >> (4 * (index & 1))) & 15; }

// The word that begins at any byte of shared or device memory.
DEVICE u32 word_at(const u32* words, int byte) {
    const u32 low = words[byte >> 2];
    // If m-vectors are whole words, every such byte is aligned.
    if (MB % 4 == 0) return low;
    return __funnelshift_r(low, words[(byte >> 2) + 1], 8 * (byte & 3));
}
