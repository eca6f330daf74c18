/* A kernel small enough to know the buffers of probes by hand, and others that are run as it is. */
#ifndef TESTS_REWRITE_SMALL_H
#define TESTS_REWRITE_SMALL_H

#include "probed.h"

/* k(in): one warp; lane l reads in[l] and, where it is below 3, in[in[l] + 8 * l]; adds 1 to
 * in[100] at the end. */
#define SMALL                                                               \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                         \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"        \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                \
           "mad.wide.u32 %d2, %r1, 4, %d1;\n"                               \
           "ld.global.u32 %r2, [%d2];\n"                                    \
           "setp.lt.u32 %p1, %r2, 3;\n@!%p1 bra END;\n"                     \
           "mad.lo.u32 %r3, %r1, 8, %r2;\nmad.wide.u32 %d3, %r3, 4, %d1;\n" \
           "ld.global.u32 %r4, [%d3];\n"                                    \
           "END:\nred.global.add.u32 [%d1+400], 1;\nret;\n}\n"

enum { WORDS = 512 };

typedef struct small {
    probed p;
    const rewrite_kernel *k;
    shape s;
    shot shot;
    left left;
    rewrite_object object;
} small;

/* Runs the kernel of `ptx` with these probes, its second block traced. Its memory has `words` words: in[l] is 2 for l = 4
 * and 9, else 7; the first `known` of them are an object. */
void small_begin_knowing(small *c, const char *ptx, const char *probes, bool everything,
                         uint32_t words, uint32_t known);
/* All of them are. */
void small_begin_with(small *c, const char *ptx, const char *probes, bool everything,
                      uint32_t words);
void small_begin(small *c, const char *ptx, const char *probes,
                 bool everything); /* of WORDS words */
void small_end(small *c);

#endif
