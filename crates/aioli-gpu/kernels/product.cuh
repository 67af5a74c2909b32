// Products from the left: X R for a small dense X in shared memory and the rows of R as they come out of the key stream.
//
// A block of threads computes one product. The rows of R pass through one of two buffers in shared memory: while the
// threads use one, they fill the other. Each thread owns some words of the result row, for all rows of X, and keeps their
// sums in registers: a word of R, its multiples by 1, x, x^2, x^3, and for each row of X four masks, one AND and XOR each.
// A row of the result is far longer than the threads are many, so it is cut into stages of `COLUMNS` m-vectors, one word
// of each a thread, and what does not fit into the registers into tiles, for each of which the rows are expanded anew.
#pragma once
#include "aes.cuh"
#include "field.cuh"

constexpr int THREADS = MAP_THREADS;

// The coefficients of one row of R, a byte each, the element in its upper nibble so that sign_mask can pick its bits.
FUNCTION int coefficient_stride(int rows) { return divide_up(rows, 4) * 4; }

// A buffer: whole blocks of consecutive rows, before each row a block of anything, after the last one too.
constexpr int BUFFER_BLOCKS = 1024;

// How the threads share a product with `ROWS` rows of X and result rows of `ALL` m-vectors.
template <int ROWS_, int ALL_> struct Plan {
    static constexpr int ROWS = ROWS_, ALL = ALL_;
    // Registers for sums and multiples of words.
    static constexpr int SLOTS = 84;

    static FUNCTION int columns(int groups) { return least(THREADS / groups * 4 / MB, ALL); }
    static FUNCTION bool fits(int groups) { return (ROWS + 4) * divide_up(ALL, columns(groups)) <= SLOTS; }
    // Groups of threads that share the rows of R, where one tile and fewer threads for each row are enough.
    static constexpr int GROUPS = fits(8) ? 8 : fits(4) ? 4 : fits(2) ? 2 : 1;
    static constexpr int TILES = fits(GROUPS) ? 1 : divide_up(divide_up(ALL, columns(1)), SLOTS / (ROWS + 4));
    static constexpr int STAGES = divide_up(divide_up(ALL, columns(GROUPS)), TILES);
    static constexpr int COLUMNS = divide_up(ALL, TILES * STAGES);
    // A row of a stage, with a word that unaligned reads may reach.
    static constexpr int WORDS = divide_up(COLUMNS * MB, 4), STAGE_STRIDE = WORDS + 1;
    static constexpr int WIDTH = THREADS / GROUPS;
    static_assert(WORDS <= WIDTH && (ROWS + 4) * STAGES <= SLOTS, "a plan that fits");
    static_assert(STAGES * COLUMNS * MB / 16 + 4 < BUFFER_BLOCKS, "a buffer takes a row");
};

// A matrix of m-vectors in a source: `rows` rows of `columns` m-vectors, without what is left of the diagonal if it is
// an upper triangle.
template <bool UPPER> struct Matrix {
    int start, rows, columns;

    // Byte of the source at which the entry in this row and column begins.
    DEVICE int at(int row, int column) const {
        return start + MB * (UPPER ? row * columns - row * (row - 1) / 2 + column - row : row * columns + column);
    }
};

// The blocks of the key stream.
template <class A> struct KeyStream {
    const A& aes;
    const AesKey* key;
    DEVICE uint4 block(int i) const { return aes.block(key, (u32)i); }
};

// Blocks in device memory: an expanded key, or P3 of a public key.
struct DeviceMemory {
    const uint4* blocks;
    DEVICE uint4 block(int i) const { return blocks[i]; }
};

// Where one row of a matrix is while it is in a buffer.
struct Segment {
    int byte, blocks, left;   // of the source; how many blocks; the first column
};

template <bool UPPER> DEVICE Segment segment(const Matrix<UPPER>& matrix, int row, int first, int end) {
    Segment s;
    s.left = UPPER ? most(first, row) : first;
    s.byte = matrix.at(row, s.left);
    s.blocks = ((s.byte & 15) + (end - s.left) * MB + 15) / 16;
    return s;
}

