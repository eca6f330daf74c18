/* Calls of CUDA functions in source text, without line information: by their order. Text heuristics
 * over C++ source, no parser. */
#ifndef WL_PROFILE_STATEMENT_H
#define WL_PROFILE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name number `index` that a text may have for the API, from 0: its own without a version, then
 * those of the runtime's functions that come to it. False where there is none. */
bool statement_api_name(const char *api, uint32_t index, char *name, size_t size);

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
