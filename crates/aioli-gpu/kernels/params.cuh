// The parameter set, given as macros by src/source.rs, and the sizes that follow from it. Every
// record in device memory begins at a multiple of 16 bytes.
#pragma once
#include "platform.cuh"

constexpr int N = MAYO_N, M = MAYO_M, O = MAYO_O, K = MAYO_K, V = N - O;
// Round 3 has the linear map.
constexpr bool LINEAR = MAYO_LINEAR;
constexpr int SALT_BYTES = MAYO_SALT_BYTES, DIGEST_BYTES = MAYO_DIGEST_BYTES;
constexpr int SECRET_KEY_BYTES = MAYO_SECRET_KEY_BYTES, PUBLIC_KEY_BYTES = MAYO_PUBLIC_KEY_BYTES;
constexpr int SIGNATURE_BYTES = MAYO_SIGNATURE_BYTES;
// Bytes of shared memory that a block may use.
constexpr int SHARED_BYTES = AIOLI_SHARED_BYTES;

// The coefficients of z^0 to z^3 in f(z) - z^m.
FUNCTION u32 f_tail(int i) {
    constexpr u8 f[4] = {MAYO_F_TAIL};
    return f[i];
}
// The whipping exponents e(i, j), which are symmetric.
struct Exponents { u8 e[K * K]; };
FUNCTION Exponents exponents() { return {{MAYO_EXPONENTS}}; }
FUNCTION int max_exponent() {
    int largest = 0;
    for (int i = 0; i < K * K; i++)
        if (exponents().e[i] > largest) largest = exponents().e[i];
    return largest;
}
#ifdef __CUDACC__
__constant__
#else
static const
#endif
Exponents EXPONENTS = exponents();

FUNCTION int divide_up(int a, int b) { return (a + b - 1) / b; }
FUNCTION int stride16(int bytes) { return divide_up(bytes, 16) * 16; }
FUNCTION int least(int a, int b) { return a < b ? a : b; }
FUNCTION int most(int a, int b) { return a > b ? a : b; }

// An m-vector: MB bytes if packed, MW words if it begins at a word. The rest of the last word is
// zero.
constexpr int MB = M / 2, MW = divide_up(MB, 4);
constexpr u32 LAST_WORD = MB % 4 == 0 ? 0xffffffffu : (1u << (8 * (MB % 4))) - 1;
constexpr int P1_BYTES = V * (V + 1) / 2 * MB, P2_BYTES = V * O * MB, P_BYTES = P1_BYTES + P2_BYTES;
constexpr int P3_BYTES = O * (O + 1) / 2 * MB;
constexpr int O_BYTES = divide_up(V * O, 2), V_BYTES = divide_up(V, 2), R_BYTES = divide_up(K * O, 2);
// t and, if the set has the linear map, the key and IV of lambda.
constexpr int TARGET_BYTES = LINEAR ? MB + 32 : MB;
constexpr int SEED_BYTES = 16;

// Bytes from one record to the next.
constexpr int SECRET_KEY_STRIDE = stride16(SECRET_KEY_BYTES), PUBLIC_KEY_STRIDE = stride16(PUBLIC_KEY_BYTES);
constexpr int DIGEST_STRIDE = stride16(DIGEST_BYTES), SALT_STRIDE = stride16(SALT_BYTES);
constexpr int SIGNATURE_STRIDE = stride16(SIGNATURE_BYTES);
constexpr int OIL_STRIDE = stride16(SEED_BYTES + O_BYTES), TARGET_STRIDE = stride16(TARGET_BYTES);
constexpr int VINEGAR_STRIDE = stride16(K * V_BYTES + R_BYTES);

static_assert(M % 2 == 0 && K * O >= M, "shape of the set");
static_assert(SEED_BYTES + P3_BYTES == PUBLIC_KEY_BYTES && divide_up(N * K, 2) + SALT_BYTES == SIGNATURE_BYTES, "sizes");
// aes.cuh has counters of sixteen bits.
static_assert(P_BYTES <= 65536 * 16, "length of the key stream");
