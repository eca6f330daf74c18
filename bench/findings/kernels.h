/* Families of kernels: each draws sizes, strides, offsets, types, guards and shapes of blocks from
 * a seed, and becomes PTX. */
#ifndef BENCH_FINDINGS_KERNELS_H
#define BENCH_FINDINGS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_OBJECTS = 8, MAX_USES = 32 };

typedef enum guard {
    ALWAYS,
    TAIL, /* the thread's number in the grid is below `limit` */
    EVEN_LANES,
    FEW_LANES,   /* the lane is below `limit` */
    FEW_WARPS,   /* the warp is */
    FIRST_BLOCK, /* only block 0 */
    OTHER_BLOCKS /* all but block 0 */
} guard;

/* An instruction, executed `steps` times with k = 0, 1, ... The element that a thread takes:
 *   e + tid * a_tid + tid.x * ax + tid.y * ay + lane * al + warp * aw + ctaid.x * ac + k * ak
 * With a `shift` that divided by a power of two; with `rotate` 32 * warp + (that mod 32); with a
 * `range` a hash of it, below the range. */
typedef struct use {
    uint32_t object;
    char op;        /* 'l'oad, 's'tore, 'r'eduction, 'a'tomic update with a result */
    uint32_t bytes; /* 4, 8, 16 */
    int32_t e, a_tid, ax, ay, al, aw, ac, ak;
    uint32_t shift;
    bool rotate;
    uint32_t range, steps;
    guard guard;
    uint32_t limit;
    bool barrier; /* before it */
} use;

typedef struct kernel_object {
    const char *family;
    bool shared;
    uint64_t bytes;
    uint32_t skew; /* bytes off the boundary that allocations have */
    /* Whose allocation it lies in, its own number where that is its own; there, and the whole. */
    uint32_t pool;
    uint64_t offset, room;
} kernel_object;

typedef struct kernel {
    uint32_t seed;
    uint32_t blocks, block[2];
    uint32_t nobjects, nuses;
    kernel_object objects[MAX_OBJECTS];
    use uses[MAX_USES];
} kernel;

/* `first`: the family of the first object; the others are drawn. */
void kernel_draw(uint32_t seed, uint32_t first, kernel *out);
uint32_t kernel_families(void);
/* PTX with an entry "k" whose parameters are the addresses of the objects that are not shared;
 * malloc'ed. */
char *kernel_ptx(const kernel *k);

#endif