// The sums of one thread.
template <class P> struct Sums {
    u32 s[P::STAGES][P::ROWS];

    DEVICE void clear() {
        UNROLL for (int j = 0; j < P::STAGES; j++)
            UNROLL for (int r = 0; r < P::ROWS; r++) s[j][r] = 0;
    }

    // Adds one row of R: the stages from FROM on, with the coefficients x.
    template <int FROM> DEVICE void add(const u32* x, const u32 (&words)[P::STAGES]) {
        Multiples m[P::STAGES];
        UNROLL for (int j = FROM; j < P::STAGES; j++) m[j] = multiples(words[j]);
        UNROLL for (int r = 0; r < P::ROWS; r++) {
            const u32 four = x[r / 4];
            UNROLL for (int bit = 0; bit < 4; bit++) {
                const u32 mask = sign_mask(four << (3 - bit), r % 4);
                UNROLL for (int j = FROM; j < P::STAGES; j++) s[j][r] ^= m[j].m[bit] & mask;
            }
        }
    }

    // The same, for a number of empty stages that is known only now.
    template <int FROM> DEVICE void add_from(int from, const u32* x, const u32 (&words)[P::STAGES]) {
        if constexpr (FROM + 1 < P::STAGES) {
            if (from > FROM) {
                add_from<FROM + 1>(from, x, words);
                return;
            }
        }
        add<FROM>(x, words);
    }
};

// Adds X R for the columns from `first` to `end` of R, where X begins at `x` with `stride` bytes for a row of R.
template <class P, bool UPPER, class Source>
DEVICE void add_product(
    Sums<P>& sums, const Source& source, const Matrix<UPPER>& matrix, int first, int end, const u32* x, int stride,
    uint4* buffers, int& phase
) {
    const int thread = threadIdx.x % P::WIDTH, group = threadIdx.x / P::WIDTH;
    const int rows = UPPER ? least(matrix.rows, end) : matrix.rows;
    for (int begin = 0; begin < rows;) {
        uint4* const buffer = buffers + (phase++ & 1) * BUFFER_BLOCKS;
        // As many rows as the buffer takes; the last block is for what unaligned reads reach.
        int stop = begin, used = 0;
        for (; stop < rows; stop++) {
            const int blocks = segment(matrix, stop, first, end).blocks + 1;
            if (used + blocks >= BUFFER_BLOCKS) break;
            used += blocks;
        }
        {
            int row = begin, base = 0;
            Segment s = segment(matrix, row, first, end);
            for (int i = threadIdx.x;; i += THREADS) {
                while (row < stop && i >= base + s.blocks) {
                    base += s.blocks;
                    if (++row < stop) s = segment(matrix, row, first, end);
                }
                if (row == stop) break;
                buffer[i + (row - begin) + 1] = source.block(s.byte / 16 + i - base);
            }
        }
        __syncthreads();
        int base = 0;
        for (int row = begin; row < stop; row++) {
            const Segment s = segment(matrix, row, first, end);
            if (row % P::GROUPS == group) {
                // The byte of the buffer at which the column s.left begins.
                const int left = (base + 1) * 16 + (s.byte & 15);
                u32 words[P::STAGES];
                UNROLL for (int j = 0; j < P::STAGES; j++) {
                    const int column = first + j * P::COLUMNS, byte = 4 * thread;
                    const int from_left = (column - s.left) * MB + byte;
                    const bool inside = byte < least(P::COLUMNS, end - column) * MB && from_left > -4;
                    u32 word = 0;
                    if (inside) word = word_at((const u32*)buffer, left + from_left);
                    // What stands left of the diagonal is not of this row.
                    if (UPPER && from_left < 0) word &= ~0u << (8 * (-from_left & 3));
                    words[j] = word;
                }
                sums.template add_from<0>((s.left - first) / P::COLUMNS, x + row * stride / 4, words);
            }
            base += s.blocks + 1;
        }
        begin = stop;
    }
}

