// AES-128 of counter blocks by tables in shared memory. The keys are public, and so are the
// addresses.
//
// Each bank of shared memory has its own copy of the tables, so look-ups never collide: word
// (table, byte) of lane l is at (table * 256 + byte) * 32 + l.
//
// Only the last two bytes of the input, the counter, change from block to block. The contribution
// of the other bytes to the first two rounds is computed once for each key. A block then takes
// 2 + 8 + 8 * 16 = 138 look-ups.
#pragma once
#include "params.cuh"

// Threads of a block that walks through P, and of a warp.
constexpr int MAP_THREADS = 512, LANES = 32;
constexpr int TABLE_WORDS = 256 * LANES;

// The number of tables that fit beside `words` other words: 4, 2 or 1. With fewer tables, look-ups
// rotate more entries.
FUNCTION int tables_beside(int words) {
    return (4 * TABLE_WORDS + words) * 4 <= SHARED_BYTES ? 4 : (2 * TABLE_WORDS + words) * 4 <= SHARED_BYTES ? 2 : 1;
}

struct AesTable { u32 t[256]; };
// Entry b is the column (2 s, s, s, 3 s) of MixColumns for s = S(b), lowest byte first.
FUNCTION AesTable aes_table() {
    AesTable table = {};
    // 3 generates the multiplicative group. The loop walks through its powers and their inverses at
    // the same time.
    u32 power = 1, inverse = 1;
    do {
        power = (power ^ (power << 1) ^ (power & 0x80 ? 0x11b : 0)) & 255;
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        inverse = (inverse ^ (inverse & 0x80 ? 9 : 0)) & 255;
        u32 s = 0x63;
        for (int i = 0; i < 5; i++) s ^= ((inverse << i) | (inverse >> (8 - i))) & 255;
        table.t[power] = s;
    } while (power != 1);
    table.t[0] = 0x63;
    for (int i = 0; i < 256; i++) {
        const u32 s = table.t[i], s2 = ((s << 1) ^ (s & 0x80 ? 0x11b : 0)) & 255;
        table.t[i] = s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
    }
    return table;
}
#ifdef __CUDACC__
__constant__
#else
static const
#endif
AesTable AES_TABLE = aes_table();

// Fills the tables. The block must synchronize afterwards.
template <int TABLES> DEVICE void aes_tables(u32* tables) {
    for (int i = threadIdx.x; i < TABLES * TABLE_WORDS; i += blockDim.x)
        tables[i] = rotate_bytes(AES_TABLE.t[i / LANES & 255], i / LANES / 256);
}

// A key: the first two rounds of the bytes that do not change, and the other round keys.
struct AesKey {
    u32 last[4];         // input word 3 plus its round key; the counter is added to its upper two bytes
    u32 first[4];        // round 1
    u32 second[4];       // round 2
    u32 round[9][4];     // keys of rounds 2 to 10; the key of round 2 is part of `second`, too
};
constexpr int AES_KEY_WORDS = 48;
static_assert(sizeof(AesKey) == AES_KEY_WORDS * 4, "a key in shared memory");

