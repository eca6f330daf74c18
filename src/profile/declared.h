/* The names of a function's parameters, as its declaration in the source has them. */
#ifndef WL_PROFILE_DECLARED_H
#define WL_PROFILE_DECLARED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `text`: source from the line on that declares `function` (its own name). Fills `names`; "" for a
 * parameter without one. False where the text there is not a declaration with `count` parameters,
 * or memory is exhausted. */
bool declared_names(const char *text, size_t length, const char *function, uint32_t count,
                    wl_arena *arena, const char **names);

#endif
