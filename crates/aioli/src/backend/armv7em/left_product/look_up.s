@ Adds to sums the entries of a table for the elements of two rows, four bytes of each row at a
@ time.
@
@ void aioli_armv7em_look_up_1(uint32_t *sums, const uint8_t *row_a, const uint8_t *row_b,
@                              const uint32_t *table, uint32_t words);
@ void aioli_armv7em_look_up_2(uint32_t *sums, const uint8_t *row_a, const uint8_t *row_b,
@                              const uint32_t *table, uint32_t words);
@
@ sums   8 * words entries of one or two words, one for each element of a row; added to by exclusive
@        or
@ row_a, row_b  4 * words bytes each, two elements a byte, low nibble first; of any alignment
@ table  256 entries of one or two words; entry a | b << 4 is for the elements a of row_a and b of
@        row_b
@ words  at least 1
@
@ Public: row_a and row_b, which address the table, and words. Secret: the table and the sums.
@ Stack: 36 bytes.
@ Cost for 8 elements of both rows: 38 instructions and 18 loads with one word, 58 and 34 with two.

sums    .req r0
row_a   .req r1
row_b   .req r2
table   .req r3
t0      .req r4
t1      .req r5
low     .req r6
high    .req r7
second  .req r12
words   .req lr

@ Makes the indices for the next four bytes of both rows: `low` for the low nibbles, `high` for the
@ high ones.
.macro indices
    ldr     t0, [row_a], #4
    ldr     t1, [row_b], #4
    and     low, t0, #0x0f0f0f0f
    and     high, t1, #0x0f0f0f0f
    bic     t0, t0, #0x0f0f0f0f
    bic     t1, t1, #0x0f0f0f0f
    orr     low, low, high, lsl #4
    orr     high, t1, t0, lsr #4
.endm

kernel aioli_armv7em_look_up_1
    push    {r4-r11, lr}
    ldr     words, [sp, #36]
0:
    indices
    ldmia   sums, {r8-r11}
    uxtb    t0, low
    uxtb    t1, high
    ldr     t0, [table, t0, lsl #2]
    ldr     t1, [table, t1, lsl #2]
    eor     r8, r8, t0
    eor     r9, r9, t1
    ubfx    t0, low, #8, #8
    ubfx    t1, high, #8, #8
    ldr     t0, [table, t0, lsl #2]
    ldr     t1, [table, t1, lsl #2]
    eor     r10, r10, t0
    eor     r11, r11, t1
    stmia   sums!, {r8-r11}
    ldmia   sums, {r8-r11}
    ubfx    t0, low, #16, #8
    ubfx    t1, high, #16, #8
    ldr     t0, [table, t0, lsl #2]
    ldr     t1, [table, t1, lsl #2]
    eor     r8, r8, t0
    eor     r9, r9, t1
    lsr     t0, low, #24
    lsr     t1, high, #24
    ldr     t0, [table, t0, lsl #2]
    ldr     t1, [table, t1, lsl #2]
    eor     r10, r10, t0
    eor     r11, r11, t1
    stmia   sums!, {r8-r11}
    subs    words, words, #1
    bne     0b
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_look_up_1

@ Adds two entries of two words, with the indices in byte `shift / 8` of `low` and of `high`.
.macro pair shift
    ldmia   sums, {r8-r11}
    ubfx    t0, low, #\shift, #8
    ldr     t1, [table, t0, lsl #3]
    ldr     t0, [second, t0, lsl #3]
    eor     r8, r8, t1
    eor     r9, r9, t0
    ubfx    t0, high, #\shift, #8
    ldr     t1, [table, t0, lsl #3]
    ldr     t0, [second, t0, lsl #3]
    eor     r10, r10, t1
    eor     r11, r11, t0
    stmia   sums!, {r8-r11}
.endm

kernel aioli_armv7em_look_up_2
    push    {r4-r11, lr}
    ldr     words, [sp, #36]
    add     second, table, #4
0:
    indices
    pair    0
    pair    8
    pair    16
    pair    24
    subs    words, words, #1
    bne     0b
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_look_up_2

    .unreq sums
    .unreq row_a
    .unreq row_b
    .unreq table
    .unreq t0
    .unreq t1
    .unreq low
    .unreq high
    .unreq second
    .unreq words
