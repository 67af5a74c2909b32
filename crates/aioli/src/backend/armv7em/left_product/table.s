@ Doubles a table of sums: its second half becomes the first half with one more summand.
@
@ void aioli_armv7em_double_table(uint32_t *table, uint32_t known, uint32_t even, uint32_t odd);
@
@ table   2 * known words; the first half is read, the second written
@ known   a multiple of 8, at least 8
@ even    added by exclusive or to the words at even places
@ odd     added by exclusive or to the words at odd places
@
@ Everything is secret but `known`. Stack: 36 bytes. Cost for 8 words: 12 instructions and 8 loads.

from    .req r0
known   .req r1
even    .req r2
odd     .req r3
to      .req r12

kernel aioli_armv7em_double_table
    push    {r4-r11, lr}
    add     to, from, known, lsl #2
0:
    ldmia   from!, {r4-r11}
    eor     r4, r4, even
    eor     r5, r5, odd
    eor     r6, r6, even
    eor     r7, r7, odd
    eor     r8, r8, even
    eor     r9, r9, odd
    eor     r10, r10, even
    eor     r11, r11, odd
    stmia   to!, {r4-r11}
    subs    known, known, #8
    bne     0b
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_double_table

    .unreq from
    .unreq known
    .unreq even
    .unreq odd
    .unreq to
