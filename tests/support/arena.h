/* An arena for each test, `arena`: cmocka's set-up and tear-down of those that want nothing else. */
#ifndef TESTS_SUPPORT_ARENA_H
#define TESTS_SUPPORT_ARENA_H

#include "base/arena.h"

static wl_arena *arena;

static inline int arena_set_up(void **state)
{
    (void)state;
    arena = wl_arena_new();
    return arena == NULL;
}

static inline int arena_tear_down(void **state)
{
    (void)state;
    wl_arena_free(arena);
    return 0;
}

#endif
