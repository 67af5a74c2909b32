// The rest of a signature: the linear system from the products of sign_map, its solution, and s.
// Each item has a small block of threads. Several such blocks share a multiprocessor, because the
// elimination is a long chain of short steps.
//
// Elimination: a thread holds one column of (A | y) in its registers. In step c, column c is in
// shared memory. Every thread finds the pivot row in it, as a mask and never as an index. It then
// adds one vector g, times its own entry in the pivot row, to its own column. This clears column c
// outside the pivot row and makes its entry there 1. At the end, entry c of the solution is in the
// pivot row of column c in y. No branch and no address depends on anything but the sizes.
#pragma once
#include "maps.cuh"

constexpr int KO = K * O, SOLVE_THREADS = divide_up(KO + 1, 32) * 32;

namespace solving {
// Shared memory of a block, in words.
constexpr int PRODUCTS = 0, SYSTEM = PRODUCTS + signing::PRODUCT_WORDS, WIDE_SYSTEM = SYSTEM + (KO + 1) * MW;
constexpr int WIDE_Y = WIDE_SYSTEM + KO * WIDE, Y = WIDE_Y + WIDE, COLUMN = Y + MW, X = COLUMN + 2 * MW;
constexpr int SOLVED = X + divide_up(KO, 4), S = SOLVED + 1, WORDS = S + divide_up(K * N, 4);
}

using Column = u32[MW];

// Sets `mask` to all ones in the lowest nonzero element of the column; to zero if there is none.
DEVICE void lowest_nonzero(const Column& column, Column& mask) {
    u32 looking = ~0u;
    UNROLL for (int w = 0; w < MW; w++) {
        const u32 word = column[w], nonzero = (word | word >> 1 | word >> 2 | word >> 3) & 0x11111111u;
        mask[w] = (nonzero & (0u - nonzero) & looking) * 15;
        looking &= ((nonzero | (0u - nonzero)) >> 31) - 1;
    }
}

// The element under a mask that covers at most one; zero if it covers none.
DEVICE u32 entry(const Column& column, const Column& row) {
    u32 word = 0;
    UNROLL for (int w = 0; w < MW; w++) word |= column[w] & row[w];
    word |= word >> 16;
    word |= word >> 8;
    word |= word >> 4;
    return word & 15;
}

// Builds the system from the products of an item: y = t - W(v), and A. Column l of block i of A is
// the linear part plus the sum over j of z^e(i, j) M_j. The sums before reduction go to `wide` and
// to the zeroed `wide_y`.
DEVICE void build_system(u32* system, u32* y, u32* wide, u32* wide_y, const u32* products, const u32* target) {
    const int thread = threadIdx.x;
    add_whipped(wide_y, products + signing::VINEGAR * MW, K);
    const u32 *const matrices = products + signing::MATRICES * MW, *const linear = products + signing::OIL_LINEAR * MW;
    for (int w = thread; w < KO * WIDE; w += SOLVE_THREADS) {
        const int p = w % WIDE, l = w / WIDE % O, block = w / WIDE / O;
        u32 sum = LINEAR ? shifted_word(linear + l * MW, p, EXPONENTS.e[block * K]) : 0;
        for (int j = 0; j < K; j++) sum ^= shifted_word(matrices + (j * O + l) * MW, p, EXPONENTS.e[block * K + j]);
        wide[w] = sum;
    }
    __syncthreads();
    for (int p = thread; p < MW; p += SOLVE_THREADS)
        y[p] = reduced_word(wide_y, p) ^ (word_at(target, 4 * p) & (p == MW - 1 ? LAST_WORD : ~0u));
    for (int w = thread; w < KO * MW; w += SOLVE_THREADS) system[w] = reduced_word(wide + w / MW * WIDE, w % MW);
    __syncthreads();
}

// Subtracts A r from y.
DEVICE void subtract_product(u32* y, const u32* system, const u8* r) {
    constexpr int GROUPS = SOLVE_THREADS / MW;
    const int p = threadIdx.x % MW, group = threadIdx.x / MW;
    if (group < GROUPS) {
        u32 sum = 0;
        for (int c = group; c < KO; c += GROUPS)
            sum ^= product(multiples(system[c * MW + p]), masks(element_at(r, c)));
        atomicXor(y + p, sum);
    }
    __syncthreads();
}

