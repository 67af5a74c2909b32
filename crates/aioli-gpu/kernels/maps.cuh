// The kernels that walk through P. Each multiprocessor runs one block of threads, which works on
// one item at a time. The block fills its AES tables once, for all of its items.
//
// Each operation has a matrix `left`: S to verify, V above O^T to sign, O^T for a key. The product
// left * P1 is contracted with `left` once more:
//
//     (A, B)[i][j] = sum over c of A[i][c] B[j][c].
//
// No operation needs more of P1 than (left, left * P1); see docs/gpu.md.
#pragma once
#include "product.cuh"
#include "whip.cuh"

constexpr int BUFFER_WORDS = 2 * BUFFER_BLOCKS * 4;
FUNCTION int lambda_words(int columns) { return LINEAR ? divide_up(columns * MB + 31, 16) * 4 : 0; }

// A number of words, rounded up to whole uint4.
FUNCTION int whole(int words) { return divide_up(words, 4) * 4; }

// Shared memory of a block, in words: tables, keys, buffers, and then the parts that may be secret.
template <int ROWS, int COLUMNS, int SUMS, class A, class B> struct Layout {
    static constexpr int STRIDE = coefficient_stride(ROWS);
    static constexpr int OTHER = 2 * AES_KEY_WORDS + BUFFER_WORDS + lambda_words(most(A::COLUMNS, B::COLUMNS)) +
                                 whole(COLUMNS * STRIDE / 4) + whole(SUMS * MW) +
                                 most(A::ROWS * A::STAGE_STRIDE, B::ROWS * B::STAGE_STRIDE);
    static constexpr int TABLES = tables_beside(OTHER);
    using Cipher = Aes<TABLES>;
    static constexpr int KEY = TABLES * TABLE_WORDS, LINEAR_KEY = KEY + AES_KEY_WORDS;
    static constexpr int BUFFERS = LINEAR_KEY + AES_KEY_WORDS;
    static constexpr int LAMBDA = BUFFERS + BUFFER_WORDS;
    static constexpr int LEFT = LAMBDA + lambda_words(most(A::COLUMNS, B::COLUMNS));
    static constexpr int SUM = LEFT + whole(COLUMNS * STRIDE / 4);
    static constexpr int STAGE = SUM + whole(SUMS * MW);
    static constexpr int WORDS = TABLES * TABLE_WORDS + OTHER;
};

DEVICE void clear_words(u32* words, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = 0;
}

// Prepares the AES key of P1 and P2 from the seed in device memory.
template <class A> DEVICE void prepare_public_map(const A& aes, AesKey* key, const u32* seed) {
    const u32 bytes[4] = {seed[0], seed[1], seed[2], seed[3]}, iv[4] = {0, 0, 0, 0};
    aes.prepare(key, bytes, iv);
}

// Prepares the AES key of lambda, which follows t in `target`.
template <class A> DEVICE void prepare_linear_map(const A& aes, AesKey* key, const u32* target) {
    u32 bytes[4], iv[4];
    UNROLL for (int c = 0; c < 4; c++) {
        bytes[c] = word_at(target, MB + 4 * c);
        iv[c] = word_at(target, MB + 16 + 4 * c);
    }
    aes.prepare(key, bytes, iv);
}

// Adds the m-vectors of a stage to sums[column][row]. The stage begins with column `first`.
template <class P> DEVICE void add_stage(u32* sums, const u32* rows, int first, int columns) {
    for (int i = threadIdx.x; i < P::ROWS * columns * MW; i += THREADS) {
        const int row = i / MW % P::ROWS, column = i / MW / P::ROWS, word = i % MW;
        const u32 value = word_at(rows + row * P::STAGE_STRIDE, column * MB + 4 * word);
        sums[((first + column) * P::ROWS + row) * MW + word] ^= value & (word == MW - 1 ? LAST_WORD : ~0u);
    }
}

namespace keygen {
using P1 = Plan<O, V>;
using P2 = Plan<O, O>;
using L = Layout<O, V, O * O, P1, P2>;
}

