/* What the parts of `warplens ptx` share. */
#ifndef WL_CLI_PTX_H
#define WL_CLI_PTX_H

#include "base/vec.h"
#include "flow/arrays.h"
#include "sass/lift.h"

#include <jansson.h>
#include <stdio.h>

/* ---- PTX of files ---- */

/* Text, NUL-terminated, valid during the call; `name` tells it apart in messages. */
typedef wl_status (*ptx_visit)(void *ctx, const char *name, const char *text, size_t length,
                               wl_error *err);
/* Calls `visit` for the PTX in a file: PTX text, or what an executable, library, object or fat
 * binary holds, of each fat binary the PTX for the newest architecture. WL_NOENT where there is
 * none. Ends with the first failure. */
wl_status ptx_each(const char *path, ptx_visit visit, void *ctx, wl_error *err);

/* ---- one kernel ---- */

typedef struct ptx_subject {
    const char *file; /* as given on the command line */
    const ir_module *module;
    const ir_kernel *code;
    flow_kernel *kernel; /* all passes that the options need have run */
    const flow_proof *proof;
    const char *name;          /* demangled */
    const sass_lifted *lifted; /* the machine code that the module was made of; NULL: it is PTX */
    /* not found with --summary and --dump */
    const flow_counts *counts;
    const flow_fills *fills;
    const flow_arrays *arrays;
} ptx_subject;

const ir_insn *ptx_insn_at(const ptx_subject *s, uint32_t pc, const flow_function **f);
/* The machine instruction that it was made of; SASS_NOWHERE: none, or the kernel is PTX. */
uint32_t ptx_machine_insn(const ptx_subject *s, uint32_t pc);
/* Of the kernel, how many instructions have one of these flags; of machine code, machine instructions. */
uint32_t ptx_count_insns(const ptx_subject *s, uint8_t flags);
/* "ld.global.u32"; of machine code the instruction as nvdisasm prints it. Truncates. Returns buffer. */
char *ptx_op(const ptx_subject *s, uint32_t pc, char *buffer, size_t size);
/* "file.cu:12", or "PTX:80" without line information, "0x01b0" in machine code; truncates. Returns buffer. */
char *ptx_place(const ptx_subject *s, uint32_t pc, char *buffer, size_t size);
/* The linear form of the address that an access (FLOW_PC_MEMORY) touches, with its constant; "" where
 * it has no register. Returns buffer. */
char *ptx_address(const ptx_subject *s, uint32_t pc, char *buffer, size_t size);
/* An access in the terms of its calls. "" without a form. */
char *ptx_form(const ptx_subject *s, const flow_use_count *use, char *buffer, size_t size);
/* What a thread must meet to come there: "tid.x < 16 and param2 >= 1"; "" for nothing. */
char *ptx_conditions(const ptx_subject *s, const flow_use_count *use, char *buffer, size_t size);
/* Accesses of an array by a thread, added up: "3*param2; 1 where tid.x == 0"; loads (and atomics), or
 * what writes. "" for none. */
char *ptx_total(const ptx_subject *s, const flow_array *array, bool writes, char *buffer,
                size_t size);
/* The name of the array, "" where it is none. */
const char *ptx_array_name(const ptx_subject *s, const flow_array *array);
/* What ptx_print_kernel() and ptx_kernel_json() have of loops and arrays. */
void ptx_print_loops(const ptx_subject *s, FILE *out);
void ptx_print_arrays(const ptx_subject *s, FILE *out);
void ptx_print_uses(const ptx_subject *s, uint32_t pc, FILE *out);
json_t *ptx_place_json(const ptx_subject *s, uint32_t pc);
json_t *ptx_loops_json(const ptx_subject *s);
json_t *ptx_arrays_json(const ptx_subject *s);
json_t *ptx_uses_json(const ptx_subject *s, uint32_t pc);
/* Where the pointer of an access (FLOW_PC_MEMORY) comes from: "param 0", "tile (shared)"; several are
 * separated by commas, "" where it is not known. Returns buffer. */
char *ptx_origin(const ptx_subject *s, uint32_t pc, char *buffer, size_t size);

/* ---- all kernels ---- */

typedef struct ptx_cause {
    uint64_t accesses, kernels;
} ptx_cause;

typedef struct ptx_totals {
    uint64_t files, unread, kernels,
        duplicates;      /* kernels: distinct ones; duplicates come on top */
    uint64_t classes[4]; /* by flow_class */
    uint64_t mostly;     /* of FLOW_PARTLY, those with half or more of the accesses proven */
    uint64_t accesses, proven;
    ptx_cause causes[FLOW_REASON_COUNT][4]; /* by reason and flow_through */
    wl_vec(uint64_t) seen;
} ptx_totals;

/* Counts the kernel, once however often the same code comes. */
void ptx_count(ptx_totals *totals, const ptx_subject *s);

/* ---- output ---- */

void ptx_print_kernel(const ptx_subject *s, FILE *out);
void ptx_print_totals(const ptx_totals *totals, FILE *out);
json_t *ptx_kernel_json(const ptx_subject *s);
json_t *ptx_totals_json(const ptx_totals *totals);

#endif
