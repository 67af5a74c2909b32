// The rest of a signature: the linear system from the products of sign_map, its solution, s. A small block for each
// scheme, several of them on a multiprocessor, because the elimination is a long chain of short steps.
//
// A thread holds one column of (A | y) in its registers. In step c, column c is in shared memory; every thread finds the
// pivot row in it (a mask, never an index), and adds its own entry in that row times one vector g to its column, which
// clears column c off the pivot row and makes its entry there 1. In the end the pivot row of y is the coordinate. No
// branch and no address depends on anything but the sizes.
#pragma once
#include "maps.cuh"

constexpr int KO = K * O, SOLVE_THREADS = divide_up(KO + 1, 32) * 32;

namespace solving {
// Words of shared memory.
constexpr int RECORD = 0, SYSTEM = RECORD + signing::RECORD_WORDS, WIDE_SYSTEM = SYSTEM + (KO + 1) * MW;
constexpr int WIDE_Y = WIDE_SYSTEM + KO * WIDE, Y = WIDE_Y + WIDE, COLUMN = Y + MW, X = COLUMN + 2 * MW;
constexpr int SOLVED = X + divide_up(KO, 4), S = SOLVED + 1, WORDS = S + divide_up(K * N, 4);
}

using Column = u32[MW];

// All ones in the lowest element that is not zero; all zero if there is none.
DEVICE void lowest_nonzero(const Column& column, Column& mask) {
    u32 looking = ~0u;
    UNROLL for (int w = 0; w < MW; w++) {
        const u32 word = column[w], nonzero = (word | word >> 1 | word >> 2 | word >> 3) & 0x11111111u;
        mask[w] = (nonzero & (0u - nonzero) & looking) * 15;
        looking &= ((nonzero | (0u - nonzero)) >> 31) - 1;
    }
}

// The element under a mask that covers at most one.
DEVICE u32 entry(const Column& column, const Column& row) {
    u32 word = 0;
    UNROLL for (int w = 0; w < MW; w++) word |= column[w] & row[w];
    word |= word >> 16;
    word |= word >> 8;
    word |= word >> 4;
    return word & 15;
}

// Signatures for the items of `list` (all, if it is null); solved[i] is 0 if another sample must be tried for item i, and
// its signature is left as it was. Secret: oils, vinegars, records.
extern "C" __global__ void __launch_bounds__(SOLVE_THREADS) sign_solve(
    const u32* list, const u32* oils, const u32* vinegars, const u32* targets, const u32* salts, const u32* records,
    u8* signatures, u32* solved, u32 count
) {
    using namespace solving;
    u32* const shared = (u32*)shared_memory;
    u32 *const record = shared + RECORD, *const system = shared + SYSTEM, *const wide = shared + WIDE_SYSTEM;
    u32 *const wide_y = shared + WIDE_Y, *const y = shared + Y, *const column = shared + COLUMN;
    u8 *const x = (u8*)(shared + X), *const s = (u8*)(shared + S);
    const int thread = threadIdx.x;
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        const u64 item = list ? list[i] : i;
        const u8* const oil = (const u8*)(oils + item * (OIL_STRIDE / 4)) + SEED_BYTES;
        const u8* const vinegar = (const u8*)(vinegars + item * (VINEGAR_STRIDE / 4));
        const u8* const r = vinegar + K * V_BYTES;
        __syncthreads();
        for (int w = thread; w < signing::RECORD_WORDS; w += SOLVE_THREADS)
            record[w] = records[item * signing::RECORD_WORDS + w];
        clear_words(wide_y, WIDE);
        __syncthreads();

        // y = t - W(v), and A: column l of block i is the sum over j of z^e(i, j) M_j, and the linear part.
        add_whipped(wide_y, record, K);
        const u32 *const matrices = record + signing::MATRICES * MW, *const linear = record + signing::OIL_LINEAR * MW;
        for (int w = thread; w < KO * WIDE; w += SOLVE_THREADS) {
            const int p = w % WIDE, l = w / WIDE % O, block = w / WIDE / O;
            u32 sum = LINEAR ? shifted_word(linear + l * MW, p, EXPONENTS.e[block * K]) : 0;
            for (int j = 0; j < K; j++) sum ^= shifted_word(matrices + (j * O + l) * MW, p, EXPONENTS.e[block * K + j]);
            wide[w] = sum;
        }
        __syncthreads();
        const u32* const target = targets + item * (TARGET_STRIDE / 4);
        for (int p = thread; p < MW; p += SOLVE_THREADS)
            y[p] = reduced_word(wide_y, p) ^ (word_at(target, 4 * p) & (p == MW - 1 ? LAST_WORD : ~0u));
        for (int w = thread; w < KO * MW; w += SOLVE_THREADS) system[w] = reduced_word(wide + w / MW * WIDE, w % MW);
        __syncthreads();

        // y - A r.
        {
            constexpr int GROUPS = SOLVE_THREADS / MW;
            const int p = thread % MW, group = thread / MW;
            u32 sum = 0;
            if (group < GROUPS)
                for (int c = group; c < KO; c += GROUPS)
                    sum ^= product(multiples(system[c * MW + p]), masks(element_at(r, c)));
            if (group < GROUPS) atomicXor(y + p, sum);
        }
        __syncthreads();

        // Elimination.
        Column own, unused;
        UNROLL for (int w = 0; w < MW; w++) {
            own[w] = thread < KO ? system[thread * MW + w] : y[w];
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
            // In the pivot row an entry s becomes s / pivot: it gets s times 1 / pivot + 1.
            const u32 in_pivot_row = (inverse ^ ((inverse | (0u - inverse)) >> 31)) * 0x11111111u;
            UNROLL for (int w = 0; w < MW; w++) {
                const u32 g = (product(multiples(here[w]), by_inverse) & ~pivot[w]) ^ (in_pivot_row & pivot[w]);
                const u32 sum = own[w] ^ product(multiples(g), by_own);
                // A column that has been used holds its pivot row from then on.
                own[w] = thread > c ? sum : thread == c ? pivot[w] : own[w];
                unused[w] &= ~pivot[w];
                if (thread == c + 1) column[((c + 1) & 1) * MW + w] = own[w];
            }
        }
        __syncthreads();
        u32 left = 0;
        UNROLL for (int w = 0; w < MW; w++) {
            left |= unused[w];
            if (thread == KO) y[w] = own[w];
        }
        __syncthreads();
        if (thread < KO) {
            Column solution;
            UNROLL for (int w = 0; w < MW; w++) solution[w] = y[w];
            x[thread] = (u8)(entry(solution, own) ^ element_at(r, thread));
        }
        // How many samples are tried may show.
        if (thread == 0) {
            shared[SOLVED] = left == 0;
            solved[item] = left == 0;
        }
        __syncthreads();
        if (!shared[SOLVED]) continue;

        // s_i = (v_i + O x_i) || x_i.
        for (int e = thread; e < K * N; e += SOLVE_THREADS) {
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
        u8* const signature = signatures + item * SIGNATURE_STRIDE;
        for (int b = thread; b < SIGNATURE_BYTES; b += SOLVE_THREADS) {
            constexpr int PACKED = SIGNATURE_BYTES - SALT_BYTES;
            if (b < PACKED) signature[b] = (u8)(s[2 * b] | (2 * b + 1 < K * N ? s[2 * b + 1] << 4 : 0));
            else signature[b] = ((const u8*)(salts + item * (SALT_STRIDE / 4)))[b - PACKED];
        }
    }
    __syncthreads();
    clear_words(shared, WORDS);
}