// Eliminates. Each thread gives its column of (A | y) in `own`; a column of A then holds the mask
// of its pivot row there. Sets `unused` to the mask of the rows without a pivot. `column` is shared
// memory for two columns.
DEVICE void eliminate(Column& own, Column& unused, u32* column) {
    const int thread = threadIdx.x;
    UNROLL for (int w = 0; w < MW; w++) {
        unused[w] = w == MW - 1 ? LAST_WORD : ~0u;
        if (thread == 0) column[w] = own[w];
    }
    for (int c = 0; c < KO; c++) {
        __syncthreads();
        Column here, pivot;
        UNROLL for (int w = 0; w < MW; w++) {
            here[w] = column[(c & 1) * MW + w];
            pivot[w] = here[w] & unused[w];
        }
        lowest_nonzero(pivot, pivot);
        const u32 inverse = element_inverse(entry(here, pivot));
        const Masks by_inverse = masks(inverse), by_own = masks(entry(own, pivot));
        // 1/p + 1 by the pivot p, in all nibbles: s + (1/p + 1) s = s/p. Zero if there is no pivot.
        const u32 in_pivot_row = (inverse ^ ((inverse | (0u - inverse)) >> 31)) * 0x11111111u;
        UNROLL for (int w = 0; w < MW; w++) {
            const u32 g = (product(multiples(here[w]), by_inverse) & ~pivot[w]) ^ (in_pivot_row & pivot[w]);
            const u32 sum = own[w] ^ product(multiples(g), by_own);
            // A column that has had its step keeps the mask of its pivot row.
            own[w] = thread > c ? sum : thread == c ? pivot[w] : own[w];
            unused[w] &= ~pivot[w];
            if (thread == c + 1) column[((c + 1) & 1) * MW + w] = own[w];
        }
    }
    __syncthreads();
}

// Writes s, with s_i = (v_i + O x_i) || x_i, and the salt as the signature. `s` is shared memory
// for its elements.
DEVICE void write_signature(u8* signature, u8* s, const u8* x, const u8* oil, const u8* vinegar, const u8* salt) {
    for (int e = threadIdx.x; e < K * N; e += SOLVE_THREADS) {
        const int c = e % N, row = e / N;
        u32 element;
        if (c < V) {
            element = element_at(vinegar + row * V_BYTES, c);
            UNROLL for (int l = 0; l < O; l++) element ^= element_product(element_at(oil, c * O + l), x[row * O + l]);
        } else {
            element = x[row * O + c - V];
        }
        s[e] = (u8)element;
    }
    __syncthreads();
    for (int b = threadIdx.x; b < SIGNATURE_BYTES; b += SOLVE_THREADS) {
        constexpr int PACKED = SIGNATURE_BYTES - SALT_BYTES;
        if (b < PACKED) signature[b] = (u8)(s[2 * b] | (2 * b + 1 < K * N ? s[2 * b + 1] << 4 : 0));
        else signature[b] = salt[b - PACKED];
    }
}

// Signatures for the items of `list` (all items if it is null). Sets solved[i] to 1, or to 0 if
// item i needs another sample, and then leaves its signature as it was.
//
// Secret: oils, vinegars, products.
extern "C" __global__ void __launch_bounds__(SOLVE_THREADS) sign_solve(
    const u32* list, const u32* oils, const u32* vinegars, const u32* targets, const u32* salts, const u32* all_products,
    u8* signatures, u32* solved, u32 count
) {
    using namespace solving;
    u32* const shared = (u32*)shared_memory;
    u32 *const products = shared + PRODUCTS, *const system = shared + SYSTEM, *const wide = shared + WIDE_SYSTEM;
    u32 *const wide_y = shared + WIDE_Y, *const y = shared + Y;
    u8 *const x = (u8*)(shared + X), *const s = (u8*)(shared + S);
    const int thread = threadIdx.x;
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        const u64 item = list ? list[i] : i;
        const u8* const oil = (const u8*)(oils + item * (OIL_STRIDE / 4)) + SEED_BYTES;
        const u8* const vinegar = (const u8*)(vinegars + item * (VINEGAR_STRIDE / 4));
        const u8* const r = vinegar + K * V_BYTES;
        __syncthreads();
        for (int w = thread; w < signing::PRODUCT_WORDS; w += SOLVE_THREADS)
            products[w] = all_products[item * signing::PRODUCT_WORDS + w];
        clear_words(wide_y, WIDE);
        __syncthreads();
        build_system(system, y, wide, wide_y, products, targets + item * (TARGET_STRIDE / 4));
        subtract_product(y, system, r);
        Column own, unused;
        UNROLL for (int w = 0; w < MW; w++) own[w] = thread < KO ? system[thread * MW + w] : y[w];
        eliminate(own, unused, shared + COLUMN);
        u32 without_pivot = 0;
        UNROLL for (int w = 0; w < MW; w++) {
            without_pivot |= unused[w];
            if (thread == KO) y[w] = own[w];
        }
        __syncthreads();
        if (thread < KO) {
            Column solution;
            UNROLL for (int w = 0; w < MW; w++) solution[w] = y[w];
            x[thread] = (u8)(entry(solution, own) ^ element_at(r, thread));
        }
        // The number of samples is public.
        if (thread == 0) {
            shared[SOLVED] = without_pivot == 0;
            solved[item] = without_pivot == 0;
        }
        __syncthreads();
        if (!shared[SOLVED]) continue;
        const u8* const salt = (const u8*)(salts + item * (SALT_STRIDE / 4));
        write_signature(signatures + item * SIGNATURE_STRIDE, s, x, oil, vinegar, salt);
    }
    __syncthreads();
    clear_words(shared, WORDS);
}
