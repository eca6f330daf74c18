/* What people call the memory of an allocation: the variable that keeps it, looked for from the
 * allocating call outwards along its stack, as helpers, constructors and methods hand it on. */
#ifndef WL_PROFILE_NAMING_H
#define WL_PROFILE_NAMING_H

#include "profile/builder.h"
#include "profile/keeper.h"

typedef struct naming naming;

typedef struct kept_name {
    const char *variable; /* "" unknown */
    uint32_t frame;       /* where it is kept: in the stack, which has a line there */
} kept_name;

/* It lies in `arena`; naming_end() frees what does not. NULL when memory is exhausted. */
naming *naming_new(prof_builder *b, wl_arena *arena);
void naming_end(naming *n);

/* Notes an allocation by `api`; all are noted before the first is named, for how a name is told
 * apart depends on the others. `s` has a site. False when memory is exhausted. */
bool naming_note(naming *n, const stack *s, const char *api);
/* False when memory is exhausted. */
bool naming_find(naming *n, const stack *s, kept_name *out);

/* The variable that is filled by a call of the API at a place of the text, callers left out of it;
 * "" unknown, NULL when memory is exhausted. */
const char *naming_at(naming *n, uint32_t file, uint32_t line, uint32_t column, const char *api);

#endif
