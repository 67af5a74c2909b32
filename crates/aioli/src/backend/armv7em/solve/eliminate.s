@ Adds multiples of one column to others: a step of an elimination.
@
@ void aioli_armv7em_eliminate(uint32_t *columns, const uint32_t *coefficients,
@                              const uint32_t *multiples, uint32_t pairs);
@
@ columns       pairs of columns, each column 80 bytes behind the one before, from the word pair on
@               where adding begins; aligned; added to by exclusive or
@ coefficients  a word for each pair of columns, as `pivot_row` writes them: the factors of both
@               columns in bits 31 to 28 and 27 to 24; bit 23 is set in the last word and clear in
@               all others; the rest is zero
@ multiples     8 words for each pair of words of the multiplied column: α^3, α^2, α and 1 times
@               that pair
@ pairs         the number of pairs of words, at least 1
@
@ Everything is secret but the numbers of columns and of pairs: multiples are selected by masks.
@ Stack: 52 bytes.
@ Cost for a pair of words of two columns: 46 instructions and 5 loads.

columns .req r0
coefs   .req r1
c       .req r2
t       .req r3
low     .req r12
high    .req lr

@ Adds a multiple if the top bit of c is set.
.macro add_if multiple_low, multiple_high
    and     t, \multiple_low, c, asr #31
    eor     low, low, t
    and     t, \multiple_high, c, asr #31
    eor     high, high, t
.endm

@ Adds to the next column.
.macro add_column
    ldrd    low, high, [columns]
    add_if  r4, r5
    lsl     c, c, #1
    add_if  r6, r7
    lsl     c, c, #1
    add_if  r8, r9
    lsl     c, c, #1
    add_if  r10, r11
    strd    low, high, [columns], #80
.endm

kernel aioli_armv7em_eliminate
    push    {r0-r11, lr}
0:
    @ On the stack: columns, coefficients, multiples, pairs.
    ldmia   sp, {columns, coefs, c}
    ldmia   c!, {r4-r11}
    str     c, [sp, #8]
1:
    ldr     c, [coefs], #4
    add_column
    lsl     c, c, #1
    add_column
    lsls    c, c, #1
    bpl     1b
    ldr     columns, [sp]
    ldr     t, [sp, #12]
    add     columns, columns, #8
    subs    t, t, #1
    str     columns, [sp]
    str     t, [sp, #12]
    bne     0b
    add     sp, sp, #16
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_eliminate

    .unreq columns
    .unreq coefs
    .unreq c
    .unreq t
    .unreq low
    .unreq high
