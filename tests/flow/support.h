/* What the tests of src/flow share. Everything fails the test on any error. */
#ifndef TEST_FLOW_SUPPORT_H
#define TEST_FLOW_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/affine.h"
#include "flow/kernel.h"
#include "ptx/ptx.h"
#include "support/test.h"

#define FLOW_HEADER ".version 8.3\n.target sm_90\n.address_size 64\n"

typedef struct subject {
    wl_arena *arena;
    ir_module *module;
    ir_kernel code;
    flow_kernel *kernel;
    flow_function *f; /* the kernel's own */
    flow_proof proof;
} subject;

/* All passes and the proof of one kernel of a module in text. */
void subject_begin(subject *s, const char *ptx, const char *kernel);
void subject_end(subject *s);

/* The instruction of the kernel whose text, as the printer writes it, holds `text`; the n-th, from
 * 0. */
uint32_t pc_of(const subject *s, const char *text, unsigned n);

/* What an instruction of those that random kernels are made of computes, and what a comparison of
 * 32 bits says. */
uint64_t insn_computes(const ir_insn *insn, uint64_t a, uint64_t b, uint64_t c);
bool insn_compares(const ir_insn *insn, uint32_t a, uint32_t b);

/* A reproducible random number below `below`. */
uint32_t rnd(uint64_t *state, uint32_t below);

#endif
