/* The PTX of cubins: of those that the program had linked by cuLink*, and of those that it had compiled by ptxas while
 * `warplens profile` kept what went in. */
#include "shim/hooks/shim.h"

#include "cuda/fatbin.h"
#include "cuda/store.h"
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

bool shim_compiled_find(const void *cubin, size_t size, char **text, size_t *length)
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

/* ---- linking; with the lock held ---- */

static linking *linking_of(CUlinkState handle)
{
    linking *l = NULL;
    HASH_FIND_PTR(states, &handle, l);
    return l;
}

static void link_created(CUlinkState handle)
{
    linking *l = calloc(1, sizeof *l);
    if (!l)
        return;
    l->handle = handle;
    HASH_ADD_PTR(states, handle, l);
}

static void forget_linking(linking *l)
{
    if (!l)
        return;
    HASH_DEL(states, l);
    for (size_t i = 0; i < l->parts.count; i++)
        free(l->parts.data[i].text);
    wl_vec_free(&l->parts);
    free(l);
}

static void link_input_added(linking *l, const void *data, size_t size)
{
    cuda_image image = {0};
    wl_error err = {0};
    if (!l)
        return;
    if (cuda_image_read(data, size, shim_g.sm, &image, &err) != WL_OK) {
        l->incomplete = true;
        return;
    }
    for (size_t i = 0; i < image.count; i++) {
        if (wl_push(&l->parts, image.ptx[i]))
            image.ptx[i].text = NULL;
        else
            l->incomplete = true;
    }
    cuda_image_clear(&image);
}

static void completed(const linking *l, const void *cubin, size_t size)
{
    wl_error err = {0};
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

/* ---- hooks ---- */

#define LINK(symbol, params, args, what)              \
    HOOK(symbol, params, args)                        \
    {                                                 \
        CUresult result = real_##symbol args;         \
        if (result == CUDA_SUCCESS && rec_g.writer) { \
            pthread_mutex_lock(&rec_g.lock);          \
            what;                                     \
            pthread_mutex_unlock(&rec_g.lock);        \
        }                                             \
        return result;                                \
    }

LINK(cuLinkCreate, (unsigned count, CUjit_option *options, void **values, CUlinkState *out),
     (count, options, values, out), link_created(*out))
LINK(cuLinkCreate_v2, (unsigned count, CUjit_option *options, void **values, CUlinkState *out),
     (count, options, values, out), link_created(*out))

#define DATA_PARAMS                                                                          \
    (CUlinkState state, int type, void *data, size_t size, const char *name, unsigned count, \
     CUjit_option *options, void **values)
LINK(cuLinkAddData, DATA_PARAMS, (state, type, data, size, name, count, options, values),
     link_input_added(linking_of(state), data, size))
LINK(cuLinkAddData_v2, DATA_PARAMS, (state, type, data, size, name, count, options, values),
     link_input_added(linking_of(state), data, size))

static void added_file(linking *l, const char *path)
{
    char *data;
    size_t length;
    if (l && cuda_file_bytes(path, &data, &length, NULL) == WL_OK) {
        link_input_added(l, data, length);
        free(data);
    } else if (l) {
        l->incomplete = true;
    }
}

#define FILE_PARAMS                                                                        \
    (CUlinkState state, int type, const char *path, unsigned count, CUjit_option *options, \
     void **values)
LINK(cuLinkAddFile, FILE_PARAMS, (state, type, path, count, options, values),
     added_file(linking_of(state), path))
LINK(cuLinkAddFile_v2, FILE_PARAMS, (state, type, path, count, options, values),
     added_file(linking_of(state), path))

LINK(cuLinkComplete, (CUlinkState state, void **cubin, size_t *size), (state, cubin, size),
     if (cubin && size) completed(linking_of(state), *cubin, *size))

HOOK(cuLinkDestroy, (CUlinkState state), (state))
{
    pthread_mutex_lock(&rec_g.lock);
    forget_linking(linking_of(state));
    pthread_mutex_unlock(&rec_g.lock);
    return real_cuLinkDestroy(state);
}
