/* The PTX of cubins: of those that the program had linked by cuLink*, and of those that it had
 * compiled by ptxas while `warplens profile` kept what went in. */
#include "shim/driver/impl.h"

#include "cuda/fatbin.h"
#include "cuda/store.h"
#include "program/options.h"
#include "ptx/link.h"

#include <stdlib.h>
#include <string.h>

typedef struct linked { /* a result of cuLinkComplete */
    char name[CUDA_HASH_TEXT];
    char *text;
    size_t length;
    UT_hash_handle hh;
} linked;

typedef struct linking { /* a CUlinkState */
    CUlinkState handle;
    wl_vec(ptx_source) parts;
    bool incomplete; /* something that went in has no PTX */
    UT_hash_handle hh;
} linking;

static linked *results;
static linking *states;

bool drv_compiled_find(const void *cubin, size_t size, char **text, size_t *length)
{
    char name[CUDA_HASH_TEXT];
    linked *known = NULL;
    const char *folder = prog_options_get()->ptx_store;
    if (!cuda_cubin_hash(cubin, size, name))
        return false;
    HASH_FIND_STR(results, name, known);
    if (!known)
        return *folder && cuda_store_find(folder, cubin, size, text, length);
    *text = strdup(known->text);
    *length = known->length;
    return *text != NULL;
}

/* ---- linking ---- */

static linking *linking_of(CUlinkState handle)
{
    linking *l = NULL;
    HASH_FIND_PTR(states, &handle, l);
    return l;
}

void drv_link_created(CUlinkState handle)
{
    linking *l = calloc(1, sizeof *l);
    if (!l)
        return;
    l->handle = handle;
    HASH_ADD_PTR(states, handle, l);
}

void drv_link_gone(CUlinkState handle)
{
    linking *l = linking_of(handle);
    if (!l)
        return;
    HASH_DEL(states, l);
    for (size_t i = 0; i < l->parts.count; i++)
        free(l->parts.data[i].text);
    wl_vec_free(&l->parts);
    free(l);
}

static void add_link_input(linking *l, const void *data, size_t size)
{
    cuda_image image = {0};
    wl_error err = {0};
    if (!l)
        return;
    if (cuda_image_read(data, size, drv_sm(), &image, &err) != WL_OK) {
        l->incomplete = true;
        return;
    }
    for (size_t i = 0; i < image.count; i++)
        if (wl_push(&l->parts, image.ptx[i]))
            image.ptx[i].text = NULL;
        else
            l->incomplete = true;
    cuda_image_clear(&image);
}

void drv_link_data_added(CUlinkState handle, const void *data, size_t size)
{
    add_link_input(linking_of(handle), data, size);
}

void drv_link_file_added(CUlinkState handle, const char *path)
{
    linking *l = linking_of(handle);
    char *data;
    size_t length;
    if (l && cuda_file_bytes(path, &data, &length, NULL) == WL_OK) {
        add_link_input(l, data, length);
        free(data);
    } else if (l) {
        l->incomplete = true;
    }
}

void drv_link_completed(CUlinkState handle, const void *cubin, size_t size)
{
    wl_error err = {0};
    const linking *l = linking_of(handle);
    linked *r, *known = NULL;
    if (!l || l->incomplete || !l->parts.count || !(r = calloc(1, sizeof *r)))
        return;
    if (cuda_cubin_hash(cubin, size, r->name))
        HASH_FIND_STR(results, r->name, known);
    if (*r->name && !known &&
        ptx_link(l->parts.data, l->parts.count, &r->text, &r->length, &err) == WL_OK) {
        HASH_ADD_STR(results, name, r);
        return;
    }
    free(r);
}
