/* The PTX that files hold. */
#include "cli/ptx.h"
#include "cuda/fatbin.h"

#include <string.h>

static const cuda_entry *newest(const cuda_fatbin *fatbin)
{
    const cuda_entry *best = NULL;
    for (size_t i = 0; i < fatbin->count; i++)
        if (fatbin->entries[i].kind == CUDA_ENTRY_PTX &&
            (!best || fatbin->entries[i].arch > best->arch))
            best = &fatbin->entries[i];
    return best;
}

static wl_status visit_entry(const char *path, const cuda_file_fatbin *found, size_t index,
                             ptx_visit visit, void *ctx, bool *any, wl_error *err)
{
    const cuda_entry *entry = newest(&found->fatbin);
    unsigned char *content;
    size_t length;
    char name[512];
    if (!entry)
        return WL_OK;
    wl_status status = cuda_entry_content(entry, &content, &length, err);
    if (status != WL_OK)
        return status;
    *any = true;
    snprintf(name, sizeof name, "%s (fat binary %zu)", path, index + 1);
    status = visit(ctx, name, (const char *)content, strlen((const char *)content), err);
    free(content);
    return status;
}

static wl_status visit_text(const char *path, const cuda_file *file, ptx_visit visit, void *ctx,
                            wl_error *err)
{
    char *text = malloc(file->size + 1);
    if (!text)
        return wl_fail(err, WL_NOMEM, "no memory for %s", path);
    memcpy(text, file->map, file->size);
    text[file->size] = '\0';
    wl_status status = visit(ctx, path, text, strlen(text), err);
    free(text);
    return status;
}

wl_status ptx_each(const char *path, ptx_visit visit, void *ctx, wl_error *err)
{
    cuda_file file;
    bool any = false;
    wl_status status = cuda_file_open(path, &file, err);
    if (status != WL_OK)
        return status;
    if (file.kind == CUDA_IMAGE_PTX) {
        any = true;
        status = visit_text(path, &file, visit, ctx, err);
    }
    for (size_t i = 0; i < file.count && status == WL_OK; i++)
        status = visit_entry(path, &file.fatbins[i], i, visit, ctx, &any, err);
    cuda_file_close(&file);
    if (status == WL_OK && !any)
        return wl_fail(err, WL_NOENT, "%s holds no PTX", path);
    return status;
}
