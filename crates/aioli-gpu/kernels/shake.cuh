// SHAKE256 in one thread, with the state in registers: the compiler knows the lengths of inputs and
// outputs, so every index into the state is a constant.
#pragma once
#include "params.cuh"

constexpr int RATE = 136;

struct RoundConstants { u64 c[24]; };
// The bits of the round constants come from the shift register x^8 + x^6 + x^5 + x^4 + 1.
FUNCTION RoundConstants round_constants() {
    RoundConstants constants = {};
    u32 lfsr = 1;
    for (int round = 0; round < 24; round++)
        for (int j = 0; j < 7; j++) {
            if (lfsr & 1) constants.c[round] |= 1ull << ((1 << j) - 1);
            lfsr = (lfsr << 1) ^ (lfsr & 0x80 ? 0x171 : 0);
        }
    return constants;
}
#ifdef __CUDACC__
__constant__
#else
static const
#endif
RoundConstants ROUND_CONSTANTS = round_constants();

DEVICE u64 rotate64(u64 word, int by) { return by == 0 ? word : (word << by) | (word >> (64 - by)); }

// The rotations of rho, for lane x + 5 y.
struct Offsets { int r[25]; };
FUNCTION Offsets rho_offsets() {
    Offsets offsets = {};
    int x = 1, y = 0;
    for (int t = 0; t < 24; t++) {
        offsets.r[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        const int next = (2 * x + 3 * y) % 5;
        x = y;
        y = next;
    }
    return offsets;
}

DEVICE void keccak(u64 (&a)[25]) {
    constexpr Offsets offsets = rho_offsets();
    for (int round = 0; round < 24; round++) {
        u64 c[5], b[25];
        UNROLL for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        UNROLL for (int x = 0; x < 5; x++) {
            const u64 d = c[(x + 4) % 5] ^ rotate64(c[(x + 1) % 5], 1);
            UNROLL for (int y = 0; y < 5; y++)
                b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate64(a[x + 5 * y] ^ d, offsets.r[x + 5 * y]);
        }
        UNROLL for (int i = 0; i < 25; i++) a[i] = b[i] ^ (~b[i / 5 * 5 + (i + 1) % 5] & b[i / 5 * 5 + (i + 2) % 5]);
        a[0] ^= ROUND_CONSTANTS.c[round];
    }
}

// The input: up to four runs of bytes, one after another.
template <int A, int B = 0, int C = 0, int D = 0> struct Input {
    static constexpr int LENGTH = A + B + C + D;
    const u8 *a, *b, *c;
    u8 d;

    // Byte `i` of the input or, after its end, of the padding of SHAKE.
    DEVICE u64 byte(int i) const {
        static_assert(D <= 1, "the last part is a byte");
        if (i < A) return a[i];
        if (i < A + B) return b[i - A];
        if (i < A + B + C) return c[i - A - B];
        if (i < LENGTH) return d;
        return (i == LENGTH ? 0x1f : 0) ^ (i == (LENGTH / RATE + 1) * RATE - 1 ? 0x80 : 0);
    }
};

// Writes the first OUT bytes of output. `out` has room for them in whole words.
template <int OUT, class In> DEVICE void shake256(const In& in, u32* out) {
    u64 a[25];
    UNROLL for (int i = 0; i < 25; i++) a[i] = 0;
    UNROLL for (int block = 0; block <= In::LENGTH / RATE; block++) {
        UNROLL for (int lane = 0; lane < RATE / 8; lane++)
            UNROLL for (int i = 0; i < 8; i++) a[lane] ^= in.byte(block * RATE + lane * 8 + i) << (8 * i);
        keccak(a);
    }
    for (int block = 0;; block++) {
        UNROLL for (int lane = 0; lane < RATE / 8; lane++) {
            const int word = block * (RATE / 4) + 2 * lane;
            if (word < divide_up(OUT, 4)) out[word] = (u32)a[lane];
            if (word + 1 < divide_up(OUT, 4)) out[word + 1] = (u32)(a[lane] >> 32);
        }
        if ((block + 1) * RATE >= OUT) return;
        keccak(a);
    }
}
