/* Keys of kernels, objects and findings that survive a rebuild and a moved line. */
#include "analysis/key.h"

#include "analysis/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct alike { /* what a row is known by, before those that are alike are numbered */
    uint64_t identity;
    uint32_t row;
} alike;

static int by_identity(const void *a, const void *b)
{
    const alike *x = a, *y = b;
    if (x->identity != y->identity)
        return x->identity < y->identity ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Sets keys[row] from the identity of each row and its number among those that are alike. */
static void number_alike(alike *rows, uint32_t count, uint64_t *keys)
{
    uint32_t number = 0;
    if (count)
        qsort(rows, count, sizeof *rows, by_identity);
    for (uint32_t i = 0; i < count; i++) {
        number = i && rows[i].identity == rows[i - 1].identity ? number + 1 : 0;
        keys[rows[i].row] = hash_number(rows[i].identity, number);
    }
}

static uint64_t kernel_key(const ana_keys *keys, const prof_kernel_rows *kernels, uint32_t id)
{
    const prof_kernel *k = prof_find_kernel(kernels, id);
    return k ? keys->kernels[k - kernels->rows] : 0;
}

static uint64_t object_identity(const ana_keys *keys, const prof_kernel_rows *kernels,
                                const prof_object *o)
{
    uint64_t hash = hash_number(hash_text(0, "object"), kernel_key(keys, kernels, o->kernel));
    return hash_text(hash_text(hash, o->function), o->variable);
}

bool ana_keys_of(const prof_kernel_rows *kernels, const prof_object_rows *objects, wl_arena *arena,
                 ana_keys *out)
{
    uint32_t most = kernels->count > objects->count ? kernels->count : objects->count;
    alike *rows = wl_new_array(arena, alike, most);
    *out = (ana_keys){.kernels = wl_new_array(arena, uint64_t, kernels->count),
                      .objects = wl_new_array(arena, uint64_t, objects->count)};
    if (!rows || !out->kernels || !out->objects)
        return false;
    for (uint32_t i = 0; i < kernels->count; i++)
        rows[i] = (alike){hash_text(hash_text(0, "kernel"), kernels->rows[i].name), i};
    number_alike(rows, kernels->count, out->kernels);
    for (uint32_t i = 0; i < objects->count; i++)
        rows[i] = (alike){object_identity(out, kernels, &objects->rows[i]), i};
    number_alike(rows, objects->count, out->objects);
    return true;
}

uint64_t ana_key_of_finding(const ana_keys *keys, const prof_kernel_rows *kernels,
                            const prof_object_rows *objects, ana_pattern pattern, uint32_t kernel,
                            uint32_t object)
{
    const prof_object *o = prof_find_object(objects, object);
    uint64_t hash = hash_text(hash_text(0, "finding"), ana_pattern_get(pattern)->name);
    hash = hash_number(hash, kernel_key(keys, kernels, kernel));
    return hash_number(hash, o ? keys->objects[o - objects->rows] : 0);
}

void ana_key_text(uint64_t key, char text[ANA_KEY_TEXT])
{
    snprintf(text, ANA_KEY_TEXT, "%016" PRIx64, key);
}