// AES with the tables of one lane.
//
// A look-up is a PRMT that takes the byte, a multiply-add that makes the address, and the load. The
// multiplier is the distance of two entries, computed from the size of the block. If it were a
// constant, the compiler would shift and add instead, in the pipe that is already the busiest.
template <int TABLES> struct Aes {
    const u8* lane;
    u32 distance;

    DEVICE explicit Aes(const u32* tables)
        : lane((const u8*)(tables + (threadIdx.x & (LANES - 1)))), distance(blockDim.x * 4 * LANES / MAP_THREADS) {}

    // The entry of table `t` for byte `i` of the word.
    DEVICE u32 look_up(int t, int i, u32 word) const {
        const u32 byte = __byte_perm(word, 0, 0x4440 + i);
        const u32 entry = *(const u32*)(lane + byte * distance + t % TABLES * (4 * TABLE_WORDS));
        return t < TABLES ? entry : rotate_bytes(entry, t - t % TABLES);
    }

    // A column of a round before its round key.
    DEVICE u32 column(u32 a, u32 b, u32 c, u32 d) const {
        return look_up(0, 0, a) ^ look_up(1, 1, b) ^ look_up(2, 2, c) ^ look_up(3, 3, d);
    }

    // A column of the last round before its round key: byte i is S(byte i of the i-th word), which
    // each table contains.
    DEVICE u32 last_column(u32 a, u32 b, u32 c, u32 d) const {
        const u32 low = __byte_perm(look_up(2, 0, a), look_up(3, 1, b), 0x0050);
        const u32 high = __byte_perm(look_up(0, 2, c), look_up(1, 3, d), 0x7200);
        return __byte_perm(low, high, 0x7610);
    }

    // Prepares a key, and the block to which counters are added. For one thread.
    DEVICE void prepare(AesKey* key, const u32 (&bytes)[4], const u32 (&iv)[4]) const {
        u32 w[4], state[4];
        UNROLL for (int c = 0; c < 4; c++) { w[c] = bytes[c]; state[c] = iv[c] ^ w[c]; }
        u32 constant = 1;
        for (int round = 0; round < 10; round++) {
            const u32 turned = rotate_bytes(w[3], 3);
            w[0] ^= last_column(turned, turned, turned, turned) ^ constant;
            constant = (constant << 1) ^ (constant & 0x80 ? 0x11b : 0);
            UNROLL for (int c = 1; c < 4; c++) w[c] ^= w[c - 1];
            if (round == 0) {
                UNROLL for (int c = 0; c < 4; c++) {
                    u32 sum = w[c] ^ look_up(0, 0, state[c]) ^ look_up(1, 1, state[(c + 1) % 4]);
                    if (c != 1) sum ^= look_up(2, 2, state[(c + 2) % 4]);
                    if (c != 0) sum ^= look_up(3, 3, state[(c + 3) % 4]);
                    key->first[c] = sum;
                    key->last[c] = state[3];
                }
            } else {
                UNROLL for (int c = 0; c < 4; c++) key->round[round - 1][c] = w[c];
            }
            if (round == 1) {
                const u32 s2 = key->first[2], s3 = key->first[3];
                key->second[0] = w[0] ^ look_up(2, 2, s2) ^ look_up(3, 3, s3);
                key->second[1] = w[1] ^ look_up(1, 1, s2) ^ look_up(2, 2, s3);
                key->second[2] = w[2] ^ look_up(0, 0, s2) ^ look_up(1, 1, s3);
                key->second[3] = w[3] ^ look_up(0, 0, s3) ^ look_up(3, 3, s2);
            }
        }
    }

    // Block `counter` of the key stream.
    DEVICE uint4 block(const AesKey* key, u32 counter) const {
        const u32 last = key->last[3] ^ ((counter & 255) << 24) ^ ((counter >> 8) << 16);
        const u32 a = key->first[0] ^ look_up(3, 3, last), b = key->first[1] ^ look_up(2, 2, last);
        u32 s0 = key->second[0] ^ look_up(0, 0, a) ^ look_up(1, 1, b);
        u32 s1 = key->second[1] ^ look_up(0, 0, b) ^ look_up(3, 3, a);
        u32 s2 = key->second[2] ^ look_up(2, 2, a) ^ look_up(3, 3, b);
        u32 s3 = key->second[3] ^ look_up(1, 1, a) ^ look_up(2, 2, b);
        UNROLL for (int round = 1; round < 8; round++) {
            const u32 t0 = column(s0, s1, s2, s3), t1 = column(s1, s2, s3, s0);
            const u32 t2 = column(s2, s3, s0, s1), t3 = column(s3, s0, s1, s2);
            s0 = t0 ^ key->round[round][0];
            s1 = t1 ^ key->round[round][1];
            s2 = t2 ^ key->round[round][2];
            s3 = t3 ^ key->round[round][3];
        }
        const u32 t0 = last_column(s0, s1, s2, s3), t1 = last_column(s1, s2, s3, s0);
        const u32 t2 = last_column(s2, s3, s0, s1), t3 = last_column(s3, s0, s1, s2);
        return make_uint4(t0 ^ key->round[8][0], t1 ^ key->round[8][1], t2 ^ key->round[8][2], t3 ^ key->round[8][3]);
    }
};
