#include "support/scarce.h"

#include "base/arena.h"

#include <stdlib.h>

static size_t left; /* requests until one fails; 0: none does */
static bool failed;

void scarce_fail(size_t n)
{
    left = n;
    failed = false;
}

bool scarce_failed(void)
{
    return failed;
}

static bool refuses(void)
{
    if (!left)
        return false;
    left--;
    failed = left == 0;
    return failed;
}

/* The linker leads calls of FUNCTION to __wrap_FUNCTION, which leads on to __real_FUNCTION. */
#define SCARCE(type, function, parameters, ...)                   \
    type __real_##function parameters;                            \
    type __wrap_##function parameters;                            \
    type __wrap_##function parameters                             \
    {                                                             \
        return refuses() ? NULL : __real_##function(__VA_ARGS__); \
    }

SCARCE(void *, malloc, (size_t size), size)
SCARCE(void *, calloc, (size_t count, size_t size), count, size)
SCARCE(void *, realloc, (void *data, size_t size), data, size)
SCARCE(char *, strdup, (const char *text), text)
SCARCE(wl_arena *, wl_arena_new, (void), )
SCARCE(void *, wl_arena_alloc, (wl_arena * arena, size_t size), arena, size)
SCARCE(void *, wl_arena_array, (wl_arena * arena, size_t count, size_t size), arena, count, size)
SCARCE(void *, wl_arena_copy, (wl_arena * arena, const void *data, size_t size), arena, data, size)
SCARCE(char *, wl_arena_strdup, (wl_arena * arena, const char *text), arena, text)
