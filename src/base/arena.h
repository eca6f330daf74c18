/* Arenas: memory with one owner that is freed at once.
 *
 * An arena belongs to a module, a launch or an import; the header of what allocates from it says
 * which. Not thread-safe. Allocation returns NULL when memory is exhausted; nothing in an arena is
 * freed on its own. */
#ifndef WL_BASE_ARENA_H
#define WL_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct wl_arena wl_arena;

wl_arena *wl_arena_new(void);
void wl_arena_free(wl_arena *arena); /* NULL is allowed */

/* `size` zeroed bytes, aligned for any type (64 bytes where size >= 64). */
void *wl_arena_alloc(wl_arena *arena, size_t size);
void *wl_arena_array(wl_arena *arena, size_t count, size_t size); /* checks the product */
void *wl_arena_copy(wl_arena *arena, const void *data, size_t size);
char *wl_arena_strdup(wl_arena *arena, const char *text);
char *wl_arena_strndup(wl_arena *arena, const char *text, size_t length);
char *wl_arena_printf(wl_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far, without the arena's own overhead. */
size_t wl_arena_used(const wl_arena *arena);

#define wl_new(arena, type) ((type *)wl_arena_alloc((arena), sizeof(type)))
#define wl_new_array(arena, type, count) ((type *)wl_arena_array((arena), (count), sizeof(type)))

#endif
