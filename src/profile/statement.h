/* Reading the variable's name out of the statement that allocates: text heuristics over C++ source,
 * no parser. Where the text leaves doubt the answer is none. */
#ifndef WL_PROFILE_STATEMENT_H
#define WL_PROFILE_STATEMENT_H

#include "base/arena.h"

#include <stdint.h>

/* The variable that `text`, which begins with the statement's line, keeps the memory in.
 *   "CHECK(cudaMalloc((void **)&d_A, n));"          api "cudaMalloc" -> "d_A"
 *   "float *x = make_buffer(n);"                    -> "x"
 *   "thrust::device_vector<float> y(n);"            -> "y"
 * `column` (from 1; 0: unknown) tells apart several calls of the line. "" where it cannot be told;
 * NULL when memory is exhausted. */
const char *statement_variable(wl_arena *arena, const char *text, const char *api, uint32_t column);

typedef struct statement_place {
    uint32_t line, column; /* from 1 */
} statement_place;

/* Where in `text` calls of `api` stand inside the body of `function` (its unqualified name), in
 * order, at most `most`. Comments, strings and lines of the preprocessor do not count. Returns how
 * many there are. */
uint32_t statement_calls(const char *text, const char *function, const char *api,
                         statement_place *places, uint32_t most);

/* The same for the only function of the text that has such calls; 0 where several have. */
uint32_t statement_only_calls(const char *text, const char *api, statement_place *places,
                              uint32_t most);

#endif