// Computes public keys from the results of keygen_seeds. Secret: the O in `oils`.
extern "C" __global__ void __launch_bounds__(THREADS, 1) keygen_map(const u32* oils, u8* public_keys, u32 count) {
    using namespace keygen;
    u32* const shared = (u32*)shared_memory;
    AesKey* const key = (AesKey*)(shared + L::KEY);
    uint4* const buffers = (uint4*)(shared + L::BUFFERS);
    u32 *const left = shared + L::LEFT, *const sums = shared + L::SUM, *const stage = shared + L::STAGE;
    const L::Cipher aes(shared);
    aes_tables<L::TABLES>(shared);
    int phase = 0;
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        __syncthreads();
        const u32* const seeds = oils + item * (u64)(OIL_STRIDE / 4);
        const u8* const oil = (const u8*)seeds + SEED_BYTES;
        put_coefficients(left, V, O, [=](int c, int i) { return element_at(oil, c * O + i); });
        clear_words(sums, O * O * MW);
        if (threadIdx.x == 0) prepare_public_map(aes, key, seeds);
        __syncthreads();
        const KeyStream<L::Cipher> stream = {aes, key};
        // (O^T, O^T P1).
        for (int first = 0; first < V; first += P1::STAGES * P1::COLUMNS) {
            const int end = least(V, first + P1::STAGES * P1::COLUMNS);
            Sums<P1> s;
            s.clear();
            add_product<P1>(s, stream, Matrix<true>{0, V, V}, first, end, left, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                __syncthreads();
                put_stage(s, j, stage);
                const u32* const coefficients = left + column * L::STRIDE / 4;
                add_contraction<P1, O, O>(sums, stage, P1::STAGE_STRIDE, 0, columns, coefficients, L::STRIDE);
            }
        }
        // O^T P2.
        Sums<P2> s;
        s.clear();
        static_assert(P2::TILES == 1, "P2 is narrow");
        add_product<P2>(s, stream, Matrix<false>{P1_BYTES, V, O}, 0, O, left, L::STRIDE, buffers, phase);
        for (int j = 0; j < P2::STAGES; j++) {
            __syncthreads();
            put_stage(s, j, stage);
            add_stage<P2>(sums, stage, j * P2::COLUMNS, least(P2::COLUMNS, O - j * P2::COLUMNS));
        }
        __syncthreads();
        // P3 = Upper(sum): the entries below the diagonal are added to those above it.
        u8* const public_key = public_keys + item * (u64)PUBLIC_KEY_STRIDE;
        for (int i = threadIdx.x; i < SEED_BYTES; i += THREADS) public_key[i] = ((const u8*)seeds)[i];
        for (int i = threadIdx.x; i < O * O * MB; i += THREADS) {
            const int a = i / (O * MB), b = i / MB % O, byte = i % MB;
            if (a > b) continue;
            u8 value = ((const u8*)(sums + (a * O + b) * MW))[byte];
            if (a != b) value ^= ((const u8*)(sums + (b * O + a) * MW))[byte];
            public_key[SEED_BYTES + (a * O - a * (a - 1) / 2 + b - a) * MB + byte] = value;
        }
    }
    __syncthreads();
    clear_words(left, L::WORDS - L::LEFT);
}

namespace signing {
constexpr int ROWS = K + O;
// The products that sign_map leaves for sign_solve, by the m-vector (of MW words) at which each
// group begins: (v_j, v_i P1) and Lambda(v_i); M_i; the linear part of A.
constexpr int VINEGAR = 0, MATRICES = K * (K + 1), OIL_LINEAR = MATRICES + K * O, VECTORS = OIL_LINEAR + O;
constexpr int PRODUCT_WORDS = divide_up(VECTORS * MW, 4) * 4;
using P1 = Plan<ROWS, V>;
using P2 = Plan<K, O>;
// The upper sums are (left, V P1) and (left, lambda), the lower sums (V, O^T P1).
constexpr int UPPER_SUMS = (K + 1) * ROWS, LOWER_SUMS = O * K;
using L = Layout<ROWS, V, UPPER_SUMS + LOWER_SUMS, P1, P2>;
}

