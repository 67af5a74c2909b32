// AES-128 of counter blocks by tables in shared memory. The keys are public, and so are the addresses.
//
// Every bank of shared memory has its own copy of the tables, so that look-ups never collide: word (table, byte) of lane
// l is at (table * 256 + byte) * 32 + l. Of the input only the last two bytes, the counter, change from block to block:
// what the first two rounds make of the others is computed once a key, which leaves 2 + 8 + 8 * 16 = 138 look-ups.
#pragma once
#include "params.cuh"

// Threads of a block that walks through P; and of a warp.
constexpr int MAP_THREADS = 512, LANES = 32;
constexpr int TABLE_WORDS = 256 * LANES;

// As many tables as fit beside `words` of other things: 4, 2 or 1, the fewer the more rotations.
FUNCTION int tables_beside(int words) {
    return (4 * TABLE_WORDS + words) * 4 <= SHARED_BYTES ? 4 : (2 * TABLE_WORDS + words) * 4 <= SHARED_BYTES ? 2 : 1;
}

struct AesTable { u32 t[256]; };
// 2 s, s, s, 3 s for s = S(byte), lowest byte first: a column of MixColumns behind the S-box.
FUNCTION AesTable aes_table() {
    AesTable table = {};
    // 3 generates the multiplicative group: walk through it and through the inverses at the same time.
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

// Fills the tables; the block must synchronize afterwards.
template <int TABLES> DEVICE void aes_tables(u32* tables) {
    for (int i = threadIdx.x; i < TABLES * TABLE_WORDS; i += blockDim.x)
        tables[i] = rotate_bytes(AES_TABLE.t[i / LANES & 255], i / LANES / 256);
}

// A key: what the first two rounds make of the bytes that do not change, and the other round keys.
struct AesKey {
    u32 last[4];         // input word 3 behind the first round key; its upper two bytes meet the counter
    u32 first[4];        // round 1
    u32 second[4];       // round 2
    u32 round[9][4];     // keys of rounds 2 to 10, of which that of round 2 is in `second` too
};
constexpr int AES_KEY_WORDS = 48;
static_assert(sizeof(AesKey) == AES_KEY_WORDS * 4, "a key in shared memory");

// A lane's own copy of the tables.
//
// A look-up is a PRMT, which takes the byte, a multiply-add, which makes the address, and the load. The multiplier, the
// distance of two entries, is read from the size of the block: were it a constant, the compiler would shift and add in
// the pipe that is the busiest already.
template <int TABLES> struct Aes {
    const u8* lane;
    u32 distance;

    DEVICE explicit Aes(const u32* tables)
        : lane((const u8*)(tables + (threadIdx.x & (LANES - 1)))), distance(blockDim.x * 4 * LANES / MAP_THREADS) {}

    // Table `t` at byte `i` of the word.
    DEVICE u32 look_up(int t, int i, u32 word) const {
        const u32 byte = __byte_perm(word, 0, 0x4440 + i);
        const u32 entry = *(const u32*)(lane + byte * distance + t % TABLES * (4 * TABLE_WORDS));
        return t < TABLES ? entry : rotate_bytes(entry, t - t % TABLES);
    }

    DEVICE u32 column(u32 a, u32 b, u32 c, u32 d) const {
        return look_up(0, 0, a) ^ look_up(1, 1, b) ^ look_up(2, 2, c) ^ look_up(3, 3, d);
    }

    // Byte i is the S-box at byte i of the i-th word; each table has it somewhere in its entries.
    DEVICE u32 last_column(u32 a, u32 b, u32 c, u32 d) const {
        const u32 low = __byte_perm(look_up(2, 0, a), look_up(3, 1, b), 0x0050);
        const u32 high = __byte_perm(look_up(0, 2, c), look_up(1, 3, d), 0x7200);
        return __byte_perm(low, high, 0x7610);
    }

    // Prepares a key and the block that counters are added to (by XOR); one thread.
    DEVICE void prepare(AesKey* key, const u32 (&bytes)[4], const u32 (&iv)[4]) const {
        u32 w[4], x[4];
        UNROLL for (int c = 0; c < 4; c++) { w[c] = bytes[c]; x[c] = iv[c] ^ w[c]; }
        u32 constant = 1;
        for (int round = 0; round < 10; round++) {
            const u32 turned = rotate_bytes(w[3], 3);
            w[0] ^= last_column(turned, turned, turned, turned) ^ constant;
            constant = (constant << 1) ^ (constant & 0x80 ? 0x11b : 0);
            UNROLL for (int c = 1; c < 4; c++) w[c] ^= w[c - 1];
            if (round == 0) {
                UNROLL for (int c = 0; c < 4; c++) {
                    u32 sum = w[c] ^ look_up(0, 0, x[c]) ^ look_up(1, 1, x[(c + 1) % 4]);
                    if (c != 1) sum ^= look_up(2, 2, x[(c + 2) % 4]);
                    if (c != 0) sum ^= look_up(3, 3, x[(c + 3) % 4]);
                    key->first[c] = sum;
                    key->last[c] = x[3];
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

    // The key stream's block `counter`.
    DEVICE uint4 block(const AesKey* key, u32 counter) const {
        const u32 x3 = key->last[3] ^ ((counter & 255) << 24) ^ ((counter >> 8) << 16);
        const u32 a = key->first[0] ^ look_up(3, 3, x3), b = key->first[1] ^ look_up(2, 2, x3);
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
