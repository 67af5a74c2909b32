@ Sums of products in bit slices: 32 elements of each row times one coefficient for each row, summed
@ over the rows.
@
@ void aioli_armv7em_slices(const uint32_t *forms, const uint32_t *coefficients, uint32_t *sums);
@
@ forms         for each row nine words: the nine linear forms of its elements, one bit for each
@               element
@ coefficients  for each row a word: bits 31 to 23 are the same forms of the coefficient, the first
@               one in bit 31; bit 22 is set in the last row and clear in all others; the rest is
@               zero
@ sums          nine words, written: for each form the sum over the rows of the products of both
@
@ Everything is secret but the number of rows: forms are selected by masks. Stack: 40 bytes.
@ Cost for a row, 32 products of elements: 34 instructions and 10 loads.

forms   .req r0
coefs   .req r1
c       .req r2
t0      .req r3
t1      .req r12

@ Adds the products of two more forms.
.macro two sum0, sum1
    ldmia   forms!, {t0, t1}
    and     t0, t0, c, asr #31
    lsl     c, c, #1
    eor     \sum0, \sum0, t0
    and     t1, t1, c, asr #31
    lsl     c, c, #1
    eor     \sum1, \sum1, t1
.endm

kernel aioli_armv7em_slices
    push    {r2, r4-r11, lr}
    mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    mov     r8, #0
    mov     r9, #0
    mov     r10, #0
    mov     r11, #0
    mov     lr, #0
0:
    ldr     c, [coefs], #4
    two     r4, r5
    two     r6, r7
    two     r8, r9
    two     r10, r11
    ldr     t0, [forms], #4
    and     t0, t0, c, asr #31
    eor     lr, lr, t0
    lsls    c, c, #1
    bpl     0b
    pop     {r2}
    stmia   r2, {r4-r11, lr}
    pop     {r4-r11, pc}
end_kernel aioli_armv7em_slices

    .unreq forms
    .unreq coefs
    .unreq c
    .unreq t0
    .unreq t1
