//! AES-128 in counter mode by tables, for keys and blocks that are public.
//!
//! A table has one round of each byte, and the bytes of the state address it. No table of blocks is
//! kept. Each run computes the constant part of its first two rounds once, and so needs no bound on
//! the length of the stream. The changing part of a block takes 5 look-ups instead of 32 for two
//! whole rounds.
//!
//! The rest of this page is docs/aes-ctr.md.
#![doc = ""]
#![doc = include_str!("../../../docs/aes-ctr.md")]

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    let mut stream = Stream::new(key, iv);
    // Whole blocks are written in place if `out` is aligned for words, all others by way of a
    // buffer.
    // SAFETY: any bytes are valid words; on this target the lowest byte of a word comes first.
    let (before, words, _) = unsafe { out.align_to_mut::<u32>() };
    let whole = if before.is_empty() { words.len() & !3 } else { 0 };
    stream.fill(u64::from(first), &mut words[..whole]);
    let mut blocks = [0; 64];
    for (i, chunk) in out[4 * whole..].chunks_mut(256).enumerate() {
        stream.fill(u64::from(first) + (whole / 4 + 16 * i) as u64, &mut blocks[..4 * chunk.len().div_ceil(16)]);
        // SAFETY: any words are valid bytes.
        let (_, bytes, _) = unsafe { blocks.align_to::<u8>() };
        chunk.copy_from_slice(&bytes[..chunk.len()]);
    }
}

/// The key stream of a key and an initial vector.
pub(super) struct Stream {
    /// Keys of rounds 0 to 2; the others are in the context.
    round_keys: [[u32; 4]; 3],
    context: Context,
    /// The initial vector, to which every counter is added.
    iv: [u32; 4],
}

impl Stream {
    pub(super) fn new(key: &[u8; 16], iv: &[u8; 16]) -> Self {
        let words = |bytes: &[u8; 16]| -> [u32; 4] {
            let (words, _) = bytes.as_chunks();
            core::array::from_fn(|c| u32::from_le_bytes(words[c]))
        };
        let mut round_keys = [words(key); 11];
        let mut constant = 1;
        for round in 1..11 {
            let before = round_keys[round - 1];
            let last = before[3].rotate_right(8).to_le_bytes().map(sbox);
            let mut word = u32::from_le_bytes(last) ^ u32::from(constant);
            for (key, before) in round_keys[round].iter_mut().zip(before) {
                word ^= before;
                *key = word;
            }
            constant = double(constant);
        }
        let mut context = Context { first: 0, second: [0; 4], keys: [[0; 4]; 8] };
        context.keys.copy_from_slice(&round_keys[3..]);
        Self { round_keys: [round_keys[0], round_keys[1], round_keys[2]], context, iv: words(iv) }
    }

    /// Fills `out`, whole blocks of four words, from block `first` on.
    pub(super) fn fill(&mut self, first: u64, out: &mut [u32]) {
        let mut counter = first;
        let mut rest = out;
        while !rest.is_empty() {
            let in_run = 256 - (counter & 0xff) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(4 * in_run));
            self.run(counter, now);
            counter += now.len() as u64 / 4;
            rest = later;
        }
    }

    /// Fills `out` with the blocks from counter `first` on, which differ in the counter's last byte
    /// alone.
    fn run(&mut self, first: u64, out: &mut [u32]) {
        let [key0, key1, key2] = &self.round_keys;
        let counter = first & !0xff;
        let block = [0, 0, ((counter >> 32) as u32).swap_bytes(), (counter as u32).swap_bytes()];
        let state: [u32; 4] = core::array::from_fn(|c| block[c] ^ self.iv[c] ^ key0[c]);
        let bytes = state.map(u32::to_le_bytes);
        // Column c after a round is the sum of its key and four shares, of the byte in each row i
        // of column c + i.
        let share = |byte: u8, row: u32| TABLE[usize::from(byte)].rotate_left(8 * row);
        // The kernel adds the share of the counter's last byte, row 3 of column 3, to column 0.
        let mut one = *key1;
        one[0] ^= share(bytes[0][0], 0) ^ share(bytes[1][1], 1) ^ share(bytes[2][2], 2);
        one[1] ^= share(bytes[1][0], 0) ^ share(bytes[2][1], 1) ^ share(bytes[3][2], 2) ^ share(bytes[0][3], 3);
        one[2] ^= share(bytes[2][0], 0) ^ share(bytes[3][1], 1) ^ share(bytes[0][2], 2) ^ share(bytes[1][3], 3);
        one[3] ^= share(bytes[3][0], 0) ^ share(bytes[0][1], 1) ^ share(bytes[1][2], 2) ^ share(bytes[2][3], 3);
        self.context.first = one[0];
        // The kernel adds the shares of the bytes of column 0, one to each column.
        let bytes = one.map(u32::to_le_bytes);
        let mut two = *key2;
        two[0] ^= share(bytes[1][1], 1) ^ share(bytes[2][2], 2) ^ share(bytes[3][3], 3);
        two[1] ^= share(bytes[1][0], 0) ^ share(bytes[2][1], 1) ^ share(bytes[3][2], 2);
        two[2] ^= share(bytes[2][0], 0) ^ share(bytes[3][1], 1) ^ share(bytes[1][3], 3);
        two[3] ^= share(bytes[3][0], 0) ^ share(bytes[1][2], 2) ^ share(bytes[2][3], 3);
        self.context.second = two;
        let mask = state[3] >> 24;
        let blocks = (out.len() / 4) as u32;
        debug_assert!(blocks >= 1 && (first & 0xff) as u32 + blocks <= 256);
        // SAFETY: the table and the context have the lengths that the kernel reads, and `out` holds
        // 4 * blocks words. `fill` calls with at least one block, and with counters that differ in
        // the last byte alone.
        unsafe { aioli_armv7em_aes_rounds(&TABLE, &self.context, out.as_mut_ptr(), blocks, first as u32 & 0xff, mask) };
    }
}

/// The argument `context` of the kernel, as `aes128_ctr.s` describes it.
#[repr(C)]
struct Context {
    first: u32,
    second: [u32; 4],
    keys: [[u32; 4]; 8],
}

unsafe extern "C" {
    fn aioli_armv7em_aes_rounds(
        table: &[u32; 256],
        context: &Context,
        out: *mut u32,
        blocks: u32,
        counter: u32,
        mask: u32,
    );
}

/// The substitution of AES, which is the second byte of the table's entry.
fn sbox(byte: u8) -> u8 {
    TABLE[usize::from(byte)].to_le_bytes()[1]
}

/// Twice a byte, in the field of AES.
const fn double(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

/// For each byte, with substitution s, the column (2 s, s, s, 3 s).
static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    // p runs through the powers of 3, which are all bytes but zero, and q = 1/p through those of
    // 1/3.
    let mut p = 1u8;
    let mut q = 1u8;
    let mut i = 0;
    while i < 255 {
        let s = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
        table[p as usize] = column(s);
        p ^= double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        q ^= (q >> 7) * 0x09;
        i += 1;
    }
    table[0] = column(0x63);
    table
};

/// The column (2 s, s, s, 3 s), lowest byte first.
const fn column(s: u8) -> u32 {
    u32::from_le_bytes([double(s), s, s, double(s) ^ s])
}
