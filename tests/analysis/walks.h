/* Warps written by hand: the steps that each took, and what is known of the kernel. */
#ifndef TESTS_ANALYSIS_WALKS_H
#define TESTS_ANALYSIS_WALKS_H

#include "analysis/explore/outliers.h"

enum { WALK_MOST_CODE = 64, WALK_MOST_BLOCKS = 16, WALK_MOST_LOOPS = 8, WALK_MOST_PAGES = 8 };

/* A kernel: basic blocks one after the other, loops, memory instructions; line 100 + pc of "walk.cu".
 * Object 1 is "data" in global memory at 0x100000, 2 "tile" in shared memory. */
typedef struct walk_kernel {
    explore_facts facts;
    prof_code code[WALK_MOST_CODE];
    prof_static_block blocks[WALK_MOST_BLOCKS];
    prof_loop loops[WALK_MOST_LOOPS];
    prof_instruction insns[WALK_MOST_CODE];
    prof_object objects[2];
    prof_file file;
} walk_kernel;

void walk_begin(walk_kernel *k, uint32_t blocks, uint32_t threads);
/* The next block, of so many instructions, in the loop of that header (UINT32_MAX: in none). Returns its
 * first instruction. */
uint32_t walk_block(walk_kernel *k, uint32_t ninsns, uint32_t loop);
void walk_loop(walk_kernel *k, uint32_t header, uint32_t outer);
/* An instruction that accesses so many bytes a lane of object 1 or 2. */
void walk_insn(walk_kernel *k, uint32_t pc, uint32_t object, uint32_t bytes);
void walk_end(walk_kernel *k, wl_arena *arena);

/* Steps of one warp, to be given to several. */
typedef struct walk_steps {
    wl_folder *folder;
    uint32_t npages;
    wl_folded *pages;
    wl_arena *arena;
} walk_steps;

void walk_steps_begin(walk_steps *s, wl_arena *arena);
void walk_enter(walk_steps *s, uint32_t pc, uint32_t lanes);
/* Lane l accesses byte `from` + l * `stride` of the object's slot: object 1 is slot 0, 2 slot 1. */
void walk_access(walk_steps *s, uint32_t pc, uint32_t lanes, uint32_t object, int64_t from,
                 int64_t stride);
void walk_barrier(walk_steps *s, uint32_t pc);
void walk_steps_end(walk_steps *s);
/* The warp begins at these bytes of the objects. */
prof_warp walk_warp(const walk_steps *s, uint64_t block, uint32_t number, int64_t begin);

/* ---- what was made of it, one by one ---- */

const explore_visit *walk_visit(const explore_path *p, uint32_t index);
/* The request of the visit at the instruction; NULL: there is none, or no visit. */
const explore_request *walk_request(const explore_path *p, const explore_visit *v, uint32_t pc);
/* `either`: one of the two that are compared makes a request, so that no lane of one that makes none executes the
 * instruction. */
explore_operation walk_operation(const explore_path *p, const explore_visit *v, uint32_t pc,
                                 bool either);

#endif