// Writes the products of an item, with
//
//     M[i][l] = (V P2)[i][l] + (V, O^T P1)[i][l] + (O^T, V P1)[l][i]
//
// and the linear part lambda_oil + O^T lambda_vinegar. lambda_oil begins `shift` bytes after its
// address.
DEVICE void write_products(u32* products, const u32* upper, const u32* lower, const u32* lambda_oil, int shift) {
    using namespace signing;
    for (int w = threadIdx.x; w < VECTORS * MW; w += THREADS) {
        const int vector = w / MW, word = w % MW;
        u32 value;
        if (vector < MATRICES) {
            value = upper[(vector / K * ROWS + vector % K) * MW + word];
        } else if (vector < OIL_LINEAR) {
            const int i = (vector - MATRICES) / O, l = (vector - MATRICES) % O;
            value = lower[(l * K + i) * MW + word] ^ upper[(i * ROWS + K + l) * MW + word];
        } else {
            const int l = vector - OIL_LINEAR;
            value = upper[(K * ROWS + K + l) * MW + word];
            if (LINEAR) value ^= word_at(lambda_oil, shift + l * MB + 4 * word) & (word == MW - 1 ? LAST_WORD : ~0u);
        }
        products[w] = value;
    }
}

// Computes the products of the items of `list` (of all items if it is null) from O and the vinegar:
// (v_j, v_i P1) and Lambda(v_i), in rows of K; the matrices M_i; lambda_oil + O^T lambda_vinegar.
//
// Secret: everything but the seed of P and the targets.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
sign_map(const u32* list, const u32* oils, const u32* vinegars, const u32* targets, u32* products, u32 count) {
    using namespace signing;
    u32* const shared = (u32*)shared_memory;
    AesKey *const key = (AesKey*)(shared + L::KEY), *const linear_key = (AesKey*)(shared + L::LINEAR_KEY);
    uint4 *const buffers = (uint4*)(shared + L::BUFFERS), *const lambda = (uint4*)(shared + L::LAMBDA);
    u32 *const left = shared + L::LEFT, *const stage = shared + L::STAGE;
    u32 *const upper = shared + L::SUM, *const lower = upper + UPPER_SUMS * MW;
    const L::Cipher aes(shared);
    aes_tables<L::TABLES>(shared);
    int phase = 0;
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        const u64 item = list ? list[i] : i;
        __syncthreads();
        const u32 *const seeds = oils + item * (OIL_STRIDE / 4), *const target = targets + item * (TARGET_STRIDE / 4);
        const u8* const oil = (const u8*)seeds + SEED_BYTES;
        const u8* const vinegar = (const u8*)(vinegars + item * (VINEGAR_STRIDE / 4));
        put_coefficients(left, V, ROWS, [=](int c, int row) {
            return row < K ? element_at(vinegar + row * V_BYTES, c) : element_at(oil, c * O + row - K);
        });
        clear_words(upper, (UPPER_SUMS + LOWER_SUMS) * MW);
        if (threadIdx.x == 0) prepare_public_map(aes, key, seeds);
        if (LINEAR && threadIdx.x == LANES) prepare_linear_map(aes, linear_key, target);
        __syncthreads();
        const KeyStream<L::Cipher> stream = {aes, key};
        for (int first = 0; first < V; first += P1::STAGES * P1::COLUMNS) {
            const int end = least(V, first + P1::STAGES * P1::COLUMNS);
            Sums<P1> s;
            s.clear();
            add_product<P1>(s, stream, Matrix<true>{0, V, V}, first, end, left, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                if (columns <= 0) break;
                const u32* const coefficients = left + column * L::STRIDE / 4;
                __syncthreads();
                const int shift = LINEAR ? put_lambda(aes, linear_key, column, column + columns, lambda) : 0;
                put_stage(s, j, stage);
                add_contraction<P1, ROWS, K>(upper, stage, P1::STAGE_STRIDE, 0, columns, coefficients, L::STRIDE);
                add_contraction<P1, K, O>(
                    lower, stage + K * P1::STAGE_STRIDE, P1::STAGE_STRIDE, 0, columns, coefficients, L::STRIDE
                );
                if (LINEAR)
                    add_contraction<P1, ROWS, 1>(
                        upper + K * ROWS * MW, (const u32*)lambda, 0, shift, columns, coefficients, L::STRIDE
                    );
            }
        }
        // Adds V P2 to (V, O^T P1).
        Sums<P2> s;
        s.clear();
        static_assert(P2::TILES == 1, "P2 is narrow");
        add_product<P2>(s, stream, Matrix<false>{P1_BYTES, V, O}, 0, O, left, L::STRIDE, buffers, phase);
        for (int j = 0; j < P2::STAGES; j++) {
            __syncthreads();
            put_stage(s, j, stage);
            add_stage<P2>(lower, stage, j * P2::COLUMNS, least(P2::COLUMNS, O - j * P2::COLUMNS));
        }
        __syncthreads();
        const int shift = LINEAR ? put_lambda(aes, linear_key, V, N, buffers) : 0;
        __syncthreads();
        write_products(products + item * PRODUCT_WORDS, upper, lower, (const u32*)buffers, shift);
    }
    __syncthreads();
    clear_words(left, L::WORDS - L::LEFT);
}

