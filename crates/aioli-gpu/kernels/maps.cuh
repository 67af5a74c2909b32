// The kernels that walk through P: one block of threads for each scheme, one block on a multiprocessor, its AES tables
// filled once for all the schemes that it works on.
//
// With X = S, V above O^T or O^T and R = X P1, a row of R is multiplied by X once more: (X, R)[i][j] = sum over c of
// X[i][c] R[j][c]. That is all that any of the three operations asks of P1 (docs/gpu.md).
#pragma once
#include "product.cuh"
#include "whip.cuh"

constexpr int BUFFER_WORDS = 2 * BUFFER_BLOCKS * 4;
FUNCTION int lambda_words(int columns) { return LINEAR ? divide_up(columns * MB + 31, 16) * 4 : 0; }

// Words up to the next uint4.
FUNCTION int whole(int words) { return divide_up(words, 4) * 4; }

// What the kernels keep in shared memory, in words: tables, keys, buffers, then what may be secret.
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
    static constexpr int X = LAMBDA + lambda_words(most(A::COLUMNS, B::COLUMNS));
    static constexpr int SUM = X + whole(COLUMNS * STRIDE / 4);
    static constexpr int STAGE = SUM + whole(SUMS * MW);
    static constexpr int WORDS = TABLES * TABLE_WORDS + OTHER;
};

DEVICE void clear_words(u32* words, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = 0;
}

// Prepares the key of P1 and P2, whose bytes are words of device memory.
template <class A> DEVICE void prepare_public_map(const A& aes, AesKey* key, const u32* seed) {
    const u32 bytes[4] = {seed[0], seed[1], seed[2], seed[3]}, iv[4] = {0, 0, 0, 0};
    aes.prepare(key, bytes, iv);
}

// Prepares the key of lambda.
template <class A> DEVICE void prepare_linear_map(const A& aes, AesKey* key, const u32* target) {
    u32 bytes[4], iv[4];
    UNROLL for (int c = 0; c < 4; c++) {
        bytes[c] = word_at(target, MB + 4 * c);
        iv[c] = word_at(target, MB + 16 + 4 * c);
    }
    aes.prepare(key, bytes, iv);
}

// Adds the m-vectors in a stage, `first` being the column that it begins with, to sums[column][row].
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

// Public keys from what keygen_seeds computed.
extern "C" __global__ void __launch_bounds__(THREADS, 1) keygen_map(const u32* oils, u8* public_keys, u32 count) {
    using namespace keygen;
    u32* const shared = (u32*)shared_memory;
    AesKey* const key = (AesKey*)(shared + L::KEY);
    uint4* const buffers = (uint4*)(shared + L::BUFFERS);
    u32 *const x = shared + L::X, *const sums = shared + L::SUM, *const stage = shared + L::STAGE;
    const L::Cipher aes(shared);
    aes_tables<L::TABLES>(shared);
    int phase = 0;
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        __syncthreads();
        const u32* const seeds = oils + item * (u64)(OIL_STRIDE / 4);
        const u8* const oil = (const u8*)seeds + SEED_BYTES;
        put_coefficients(x, V, O, [=](int c, int r) { return element_at(oil, c * O + r); });
        clear_words(sums, O * O * MW);
        if (threadIdx.x == 0) prepare_public_map(aes, key, seeds);
        __syncthreads();
        const KeyStream<L::Cipher> stream = {aes, key};
        // (O^T, O^T P1).
        for (int first = 0; first < V; first += P1::STAGES * P1::COLUMNS) {
            const int end = least(V, first + P1::STAGES * P1::COLUMNS);
            Sums<P1> s;
            s.clear();
            add_product<P1>(s, stream, Matrix<true>{0, V, V}, first, end, x, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                __syncthreads();
                put_stage(s, j, stage);
                add_contraction<P1, O, O>(sums, stage, P1::STAGE_STRIDE, 0, columns, x + column * L::STRIDE / 4, L::STRIDE);
            }
        }
        // O^T P2.
        Sums<P2> s;
        s.clear();
        static_assert(P2::TILES == 1, "P2 is narrow");
        add_product<P2>(s, stream, Matrix<false>{P1_BYTES, V, O}, 0, O, x, L::STRIDE, buffers, phase);
        for (int j = 0; j < P2::STAGES; j++) {
            __syncthreads();
            put_stage(s, j, stage);
            add_stage<P2>(sums, stage, j * P2::COLUMNS, least(P2::COLUMNS, O - j * P2::COLUMNS));
        }
        __syncthreads();
        // P3 is the upper triangle of the sum with what stands below the diagonal added onto it.
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
    clear_words(x, L::WORDS - L::X);
}

