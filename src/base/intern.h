/* Interned strings: equal strings have equal pointers. A table owns its strings until it is freed; not thread-safe. */
#ifndef WL_BASE_INTERN_H
#define WL_BASE_INTERN_H

#include <stddef.h>

typedef struct wl_intern wl_intern;

wl_intern *wl_intern_new(void);
void wl_intern_free(wl_intern *table); /* NULL is allowed */

/* The one copy of text[0..length), NUL-terminated; NULL when memory is exhausted. */
const char *wl_intern_n(wl_intern *table, const char *text, size_t length);
const char *wl_intern_str(wl_intern *table, const char *text);

#endif
