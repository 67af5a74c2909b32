@ AES-128 in counter mode for blocks that differ in the last byte of the counter alone. The kernel
@ does the changing part of rounds 1 and 2, and rounds 3 to 10.
@
@ void aioli_armv7em_aes_rounds(const uint32_t *table, const struct context *context, uint32_t *out,
@                               uint32_t blocks, uint32_t counter, uint32_t mask);
@
@ table    256 words: for each byte b the column (2 S(b), S(b), S(b), 3 S(b)), lowest byte first
@ context  37 words: the constant part of the first two rounds, see below, then the round keys 3 to
@          10
@ out      4 * blocks words, aligned; written
@ blocks   at least 1
@ counter  the last byte of the counter of the first block; counter + blocks <= 256
@ mask     the exclusive or of the last bytes of the first round key and of the initial vector
@
@ The last byte of a block goes into column 0 alone in the first round. In the second that column's
@ four bytes go into one column each (docs/aes-ctr.md). So the context begins with five words, each
@ with its round key added: column 0 after round 1 without the share of the last byte, and the four
@ columns after round 2 without the shares of column 0.
@
@ Everything is public, as the state addresses the table. Uses s0 to s3. Stack: 36 bytes.
@ Cost: 420 instructions and 196 loads a block.

table   .req r0
keys    .req r1
out     .req r2
t0      .req r3
t1      .req r12
t2      .req lr

@ Adds to column `to` the shares of one byte from each of the columns a, b, c, d.
.macro column to, a, b, c, d
    uxtb    t0, \a
    ubfx    t1, \b, #8, #8
    ubfx    t2, \c, #16, #8
    ldr     t0, [table, t0, lsl #2]
    ldr     t1, [table, t1, lsl #2]
    ldr     t2, [table, t2, lsl #2]
    eor     \to, \to, t0
    lsr     t0, \d, #24
    eor     \to, \to, t1, ror #24
    ldr     t0, [table, t0, lsl #2]
    eor     \to, \to, t2, ror #16
    eor     \to, \to, t0, ror #8
.endm

@ A round, from columns a to columns b.
.macro round a0, a1, a2, a3, b0, b1, b2, b3
    ldmia   keys!, {\b0, \b1, \b2, \b3}
    column  \b0, \a0, \a1, \a2, \a3
    column  \b1, \a1, \a2, \a3, \a0
    column  \b2, \a2, \a3, \a0, \a1
    column  \b3, \a3, \a0, \a1, \a2
.endm

@ The same in the last round, which does not mix columns. `sbox` points to the second byte of the
@ table.
sbox    .req r1
.macro last_column to, a, b, c, d
    uxtb    t0, \a
    ubfx    t1, \b, #8, #8
    ubfx    t2, \c, #16, #8
    ldrb    t0, [sbox, t0, lsl #2]
    ldrb    t1, [sbox, t1, lsl #2]
    ldrb    t2, [sbox, t2, lsl #2]
    eor     \to, \to, t0
    lsr     t0, \d, #24
    eor     \to, \to, t1, lsl #8
    ldrb    t0, [sbox, t0, lsl #2]
    eor     \to, \to, t2, lsl #16
    eor     \to, \to, t0, lsl #24
.endm

kernel aioli_armv7em_aes_rounds
    push    {r4-r11, lr}
    ldr     r4, [sp, #36]
    ldr     r5, [sp, #40]
    add     r6, out, r3, lsl #4
    vmov    s0, keys
    vmov    s1, r4
    vmov    s2, r5
    vmov    s3, r6
0:
    @ Rounds 1 and 2.
    vmov    t1, s1
    vmov    t2, s2
    vmov    keys, s0
    eor     t2, t2, t1
    add     t1, t1, #1
    vmov    s1, t1
    ldr     t1, [table, t2, lsl #2]
    ldmia   keys!, {r3-r7}
    eor     r3, r3, t1, ror #8
    lsr     t1, r3, #24
    ubfx    t2, r3, #16, #8
    ldr     t1, [table, t1, lsl #2]
    ldr     t2, [table, t2, lsl #2]
    eor     r5, r5, t1, ror #8
    uxtb    t1, r3
    eor     r6, r6, t2, ror #16
    ubfx    t2, r3, #8, #8
    ldr     t1, [table, t1, lsl #2]
    ldr     t2, [table, t2, lsl #2]
    eor     r4, r4, t1
    eor     r7, r7, t2, ror #24
    @ Rounds 3 to 9.
    round   r4, r5, r6, r7, r8, r9, r10, r11
    round   r8, r9, r10, r11, r4, r5, r6, r7
    round   r4, r5, r6, r7, r8, r9, r10, r11
    round   r8, r9, r10, r11, r4, r5, r6, r7
    round   r4, r5, r6, r7, r8, r9, r10, r11
    round   r8, r9, r10, r11, r4, r5, r6, r7
    round   r4, r5, r6, r7, r8, r9, r10, r11
    @ Round 10.
    ldmia   keys, {r4-r7}
    add     sbox, table, #1
    last_column r4, r8, r9, r10, r11
    last_column r5, r9, r10, r11, r8
    last_column r6, r10, r11, r8, r9
    last_column r7, r11, r8, r9, r10
    vmov    t0, s3
    stmia   out!, {r4-r7}
    cmp     out, t0
    bne     0b
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_aes_rounds

    .unreq table
    .unreq keys
    .unreq out
    .unreq t0
    .unreq t1
    .unreq t2
    .unreq sbox
