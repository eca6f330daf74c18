/* A library in front of the collector: one jump for each symbol that NVIDIA's library of this name exports. FRONT_LIST is
 * the generated list of FRONT(index, symbol). A slot leads to the function once it was asked for, and until then to
 * front_first, which asks. */

#if !defined(__x86_64__)
#error "the libraries in front are written for x86-64"
#endif

    .text
    .type front_first, @function
front_first:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    andq $-16, %rsp
    subq $192, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movl %r11d, %edi
    call front_find
    movq %rax, %r11
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size front_first, . - front_first

.macro front index, symbol
    .globl \symbol
    .type \symbol, @function
    .p2align 4
\symbol:
    .cfi_startproc
    endbr64
    movl $\index, %r11d
    jmp *front_slots + 8 * \index(%rip)
    .cfi_endproc
    .size \symbol, . - \symbol
.endm
#define FRONT(index, symbol) front index, symbol
#include FRONT_LIST
#undef FRONT

    .data
    .p2align 3
    .globl front_slots
    .hidden front_slots
front_slots:
.macro slot
    .quad front_first
.endm
#define FRONT(index, symbol) slot
#include FRONT_LIST
#undef FRONT

    .section .note.GNU-stack, "", @progbits