namespace verifying {
using P1 = Plan<K, V>;
using P2 = Plan<K, O>;
constexpr int SUMS = (K + 1) * K;
// One or two more vectors hold the sum of whipping and the verdict.
constexpr int WIDE_VECTORS = divide_up(WIDE + 1, MW);
using L = Layout<K, N, SUMS + WIDE_VECTORS, P1, P2>;
}

// Contracts a stage of S P, and the part of lambda in the same columns, with S.
template <class P>
DEVICE void contract_stage(
    const Sums<P>& s, int j, int column, int columns, const verifying::L::Cipher& aes, const AesKey* linear_key,
    uint4* lambda, u32* stage, u32* sums, const u32* left
) {
    constexpr int STRIDE = verifying::L::STRIDE;
    const u32* const coefficients = left + column * STRIDE / 4;
    __syncthreads();
    const int shift = LINEAR ? put_lambda(aes, linear_key, column, column + columns, lambda) : 0;
    put_stage(s, j, stage);
    add_contraction<P, K, K>(sums, stage, P::STAGE_STRIDE, 0, columns, coefficients, STRIDE);
    if (LINEAR) add_contraction<P, K, 1>(sums + K * K * MW, (const u32*)lambda, 0, shift, columns, coefficients, STRIDE);
}

// Sets valid[i] to 1 if signature i satisfies W(s) = t, else to 0. With EXPANDED, all signatures
// have one public key, whose P1 and P2 are in `expanded`.
template <bool EXPANDED>
DEVICE void verify(
    const u8* public_keys, const uint4* expanded, const u8* signatures, const u32* targets, u32* valid, u32 count
) {
    using namespace verifying;
    u32* const shared = (u32*)shared_memory;
    AesKey *const key = (AesKey*)(shared + L::KEY), *const linear_key = (AesKey*)(shared + L::LINEAR_KEY);
    uint4 *const buffers = (uint4*)(shared + L::BUFFERS), *const lambda = (uint4*)(shared + L::LAMBDA);
    u32 *const left = shared + L::LEFT, *const sums = shared + L::SUM, *const stage = shared + L::STAGE;
    u32 *const wide = sums + SUMS * MW, *const differs = wide + WIDE;
    const L::Cipher aes(shared);
    aes_tables<L::TABLES>(shared);
    int phase = 0;
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        __syncthreads();
        const u8* const signature = signatures + item * (u64)SIGNATURE_STRIDE;
        const u32* const target = targets + item * (u64)(TARGET_STRIDE / 4);
        const u8* const public_key = public_keys + (EXPANDED ? 0 : item * (u64)PUBLIC_KEY_STRIDE);
        put_coefficients(left, N, K, [=](int c, int i) { return element_at(signature, i * N + c); });
        clear_words(sums, (SUMS + WIDE_VECTORS) * MW);
        if (!EXPANDED && threadIdx.x == 0) prepare_public_map(aes, key, (const u32*)public_key);
        if (LINEAR && threadIdx.x == LANES) prepare_linear_map(aes, linear_key, target);
        __syncthreads();
        const KeyStream<L::Cipher> stream = {aes, key};
        const DeviceMemory stored = {expanded}, p3 = {(const uint4*)public_key};
        for (int first = 0; first < V; first += P1::STAGES * P1::COLUMNS) {
            const int end = least(V, first + P1::STAGES * P1::COLUMNS);
            const Matrix<true> p1 = {0, V, V};
            Sums<P1> s;
            s.clear();
            if constexpr (EXPANDED) add_product<P1>(s, stored, p1, first, end, left, L::STRIDE, buffers, phase);
            else add_product<P1>(s, stream, p1, first, end, left, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                if (columns <= 0) break;
                contract_stage(s, j, column, columns, aes, linear_key, lambda, stage, sums, left);
            }
        }
        // The columns of the oil variables hold P2 and, below it, P3.
        static_assert(P2::TILES == 1, "P2 is narrow");
        const Matrix<false> p2 = {P1_BYTES, V, O};
        Sums<P2> s;
        s.clear();
        if constexpr (EXPANDED) add_product<P2>(s, stored, p2, 0, O, left, L::STRIDE, buffers, phase);
        else add_product<P2>(s, stream, p2, 0, O, left, L::STRIDE, buffers, phase);
        add_product<P2>(
            s, p3, Matrix<true>{SEED_BYTES, O, O}, 0, O, left + V * L::STRIDE / 4, L::STRIDE, buffers, phase
        );
        for (int j = 0; j < P2::STAGES; j++) {
            const int column = j * P2::COLUMNS, columns = least(P2::COLUMNS, O - column);
            if (columns <= 0) break;
            contract_stage(s, j, V + column, columns, aes, linear_key, lambda, stage, sums, left);
        }
        __syncthreads();
        add_whipped(wide, sums, K);
        __syncthreads();
        for (int p = threadIdx.x; p < MW; p += THREADS) {
            const u32 t = word_at(target, 4 * p) & (p == MW - 1 ? LAST_WORD : ~0u);
            atomicOr(differs, reduced_word(wide, p) ^ t);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            // If N K is odd, the last nibble holds no element, and must be zero.
            const bool padded = N * K % 2 == 1 && signature[N * K / 2] >> 4 != 0;
            valid[item] = *differs == 0 && !padded;
        }
    }
}

