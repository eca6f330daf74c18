#include "base/intern.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

typedef struct entry {
    UT_hash_handle hh;
    char text[];
} entry;

struct wl_intern {
    wl_arena *arena;
    entry *entries;
};

wl_intern *wl_intern_new(void)
{
    wl_intern *table = calloc(1, sizeof *table);
    if (table && !(table->arena = wl_arena_new())) {
        free(table);
        return NULL;
    }
    return table;
}

void wl_intern_free(wl_intern *table)
{
    if (!table)
        return;
    HASH_CLEAR(hh, table->entries);
    wl_arena_free(table->arena);
    free(table);
}

const char *wl_intern_n(wl_intern *table, const char *text, size_t length)
{
    entry *found = NULL;
    HASH_FIND(hh, table->entries, text, (unsigned)length, found);
    if (found)
        return found->text;
    entry *e = wl_arena_alloc(table->arena, sizeof *e + length + 1);
    if (!e)
        return NULL;
    memcpy(e->text, text, length);
    HASH_ADD_KEYPTR(hh, table->entries, e->text, (unsigned)length, e);
    return e->text;
}

const char *wl_intern_str(wl_intern *table, const char *text)
{
    return wl_intern_n(table, text, strlen(text));
}
