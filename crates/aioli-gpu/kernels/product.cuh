// Left products: left * right. `left` is a small dense matrix in shared memory. `right` is a matrix
// of m-vectors, whose rows come one after another from the key stream.
//
// A block of threads computes one product. The rows of `right` pass through two buffers in shared
// memory: while the threads use one, they fill the other. Each thread owns some words of the result
// row, for all rows of `left`, and keeps their sums in registers. For a word of `right` it computes
// the multiples by 1, x, x^2, x^3; then each row of `left` takes four masks, with an AND and an XOR
// each.
//
// A result row has far more words than the block has threads. So the row is cut into stages of
// `COLUMNS` m-vectors, of which a thread owns one word each. Stages that do not fit into the
// registers form further tiles, and the rows of `right` are expanded again for each tile.
#pragma once
#include "aes.cuh"
#include "field.cuh"

constexpr int THREADS = MAP_THREADS;

// Bytes of the coefficients that multiply one row of `right`: a byte each, with the element in its
// upper nibble, where sign_mask can pick its bits.
FUNCTION int coefficient_stride(int rows) { return divide_up(rows, 4) * 4; }

// Blocks of a buffer. It holds consecutive rows in whole blocks, with a block of any content before
// each row and one after the last row.
constexpr int BUFFER_BLOCKS = 1024;

// The division among threads of a product with `ROWS` rows of `left` and result rows of `ALL`
// m-vectors.
template <int ROWS_, int ALL_> struct Plan {
    static constexpr int ROWS = ROWS_, ALL = ALL_;
    // Registers of a thread for sums and multiples.
    static constexpr int SLOTS = 84;

    static FUNCTION int columns(int groups) { return least(THREADS / groups * 4 / MB, ALL); }
    static FUNCTION bool fits(int groups) { return (ROWS + 4) * divide_up(ALL, columns(groups)) <= SLOTS; }
    // Groups of threads that share the rows of `right`: the most with which one tile is enough,
    // else one.
    static constexpr int GROUPS = fits(8) ? 8 : fits(4) ? 4 : fits(2) ? 2 : 1;
    static constexpr int TILES = fits(GROUPS) ? 1 : divide_up(divide_up(ALL, columns(1)), SLOTS / (ROWS + 4));
    static constexpr int STAGES = divide_up(divide_up(ALL, columns(GROUPS)), TILES);
    static constexpr int COLUMNS = divide_up(ALL, TILES * STAGES);
    // Words of a row of a stage; the stride adds a word that unaligned reads may reach.
    static constexpr int WORDS = divide_up(COLUMNS * MB, 4), STAGE_STRIDE = WORDS + 1;
    static constexpr int WIDTH = THREADS / GROUPS;
    static_assert(WORDS <= WIDTH && (ROWS + 4) * STAGES <= SLOTS, "a plan that fits");
    static_assert(STAGES * COLUMNS * MB / 16 + 4 < BUFFER_BLOCKS, "a buffer takes a row");
};

// A matrix of m-vectors in a source: `rows` rows of `columns` m-vectors. An upper triangle lacks
// those below the diagonal.
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

// The part of a row that a buffer holds.
struct Segment {
    int column;   // its first column
    int byte;     // the byte of the source at which it begins
    int blocks;   // the blocks of the source that it touches
};

template <bool UPPER> DEVICE Segment segment(const Matrix<UPPER>& matrix, int row, int first, int end) {
    Segment s;
    s.column = UPPER ? most(first, row) : first;
    s.byte = matrix.at(row, s.column);
    s.blocks = ((s.byte & 15) + (end - s.column) * MB + 15) / 16;
    return s;
}

// The sums of one thread.
template <class P> struct Sums {
    u32 s[P::STAGES][P::ROWS];

    DEVICE void clear() {
        UNROLL for (int j = 0; j < P::STAGES; j++)
            UNROLL for (int i = 0; i < P::ROWS; i++) s[j][i] = 0;
    }

    // Adds one row of `right` times its coefficients, in the stages from FROM on.
    template <int FROM> DEVICE void add(const u32* coefficients, const u32 (&words)[P::STAGES]) {
        Multiples m[P::STAGES];
        UNROLL for (int j = FROM; j < P::STAGES; j++) m[j] = multiples(words[j]);
        UNROLL for (int i = 0; i < P::ROWS; i++) {
            const u32 four = coefficients[i / 4];
            UNROLL for (int bit = 0; bit < 4; bit++) {
                const u32 mask = sign_mask(four << (3 - bit), i % 4);
                UNROLL for (int j = FROM; j < P::STAGES; j++) s[j][i] ^= m[j].m[bit] & mask;
            }
        }
    }

    // The same for a number of empty stages that only the running kernel knows.
    template <int FROM> DEVICE void add_from(int from, const u32* coefficients, const u32 (&words)[P::STAGES]) {
        if constexpr (FROM + 1 < P::STAGES) {
            if (from > FROM) {
                add_from<FROM + 1>(from, coefficients, words);
                return;
            }
        }
        add<FROM>(coefficients, words);
    }
};