// Verifies signatures, each with its own key.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
verify_map(const u8* public_keys, const u8* signatures, const u32* targets, u32* valid, u32 count) {
    verify<false>(public_keys, nullptr, signatures, targets, valid, count);
}

// Verifies signatures under one key, which expand_map has expanded.
extern "C" __global__ void __launch_bounds__(THREADS, 1) verify_expanded_map(
    const u8* public_key, const uint4* expanded, const u8* signatures, const u32* targets, u32* valid, u32 count
) {
    verify<true>(public_key, expanded, signatures, targets, valid, count);
}

namespace expanding {
constexpr int TABLES = tables_beside(AES_KEY_WORDS), WORDS = TABLES * TABLE_WORDS + AES_KEY_WORDS;
}

// Expands P1 and P2 of a public key, in whole blocks.
extern "C" __global__ void __launch_bounds__(THREADS, 1) expand_map(const u8* public_key, uint4* expanded) {
    u32* const shared = (u32*)shared_memory;
    using expanding::TABLES;
    AesKey* const key = (AesKey*)(shared + TABLES * TABLE_WORDS);
    const Aes<TABLES> aes(shared);
    aes_tables<TABLES>(shared);
    __syncthreads();
    if (threadIdx.x == 0) prepare_public_map(aes, key, (const u32*)public_key);
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < divide_up(P_BYTES, 16); i += gridDim.x * THREADS)
        expanded[i] = aes.block(key, (u32)i);
}
