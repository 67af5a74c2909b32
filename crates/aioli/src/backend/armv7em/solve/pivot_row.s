@ Collects the entries of columns in the pivot row as coefficients for `eliminate`, and keeps them
@ in the columns too.
@
@ void aioli_armv7em_pivot_row(const uint32_t *columns, const uint32_t *rows,
@                              uint32_t *coefficients, uint8_t *kept, uint32_t count,
@                              uint32_t shift, uint32_t pairs);
@
@ columns       the first of 2 * count columns, 80 bytes apart, from the word pair on where reading
@               begins; aligned
@ rows          2 * pairs words: all ones in the nibbles of one row or two, whose entries are added
@               by exclusive or
@ coefficients  `count` words, written: the entries of columns 2 * i and 2 * i + 1 in bits 31 to 28
@               and 27 to 24, lowest bit last; bit 23 is set in the last word; the rest is zero
@ kept          a byte of the first column, and with it the same byte of each column, which keeps
@               the column's entry
@ count         pairs of columns, at least 1
@ shift         0: the entry goes into the low nibble of the byte, and the high one is cleared; 4:
@               into the high nibble
@ pairs         pairs of words, 1 to 9
@
@ Everything is secret but the numbers. Stack: 36 bytes.
@ Cost for two columns: 11 instructions and 6 loads for each pair of words, and 28 instructions and
@ 4 loads besides.

columns  .req r0
rows     .req r1
coefs    .req r2
kept     .req r3
low_a    .req r4
high_a   .req r5
low_b    .req r6
high_b   .req r7
low_row  .req r8
high_row .req r9
sum_a    .req r10
sum_b    .req r11
enter    .req r12
count    .req lr

@ Adds the masked words of a pair to the sums of two columns, in `pair_bytes` bytes of code.
.macro add_pair number
    ldrd    low_row, high_row, [rows, #(8 * \number)]
    ldrd    low_a, high_a, [columns, #(8 * \number)]
    ldrd    low_b, high_b, [columns, #(80 + 8 * \number)]
    and.w   low_a, low_a, low_row
    and.w   low_b, low_b, low_row
    eor.w   sum_a, sum_a, low_a
    eor.w   sum_b, sum_b, low_b
    and.w   high_a, high_a, high_row
    and.w   high_b, high_b, high_row
    eor.w   sum_a, sum_a, high_a
    eor.w   sum_b, sum_b, high_b
.endm
.equ pair_bytes, 44

@ Keeps an entry `offset` bytes behind `kept`. low_row is the shift, high_row the mask of the bits
@ that the byte keeps.
.macro keep entry, offset
    ldrb    high_b, [kept, #\offset]
    and     high_b, high_b, high_row
    lsl     \entry, \entry, low_row
    orr     high_b, high_b, \entry
    strb    high_b, [kept, #\offset]
.endm

kernel aioli_armv7em_pivot_row
    push    {r4-r11, lr}
    ldr     count, [sp, #36]
    ldr     r4, [sp, #40]
    ldr     r5, [sp, #44]
    @ The byte keeps nothing for a shift of 0 and its low nibble for one of 4; the mask replaces the
    @ last argument.
    lsl     r6, r4, #2
    sub     r6, r6, r4, lsr #2
    str     r6, [sp, #44]
    @ The entry into the code below: `pairs` times `pair_bytes` before its end.
    mov     r6, #pair_bytes
    mul     r5, r5, r6
    adr.w   enter, 1f
    sub     enter, enter, r5
    orr     enter, enter, #1
0:
    mov     sum_a, #0
    mov     sum_b, #0
    bx      enter
    add_pair 8
    add_pair 7
    add_pair 6
    add_pair 5
    add_pair 4
    add_pair 3
    add_pair 2
    add_pair 1
    add_pair 0
1:
    @ The entry is the sum of a word's nibbles, which are folded onto the lowest nibble of each
    @ half.
    eor     sum_a, sum_a, sum_a, lsr #16
    eor     sum_b, sum_b, sum_b, lsr #16
    pkhbt   sum_a, sum_a, sum_b, lsl #16
    ldrd    low_row, high_row, [sp, #40]
    eor     sum_a, sum_a, sum_a, lsr #8
    eor     sum_a, sum_a, sum_a, lsr #4
    and     low_a, sum_a, #15
    ubfx    high_a, sum_a, #16, #4
    lsl     low_b, low_a, #28
    orr     low_b, low_b, high_a, lsl #24
    str     low_b, [coefs], #4
    keep    low_a, 0
    keep    high_a, 80
    add     columns, columns, #160
    add     kept, kept, #160
    subs    count, count, #1
    bne     0b
    orr     low_b, low_b, #(1 << 23)
    str     low_b, [coefs, #-4]
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_pivot_row

    .unreq columns
    .unreq rows
    .unreq coefs
    .unreq kept
    .unreq low_a
    .unreq high_a
    .unreq low_b
    .unreq high_b
    .unreq low_row
    .unreq high_row
    .unreq sum_a
    .unreq sum_b
    .unreq enter
    .unreq count
