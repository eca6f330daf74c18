#include "cuda/store.h"

#include "cuda/cubin.h"
#include "cuda/fatbin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

bool cuda_cubin_hash(const void *cubin, size_t size, char name[CUDA_HASH_TEXT])
{
    size_t bytes = cuda_cubin_bytes(cubin, size);
    if (!bytes)
        return false;
    XXH128_hash_t hash = XXH3_128bits(cubin, bytes);
    snprintf(name, CUDA_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return true;
}

/* ---- files ---- */

static wl_status read_store_file(FILE *file, char **data, size_t *length)
{
    struct stat st;
    if (fstat(fileno(file), &st) != 0)
        return WL_IO;
    if (!S_ISREG(st.st_mode) || st.st_size < 0 || st.st_size > CUDA_MAX_CONTENT)
        return WL_LIMIT;
    *data = malloc((size_t)st.st_size + 1);
    if (!*data)
        return WL_NOMEM;
    *length = fread(*data, 1, (size_t)st.st_size, file);
    (*data)[*length] = '\0';
    return WL_OK;
}

wl_status cuda_file_bytes(const char *path, char **data, size_t *length, wl_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return wl_fail_errno(err, "cannot read %s", path);
    wl_status status = read_store_file(file, data, length);
    fclose(file);
    return status == WL_OK ? WL_OK : wl_fail(err, status, "cannot read %s", path);
}

/* "a/b/c": a, then a/b, then all. */
static wl_status make_folders(const char *folder, wl_error *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return wl_fail(err, WL_LIMIT, "the name of the folder is too long");
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return wl_fail_errno(err, "cannot make %s", folder);
    return WL_OK;
}

/* Written beside and renamed: nobody sees a half. */
static wl_status write_whole(const char *path, const char *text, size_t length, wl_error *err)
{
    char draft[PATH_MAX];
    if (snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid()) >= (int)sizeof draft)
        return wl_fail(err, WL_LIMIT, "the name of the file is too long");
    FILE *file = fopen(draft, "wbe");
    if (!file)
        return wl_fail_errno(err, "cannot write %s", draft);
    bool written = fwrite(text, 1, length, file) == length;
    written &= fclose(file) == 0;
    if (written && rename(draft, path) == 0)
        return WL_OK;
    wl_status status = wl_fail_errno(err, "cannot write %s", path);
    unlink(draft);
    return status;
}

static bool path_in(const char *folder, const void *cubin, size_t size, char path[PATH_MAX])
{
    char name[CUDA_HASH_TEXT];
    return cuda_cubin_hash(cubin, size, name) &&
           snprintf(path, PATH_MAX, "%s/%s.ptx", folder, name) < PATH_MAX;
}

wl_status cuda_store_keep(const char *folder, const void *cubin, size_t size, const char *ptx,
                          size_t length, wl_error *err)
{
    char path[PATH_MAX];
    if (!path_in(folder, cubin, size, path))
        return wl_fail(err, WL_ARG, "what was compiled is no cubin");
    wl_status status = make_folders(folder, err);
    return status == WL_OK ? write_whole(path, ptx, length, err) : status;
}

bool cuda_store_find(const char *folder, const void *cubin, size_t size, char **text,
                     size_t *length)
{
    char path[PATH_MAX];
    return path_in(folder, cubin, size, path) && cuda_file_bytes(path, text, length, NULL) == WL_OK;
}
