@ Turns columns of nibbles into rows, and adds the rows to `out`.
@
@ void aioli_armv7em_add_columns(const uint32_t *sums, uint32_t entry, uint8_t *out,
@                                uint32_t stride, uint32_t rows, uint32_t words);
@
@ sums    8 * words entries, an entry every `entry` bytes; nibble j of an entry's word belongs to
@         row j
@ out     `rows` rows of 4 * words bytes, `stride` bytes apart, of any alignment; added to by
@         exclusive or. Nibble i of word w of row j is nibble j of entry 8 * w + i
@ rows    1 to 8
@ words   at least 1
@
@ Secret: sums and out. Public: entry, stride, rows and words. Stack: 40 bytes.
@ Cost for 8 entries: 73 instructions and 10 loads, and 7 instructions and 2 loads for each row.

sums    .req r0
entry   .req r1
out     .req r2
t       .req r3
to      .req r12
count   .req lr

@ Exchanges the upper half of each group of 2 * shift bits of a with the lower half of the same
@ group of b.
.macro exchange a, b, shift, mask
    eor     t, \b, \a, lsr #\shift
    and     t, t, #\mask
    eor     \b, \b, t
    eor     \a, \a, t, lsl #\shift
.endm

@ The same for halves of words.
.macro exchange_halves a, b
    pkhbt   t, \a, \b, lsl #16
    pkhtb   \b, \b, \a, asr #16
    mov     \a, t
.endm

@ Adds a word to a row and moves on to the next row; leaves after the last one.
.macro add_row word
    ldr     t, [to]
    subs    count, count, #1
    eor     t, t, \word
    str     t, [to]
    beq     1f
    ldr     t, [sp]
    add     to, to, t
.endm

kernel aioli_armv7em_add_columns
    push    {r3, r4-r11, lr}
0:
    ldr     r4, [sums]
    add     sums, sums, entry
    ldr     r5, [sums]
    add     sums, sums, entry
    ldr     r6, [sums]
    add     sums, sums, entry
    ldr     r7, [sums]
    add     sums, sums, entry
    ldr     r8, [sums]
    add     sums, sums, entry
    ldr     r9, [sums]
    add     sums, sums, entry
    ldr     r10, [sums]
    add     sums, sums, entry
    ldr     r11, [sums]
    add     sums, sums, entry
    exchange_halves r4, r8
    exchange_halves r5, r9
    exchange_halves r6, r10
    exchange_halves r7, r11
    exchange r4, r6, 8, 0x00ff00ff
    exchange r5, r7, 8, 0x00ff00ff
    exchange r8, r10, 8, 0x00ff00ff
    exchange r9, r11, 8, 0x00ff00ff
    exchange r4, r5, 4, 0x0f0f0f0f
    exchange r6, r7, 4, 0x0f0f0f0f
    exchange r8, r9, 4, 0x0f0f0f0f
    exchange r10, r11, 4, 0x0f0f0f0f
    ldr     count, [sp, #40]
    mov     to, out
    add_row r4
    add_row r5
    add_row r6
    add_row r7
    add_row r8
    add_row r9
    add_row r10
    add_row r11
1:
    ldr     t, [sp, #44]
    add     out, out, #4
    subs    t, t, #1
    str     t, [sp, #44]
    bne     0b
    pop     {r3, r4-r11, pc}
end_kernel aioli_armv7em_add_columns

    .unreq sums
    .unreq entry
    .unreq out
    .unreq t
    .unreq to
    .unreq count