// Puts a stage of all rows of the result into shared memory, `STAGE_STRIDE` words a row.
//
// The block must have synchronized since the stage was read last, and is synchronized when this returns.
template <class P> DEVICE void put_stage(const Sums<P>& sums, int stage, u32* rows) {
    const int thread = threadIdx.x % P::WIDTH;
    if (P::GROUPS > 1) {
        for (int i = threadIdx.x; i < P::ROWS * P::STAGE_STRIDE; i += THREADS) rows[i] = 0;
        __syncthreads();
    }
    if (thread < P::WORDS) {
        UNROLL for (int j = 0; j < P::STAGES; j++) {
            if (j != stage) continue;
            UNROLL for (int r = 0; r < P::ROWS; r++) {
                u32* const word = rows + r * P::STAGE_STRIDE + thread;
                if (P::GROUPS == 1) *word = sums.s[j][r];
                else atomicXor(word, sums.s[j][r]);
            }
        }
    }
    __syncthreads();
}

// Adds to `sums`, `VECTORS` times `ROWS` m-vectors of MW words, the products of columns of a stage with X: the m-vector
// (j, i) receives the sum over c < columns of X[i][c] times the m-vector in column c of row j, rows being `row_bytes`
// apart and beginning `shift` bytes after `rows`.
//
// The caller holds the sums of the product P meanwhile: where they are many, a thread takes one word at a time, not two.
template <class P, int ROWS, int VECTORS>
DEVICE void add_contraction(
    u32* sums, const u32* rows, int row_words, int shift, int columns, const u32* x, int stride
) {
    // Words of a thread, all in the same column; and threads in a group, each of which takes some of the columns.
    constexpr int HELD = P::STAGES * P::ROWS, WORDS = HELD + 2 * ROWS <= 80 ? 2 : 1;
    constexpr int ITEMS = VECTORS * MW, WIDTH = divide_up(ITEMS, WORDS), GROUPS = THREADS / WIDTH;
    static_assert(GROUPS >= 1, "enough threads for a word each");
    const int thread = threadIdx.x % WIDTH, group = threadIdx.x / WIDTH;
    if (group >= least(GROUPS, columns)) return;
    u32 s[ROWS][WORDS];
    UNROLL for (int i = 0; i < ROWS; i++)
        UNROLL for (int q = 0; q < WORDS; q++) s[i][q] = 0;
    for (int c = group; c < columns; c += GROUPS) {
        Multiples m[WORDS];
        UNROLL for (int q = 0; q < WORDS; q++) {
            const int item = thread + q * WIDTH, word = item % MW;
            const u32* const row = rows + item / MW * row_words;
            u32 value = 0;
            if (item < ITEMS) value = word_at(row, shift + c * MB + 4 * word) & (word == MW - 1 ? LAST_WORD : ~0u);
            m[q] = multiples(value);
        }
        UNROLL for (int i = 0; i < ROWS; i++) {
            const u32 four = x[c * stride / 4 + i / 4];
            UNROLL for (int bit = 0; bit < 4; bit++) {
                const u32 mask = sign_mask(four << (3 - bit), i % 4);
                UNROLL for (int q = 0; q < WORDS; q++) s[i][q] ^= m[q].m[bit] & mask;
            }
        }
    }
    UNROLL for (int q = 0; q < WORDS; q++) {
        const int item = thread + q * WIDTH;
        if (item >= ITEMS) continue;
        u32* const vector = sums + item / MW * ROWS * MW + item % MW;
        UNROLL for (int i = 0; i < ROWS; i++) atomicXor(vector + i * MW, s[i][q]);
    }
}

// The part of lambda that belongs to the columns from `first` to `end`, as whole blocks; returns where it begins in them.
template <class A> DEVICE int put_lambda(const A& aes, const AesKey* key, int first, int end, uint4* blocks) {
    const int byte = first * MB, count = ((byte & 15) + (end - first) * MB + 15) / 16;
    for (int i = threadIdx.x; i < count; i += THREADS) blocks[i] = aes.block(key, (u32)(byte / 16 + i));
    return byte & 15;
}

// Packs the elements of X for the product: element (row of R c, row of X r) comes from `element(c, r)`.
template <class F> DEVICE void put_coefficients(u32* x, int columns, int rows, F element) {
    const int words = divide_up(rows, 4);
    for (int i = threadIdx.x; i < columns * words; i += blockDim.x) {
        u32 four = 0;
        UNROLL for (int b = 0; b < 4; b++) {
            const int r = i % words * 4 + b;
            if (r < rows) four |= element(i / words, r) << (8 * b + 4);
        }
        x[i] = four;
    }
}