// Fills a buffer with the rows from `begin` to `stop`, in their columns from `first` to `end`.
template <bool UPPER, class Source>
DEVICE void fill_buffer(
    uint4* buffer, const Source& source, const Matrix<UPPER>& matrix, int begin, int stop, int first, int end
) {
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

// Adds left * right in the columns from `first` to `end`. `left` holds `stride` bytes of
// coefficients for each row of `right`. `phase` counts the buffers used so far.
template <class P, bool UPPER, class Source>
DEVICE void add_product(
    Sums<P>& sums, const Source& source, const Matrix<UPPER>& right, int first, int end, const u32* left, int stride,
    uint4* buffers, int& phase
) {
    const int thread = threadIdx.x % P::WIDTH, group = threadIdx.x / P::WIDTH;
    const int rows = UPPER ? least(right.rows, end) : right.rows;
    for (int begin = 0; begin < rows;) {
        uint4* const buffer = buffers + (phase++ & 1) * BUFFER_BLOCKS;
        // The buffer takes as many rows as fit. Unaligned reads may reach the block after the last
        // one.
        int stop = begin, used = 0;
        for (; stop < rows; stop++) {
            const int blocks = segment(right, stop, first, end).blocks + 1;
            if (used + blocks >= BUFFER_BLOCKS) break;
            used += blocks;
        }
        fill_buffer(buffer, source, right, begin, stop, first, end);
        __syncthreads();
        int base = 0;
        for (int row = begin; row < stop; row++) {
            const Segment s = segment(right, row, first, end);
            if (row % P::GROUPS == group) {
                // The byte of the buffer at which the segment begins.
                const int start = (base + 1) * 16 + (s.byte & 15);
                u32 words[P::STAGES];
                UNROLL for (int j = 0; j < P::STAGES; j++) {
                    const int column = first + j * P::COLUMNS, byte = 4 * thread;
                    const int from_start = (column - s.column) * MB + byte;
                    const bool inside = byte < least(P::COLUMNS, end - column) * MB && from_start > -4;
                    u32 word = 0;
                    if (inside) word = word_at((const u32*)buffer, start + from_start);
                    // Bytes before the diagonal do not belong to this row.
                    if (UPPER && from_start < 0) word &= ~0u << (8 * (-from_start & 3));
                    words[j] = word;
                }
                sums.template add_from<0>((s.column - first) / P::COLUMNS, left + row * stride / 4, words);
            }
            base += s.blocks + 1;
        }
        begin = stop;
    }
}

// Puts a stage of all rows of the result into shared memory, with `STAGE_STRIDE` words for each
// row.
//
// The block must have synchronized since the last read of the stage. It is synchronized when this
// returns.
template <class P> DEVICE void put_stage(const Sums<P>& sums, int stage, u32* rows) {
    const int thread = threadIdx.x % P::WIDTH;
    if (P::GROUPS > 1) {
        for (int i = threadIdx.x; i < P::ROWS * P::STAGE_STRIDE; i += THREADS) rows[i] = 0;
        __syncthreads();
    }
    if (thread < P::WORDS) {
        UNROLL for (int j = 0; j < P::STAGES; j++) {
            if (j != stage) continue;
            UNROLL for (int i = 0; i < P::ROWS; i++) {
                u32* const word = rows + i * P::STAGE_STRIDE + thread;
                if (P::GROUPS == 1) *word = sums.s[j][i];
                else atomicXor(word, sums.s[j][i]);
            }
        }
    }
    __syncthreads();
}

// Contracts columns of a stage with columns of `left`: adds to the m-vector (j, i) of `sums`
//
//     sum over c < columns of left[i][c] * row_j[c]     for i < ROWS, j < VECTORS,
//
// where row_j begins `shift` bytes after `rows` + j * `row_words`.
//
// The caller still holds the sums of the product P in registers. If they are many, a thread takes
// one word, else two.
template <class P, int ROWS, int VECTORS>
DEVICE void add_contraction(
    u32* sums, const u32* rows, int row_words, int shift, int columns, const u32* left, int stride
) {
    // A thread has WORDS words, all in the same column. Each of the GROUPS groups of threads takes
    // some of the columns.
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
            const u32 four = left[c * stride / 4 + i / 4];
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

// Puts lambda for the columns from `first` to `end` into `blocks`, as whole blocks. Returns the
// byte at which it begins.
template <class A> DEVICE int put_lambda(const A& aes, const AesKey* key, int first, int end, uint4* blocks) {
    const int byte = first * MB, count = ((byte & 15) + (end - first) * MB + 15) / 16;
    for (int i = threadIdx.x; i < count; i += THREADS) blocks[i] = aes.block(key, (u32)(byte / 16 + i));
    return byte & 15;
}

// Packs the coefficients of `left` for the product: `element(c, i)` is the entry of `left` in row i
// and column c.
template <class F> DEVICE void put_coefficients(u32* left, int columns, int rows, F element) {
    const int words = divide_up(rows, 4);
    for (int w = threadIdx.x; w < columns * words; w += blockDim.x) {
        u32 four = 0;
        UNROLL for (int b = 0; b < 4; b++) {
            const int i = w % words * 4 + b;
            if (i < rows) four |= element(w / words, i) << (8 * b + 4);
        }
        left[w] = four;
    }
}
