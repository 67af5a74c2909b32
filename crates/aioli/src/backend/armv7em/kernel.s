@ The beginning and the end of all kernels.
@
@ All files are assembled as one, this one first. So no two files use the same name for a macro, and
@ each file undefines its names of registers.

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