// What sign_map leaves for sign_solve: m-vectors of MW words.
namespace signing {
constexpr int ROWS = K + O;
constexpr int PRODUCTS = 0, MATRICES = K * (K + 1), OIL_LINEAR = MATRICES + K * O, VECTORS = OIL_LINEAR + O;
constexpr int RECORD_WORDS = divide_up(VECTORS * MW, 4) * 4;
using P1 = Plan<ROWS, V>;
using P2 = Plan<K, O>;
// (X, V P1) and (X, lambda); (V, O^T P1).
constexpr int UPPER_SUMS = (K + 1) * ROWS, LOWER_SUMS = O * K;
using L = Layout<ROWS, V, UPPER_SUMS + LOWER_SUMS, P1, P2>;
}

// For the items of `list` (all, if it is null): from O and the vinegar the products (v_j, v_i P1) and Lambda(v_i) in rows
// of K, the matrices M_i, and lambda_oil + O^T lambda_vinegar. Secret: everything but the seed of P and the targets.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
sign_map(const u32* list, const u32* oils, const u32* vinegars, const u32* targets, u32* records, u32 count) {
    using namespace signing;
    u32* const shared = (u32*)shared_memory;
    AesKey *const key = (AesKey*)(shared + L::KEY), *const linear_key = (AesKey*)(shared + L::LINEAR_KEY);
    uint4 *const buffers = (uint4*)(shared + L::BUFFERS), *const lambda = (uint4*)(shared + L::LAMBDA);
    u32 *const x = shared + L::X, *const stage = shared + L::STAGE;
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
        put_coefficients(x, V, ROWS, [=](int c, int r) {
            return r < K ? element_at(vinegar + r * V_BYTES, c) : element_at(oil, c * O + r - K);
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
            add_product<P1>(s, stream, Matrix<true>{0, V, V}, first, end, x, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                if (columns <= 0) break;
                const u32* const coefficients = x + column * L::STRIDE / 4;
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
        // V P2 onto (V, O^T P1).
        Sums<P2> s;
        s.clear();
        static_assert(P2::TILES == 1, "P2 is narrow");
        add_product<P2>(s, stream, Matrix<false>{P1_BYTES, V, O}, 0, O, x, L::STRIDE, buffers, phase);
        for (int j = 0; j < P2::STAGES; j++) {
            __syncthreads();
            put_stage(s, j, stage);
            add_stage<P2>(lower, stage, j * P2::COLUMNS, least(P2::COLUMNS, O - j * P2::COLUMNS));
        }
        __syncthreads();
        const int shift = LINEAR ? put_lambda(aes, linear_key, V, N, buffers) : 0;
        __syncthreads();
        u32* const record = records + item * RECORD_WORDS;
        for (int w = threadIdx.x; w < VECTORS * MW; w += THREADS) {
            const int vector = w / MW, word = w % MW;
            u32 value;
            if (vector < MATRICES) {
                value = upper[(vector / K * ROWS + vector % K) * MW + word];
            } else if (vector < OIL_LINEAR) {
                const int r = (vector - MATRICES) / O, l = (vector - MATRICES) % O;
                value = lower[(l * K + r) * MW + word] ^ upper[(r * ROWS + K + l) * MW + word];
            } else {
                const int l = vector - OIL_LINEAR;
                value = upper[(K * ROWS + K + l) * MW + word];
                if (LINEAR)
                    value ^= word_at((const u32*)buffers, shift + l * MB + 4 * word) & (word == MW - 1 ? LAST_WORD : ~0u);
            }
            record[w] = value;
        }
    }
    __syncthreads();
    clear_words(x, L::WORDS - L::X);
}

namespace verifying {
using P1 = Plan<K, V>;
using P2 = Plan<K, O>;
constexpr int SUMS = (K + 1) * K;
// And, as one more vector or two, the sum that whipping makes and the verdict.
constexpr int WIDE_VECTORS = divide_up(WIDE + 1, MW);
using L = Layout<K, N, SUMS + WIDE_VECTORS, P1, P2>;
}

// A stage of S P, and of lambda with it, multiplied by S.
template <class P>
DEVICE void contract_stage(
    const Sums<P>& s, int j, int column, int columns, const verifying::L::Cipher& aes, const AesKey* linear_key,
    uint4* lambda, u32* stage, u32* sums, const u32* x
) {
    constexpr int STRIDE = verifying::L::STRIDE;
    const u32* const coefficients = x + column * STRIDE / 4;
    __syncthreads();
    const int shift = LINEAR ? put_lambda(aes, linear_key, column, column + columns, lambda) : 0;
    put_stage(s, j, stage);
    add_contraction<P, K, K>(sums, stage, P::STAGE_STRIDE, 0, columns, coefficients, STRIDE);
    if (LINEAR) add_contraction<P, K, 1>(sums + K * K * MW, (const u32*)lambda, 0, shift, columns, coefficients, STRIDE);
}

// Whether signatures satisfy W(s) = t. With EXPANDED there is one public key, and P1 and P2 of it are in `expanded`.
template <bool EXPANDED>
DEVICE void verify(
    const u8* public_keys, const uint4* expanded, const u8* signatures, const u32* targets, u32* valid, u32 count
) {
    using namespace verifying;
    u32* const shared = (u32*)shared_memory;
    AesKey *const key = (AesKey*)(shared + L::KEY), *const linear_key = (AesKey*)(shared + L::LINEAR_KEY);
    uint4 *const buffers = (uint4*)(shared + L::BUFFERS), *const lambda = (uint4*)(shared + L::LAMBDA);
    u32 *const x = shared + L::X, *const sums = shared + L::SUM, *const stage = shared + L::STAGE;
    u32 *const wide = sums + SUMS * MW, *const differs = wide + WIDE;
    const L::Cipher aes(shared);
    aes_tables<L::TABLES>(shared);
    int phase = 0;
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        __syncthreads();
        const u8* const signature = signatures + item * (u64)SIGNATURE_STRIDE;
        const u32* const target = targets + item * (u64)(TARGET_STRIDE / 4);
        const u8* const public_key = public_keys + (EXPANDED ? 0 : item * (u64)PUBLIC_KEY_STRIDE);
        put_coefficients(x, N, K, [=](int c, int r) { return element_at(signature, r * N + c); });
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
            if constexpr (EXPANDED) add_product<P1>(s, stored, p1, first, end, x, L::STRIDE, buffers, phase);
            else add_product<P1>(s, stream, p1, first, end, x, L::STRIDE, buffers, phase);
            for (int j = 0; j < P1::STAGES; j++) {
                const int column = first + j * P1::COLUMNS, columns = least(P1::COLUMNS, end - column);
                if (columns <= 0) break;
                contract_stage(s, j, column, columns, aes, linear_key, lambda, stage, sums, x);
            }
        }
        // The columns of the oil variables: P2, and P3 below it.
        static_assert(P2::TILES == 1, "P2 is narrow");
        const Matrix<false> p2 = {P1_BYTES, V, O};
        Sums<P2> s;
        s.clear();
        if constexpr (EXPANDED) add_product<P2>(s, stored, p2, 0, O, x, L::STRIDE, buffers, phase);
        else add_product<P2>(s, stream, p2, 0, O, x, L::STRIDE, buffers, phase);
        add_product<P2>(
            s, p3, Matrix<true>{SEED_BYTES, O, O}, 0, O, x + V * L::STRIDE / 4, L::STRIDE, buffers, phase
        );
        for (int j = 0; j < P2::STAGES; j++) {
            const int column = j * P2::COLUMNS, columns = least(P2::COLUMNS, O - column);
            if (columns <= 0) break;
            contract_stage(s, j, V + column, columns, aes, linear_key, lambda, stage, sums, x);
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
            // A last nibble that stands for no element is malformed unless it is zero.
            const bool padded = N * K % 2 == 1 && signature[N * K / 2] >> 4 != 0;
            valid[item] = *differs == 0 && !padded;
        }
    }
}

// Under a key for each signature.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
verify_map(const u8* public_keys, const u8* signatures, const u32* targets, u32* valid, u32 count) {
    verify<false>(public_keys, nullptr, signatures, targets, valid, count);
}

// Under one key, expanded by expand_map.
extern "C" __global__ void __launch_bounds__(THREADS, 1) verify_expanded_map(
    const u8* public_key, const uint4* expanded, const u8* signatures, const u32* targets, u32* valid, u32 count
) {
    verify<true>(public_key, expanded, signatures, targets, valid, count);
}

namespace expanding {
constexpr int TABLES = tables_beside(AES_KEY_WORDS), WORDS = TABLES * TABLE_WORDS + AES_KEY_WORDS;
}

// P1 and P2 of a public key, in whole blocks.
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
