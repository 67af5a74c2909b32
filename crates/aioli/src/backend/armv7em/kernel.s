@ What all kernels begin and end with. The files are assembled as one, this one first, so names of macros differ, and each
@ file gives up its names of registers.

    .syntax unified
    .thumb
    .fpu    fpv4-sp-d16

@ Begins a function.
.macro kernel name
    .section .text.\name, "ax", %progbits
    .global \name
    .type   \name, %function
    .p2align 2
\name:
.endm

@ Ends it.
.macro end_kernel name
    .size   \name, . - \name
.endm
