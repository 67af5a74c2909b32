@ Calls a function with known values in the registers that it must preserve, and reports those that
@ it did not.
@
@     uint32_t aioli_check_abi(const void *function, const uint32_t arguments[8],
@                              const uint32_t values[24]);
@
@ The first four arguments go to r0 to r3, the others to the stack. The values go to r4 to r11 and
@ s16 to s31.
@
@ Returns a bit for each violation:
@ - bits 0 to 7 for r4 to r11;
@ - bits 8 to 23 for s16 to s31;
@ - bit 24 for a stack pointer that differs from before the call;
@ - bit 25 for a stack pointer that is not a multiple of 8.
@
@ A function that calls another must align the stack pointer to 8 there, too, which this stub cannot
@ see. No kernel calls another function, as `cargo xtask firmware` checks in the image, so a kernel
@ may push any number of words.

    .syntax unified
    .thumb
    .fpu    fpv4-sp-d16

    .section .bss.aioli_check_abi_stack, "aw", %nobits
    .p2align 2
aioli_check_abi_stack:
    .space  4

.macro check_core register, bit
    ldr     r1, [r2], #4
    cmp     r1, \register
    it      ne
    orrne   r0, r0, #(1 << \bit)
.endm

.macro check_float register, bit
    vmov    r3, \register
    check_core r3, \bit
.endm

    .section .text.aioli_check_abi, "ax", %progbits
    .global aioli_check_abi
    .type   aioli_check_abi, %function
    .p2align 2
aioli_check_abi:
    push    {r4-r11, lr}
    vpush   {s16-s31}
    sub     sp, sp, #20
    str     r2, [sp, #16]
    mov     r12, r0
    add     r3, r1, #16
    ldmia   r3, {r4-r7}
    stmia   sp, {r4-r7}
    ldr     r3, =aioli_check_abi_stack
    str     sp, [r3]
    add     r3, r2, #32
    vldmia  r3, {s16-s31}
    ldmia   r2, {r4-r11}
    ldmia   r1, {r0-r3}
    blx     r12
    mov     r0, #0
    ldr     r3, =aioli_check_abi_stack
    ldr     r2, [r3]
    mov     r1, sp
    cmp     r1, r2
    it      ne
    orrne   r0, r0, #(1 << 24)
    tst     r1, #7
    it      ne
    orrne   r0, r0, #(1 << 25)
    mov     sp, r2
    ldr     r2, [sp, #16]
    check_core r4, 0
    check_core r5, 1
    check_core r6, 2
    check_core r7, 3
    check_core r8, 4
    check_core r9, 5
    check_core r10, 6
    check_core r11, 7
    check_float s16, 8
    check_float s17, 9
    check_float s18, 10
    check_float s19, 11
    check_float s20, 12
    check_float s21, 13
    check_float s22, 14
    check_float s23, 15
    check_float s24, 16
    check_float s25, 17
    check_float s26, 18
    check_float s27, 19
    check_float s28, 20
    check_float s29, 21
    check_float s30, 22
    check_float s31, 23
    add     sp, sp, #20
    vpop    {s16-s31}
    pop     {r4-r11, pc}
    .ltorg
    .size   aioli_check_abi, . - aioli_check_abi

@ Planted violations, one of each kind, which the caller must find.
    .section .text.aioli_planted, "ax", %progbits
    .global aioli_planted_core
    .type   aioli_planted_core, %function
aioli_planted_core:
    add     r7, r7, #1
    bx      lr
    .global aioli_planted_float
    .type   aioli_planted_float, %function
aioli_planted_float:
    vmov    r0, s20
    mvn     r0, r0
    vmov    s20, r0
    bx      lr
    .global aioli_planted_stack
    .type   aioli_planted_stack, %function
aioli_planted_stack:
    sub     sp, sp, #8
    bx      lr
    .global aioli_planted_alignment
    .type   aioli_planted_alignment, %function
aioli_planted_alignment:
    sub     sp, sp, #4
    bx      lr
    .global aioli_planted_call
    .type   aioli_planted_call, %function
aioli_planted_call:
    push    {lr}
    bl      aioli_planted_core
    pop     {pc}
    .size   aioli_planted_call, . - aioli_planted_call
