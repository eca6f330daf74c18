/* Keys: numbers by which kernels, objects and findings are known again in the profile of another
 * run or another build of the program. No address, id, line or path goes into them:
 *   kernel   its demangled name with template arguments and parameters
 *   object   its variable, the function that allocates it, the kernel whose array it is
 *   finding  its pattern, and the keys of its kernel and object
 * Kernels (objects) that are alike in that are numbered in the order of the profile, and the number
 * goes into the key, too: the first stays the first, whatever comes after it. */
#ifndef WL_ANALYSIS_KEY_H
#define WL_ANALYSIS_KEY_H

#include "analysis/finding.h"

typedef struct ana_keys { /* by row of the tables that they were made for */
    uint64_t *kernels, *objects;
} ana_keys;

/* They lie in `arena`. False when memory is exhausted. */
bool ana_keys_of(const prof_kernel_rows *kernels, const prof_object_rows *objects, wl_arena *arena,
                 ana_keys *out);

/* Ids as the tables have them; an unknown one counts as 0, which has a key, too. */
uint64_t ana_key_of_finding(const ana_keys *keys, const prof_kernel_rows *kernels,
                            const prof_object_rows *objects, ana_pattern pattern, uint32_t kernel,
                            uint32_t object);

enum { ANA_KEY_TEXT = 17 }; /* bytes of a key as text, with its NUL */
/* 16 hexadecimal digits. */
void ana_key_text(uint64_t key, char text[ANA_KEY_TEXT]);

#endif
