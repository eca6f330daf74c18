#include "cuda/device.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ANCESTORS = 6, MAX_BASES = 3 };

/* snprintf that says whether all of it fitted. */
static bool format(char *out, size_t size, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

static bool format(char *out, size_t size, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    int length = vsnprintf(out, size, text, args);
    va_end(args);
    return length >= 0 && (size_t)length < size;
}

/* ---- where the descriptions are ---- */

static bool try_folder(char *folder, size_t size, const char *base)
{
    return format(folder, size, "%s/share/warplens/devices", base) &&
           access(folder, R_OK | X_OK) == 0;
}

/* From the folder of `path` upwards: build trees and installations both have share/ beside bin/, lib/ or tests/. */
static bool folder_above(char *folder, size_t size, const char *path)
{
    char base[PATH_MAX];
    if (!realpath(path, base))
        return false;
    for (int i = 0; i < MAX_ANCESTORS; i++) {
        char *slash = strrchr(base, '/');
        if (!slash)
            return false;
        *slash = '\0';
        if (try_folder(folder, size, base))
            return true;
    }
    return false;
}

static void find_folder(char *folder, size_t size)
{
    const char *given = getenv("WARPLENS_DEVICES");
    Dl_info info;
    folder[0] = '\0';
    if (given && *given && format(folder, size, "%s", given))
        return;
    if (dladdr((void *)cuda_device_folder, &info) && info.dli_fname &&
        folder_above(folder, size, info.dli_fname))
        return;
    if (!folder_above(folder, size, "/proc/self/exe"))
        folder[0] = '\0';
}

const char *cuda_device_folder(void)
{
    static char folder[PATH_MAX];
    static char done;
    if (!__atomic_load_n(&done,
                         __ATOMIC_ACQUIRE)) { /* computed twice at worst, with the same outcome */
        char found[PATH_MAX];
        find_folder(found, sizeof found);
        memcpy(folder, found, sizeof folder);
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    }
    return folder;
}

/* ---- JSON to struct ---- */

typedef struct reader {
    cuda_device *device;
    const char *path;
    wl_error *err;
    wl_status status;
} reader;

static void bad(reader *r, const char *where, const char *what)
{
    if (r->status == WL_OK)
        r->status = wl_fail(r->err, WL_PARSE, "%s: %s: %s", r->path, where, what);
}

static uint64_t read_number(reader *r, const char *key, json_t *value, uint64_t most)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > most) {
        bad(r, key, "not a number in range");
        return 0;
    }
    return (uint64_t)number;
}

static void read_text(reader *r, const char *key, json_t *value, char *out, size_t size)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) >= size)
        bad(r, key, "not a text of a fitting length");
    else
        snprintf(out, size, "%s", text);
}

static void read_source(reader *r, json_t *value)
{
    char *out = r->device->source;
    size_t size = sizeof r->device->source, used = strlen(out);
    for (size_t i = 0; i < json_array_size(value) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "; " : "",
                                 json_string_value(json_array_get(value, i)));
    if (!json_is_array(value) || json_array_size(value) == 0)
        bad(r, "source", "not a list of documents");
}

static int attribute_by_key(const char *key)
{
    for (int i = 0; i < CUDA_ATTRIBUTES; i++) {
        const char *name = cuda_attribute_name(i);
        size_t k = 0;
        if (!name)
            continue;
        while (name[k] && tolower((unsigned char)name[k]) == key[k])
            k++;
        if (!name[k] && !key[k])
            return i;
    }
    return -1;
}

static void read_attributes(reader *r, json_t *object)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        bad(r, "attributes", "not an object");
    json_object_foreach(object, key, value)
    {
        int number = attribute_by_key(key);
        if (number < 0)
            bad(r, key, "no device attribute of CUDA");
        else
            r->device->attributes[number] = (int)read_number(r, key, value, INT_MAX);
    }
}

static void read_carveouts(reader *r, json_t *value)
{
    cuda_sm_limits *limits = &r->device->limits;
    size_t room = sizeof limits->carveout_bytes / sizeof *limits->carveout_bytes;
    if (!json_is_array(value) || json_array_size(value) == 0 || json_array_size(value) > room) {
        bad(r, "carveouts", "not a list of sizes");
        return;
    }
    limits->carveouts = (uint32_t)json_array_size(value);
    for (uint32_t i = 0; i < limits->carveouts; i++) {
        limits->carveout_bytes[i] = (uint32_t)read_number(r, "carveouts", json_array_get(value, i),
                                                          1 << 24);
        if (i && limits->carveout_bytes[i] <= limits->carveout_bytes[i - 1])
            bad(r, "carveouts", "not ascending");
    }
}

static void read_sm(reader *r, json_t *object)
{
    cuda_sm_limits *limits = &r->device->limits;
    const struct {
        const char *key;
        uint32_t *field;
    } fields[] = {
        {"register_unit", &limits->register_unit},
        {"registers_per_thread", &limits->registers_per_thread},
        {"partitions", &limits->partitions},
        {"shared_unit", &limits->shared_unit},
        {"l1_bytes", &limits->l1_bytes},
    };
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        bad(r, "sm", "not an object");
    json_object_foreach(object, key, value)
    {
        size_t i = 0, count = sizeof fields / sizeof *fields;
        while (i < count && strcmp(fields[i].key, key) != 0)
            i++;
        if (i < count)
            *fields[i].field = (uint32_t)read_number(r, key, value, UINT32_MAX);
        else if (strcmp(key, "carveouts") == 0)
            read_carveouts(r, value);
        else
            bad(r, key, "unknown in \"sm\"");
    }
}

static void read_model(reader *r, json_t *object)
{
    cuda_model *model = &r->device->model;
    const struct {
        const char *key;
        uint32_t *field;
    } fields[] = {
        {"schedulers", &model->schedulers},
        {"fp32", &model->fp32},
        {"fp64", &model->fp64},
        {"int32", &model->int32},
        {"sfu", &model->sfu},
        {"load_store", &model->load_store},
        {"tensor_fp16", &model->tensor_fp16},
        {"shared_banks", &model->shared_banks},
        {"shared_bank_bytes", &model->shared_bank_bytes},
        {"sector_bytes", &model->sector_bytes},
        {"line_bytes", &model->line_bytes},
    };
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        bad(r, "model", "not an object");
    json_object_foreach(object, key, value)
    {
        size_t i = 0, count = sizeof fields / sizeof *fields;
        while (i < count && strcmp(fields[i].key, key) != 0)
            i++;
        if (i < count)
            *fields[i].field = (uint32_t)read_number(r, key, value, UINT32_MAX);
        else if (strcmp(key, "dram_bytes_per_second") == 0)
            model->dram_bytes_per_second = (double)read_number(r, key, value, INT64_MAX);
        else
            bad(r, key, "unknown in \"model\"");
    }
}

static wl_status load_file(cuda_device *device, const char *path, int depth, wl_error *err);

/* What a device has in common with others of its compute capability lies in cc/<name>.json. */
static void read_base(reader *r, json_t *value, int depth)
{
    const char *name = json_string_value(value), *slash = strrchr(r->path, '/');
    char path[PATH_MAX];
    size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0;
    if (!name || !*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
        depth >= MAX_BASES) {
        bad(r, "inherits", "not the name of a file in cc/, or too many of them");
        return;
    }
    bool fits = format(path, sizeof path, "%.*s%s%s.json", (int)folder, r->path, depth ? "" : "cc/",
                       name);
    if (fits && access(path, R_OK) != 0) /* a description of one's own, elsewhere */
        fits = format(path, sizeof path, "%s/cc/%s.json", cuda_device_folder(), name);
    if (fits)
        r->status = load_file(r->device, path, depth + 1, r->err);
    else
        bad(r, "inherits", "path too long");
}

static void read_key(reader *r, const char *key, json_t *value)
{
    cuda_device *device = r->device;
    if (strcmp(key, "name") == 0)
        read_text(r, key, value, device->name, sizeof device->name);
    else if (strcmp(key, "source") == 0)
        read_source(r, value);
    else if (strcmp(key, "memory_bytes") == 0)
        device->global_bytes = read_number(r, key, value, INT64_MAX);
    else if (strcmp(key, "attributes") == 0)
        read_attributes(r, value);
    else if (strcmp(key, "sm") == 0)
        read_sm(r, value);
    else if (strcmp(key, "model") == 0)
        read_model(r, value);
    else if (strcmp(key, "inherits") != 0)
        bad(r, key, "unknown key");
}

static wl_status load_file(cuda_device *device, const char *path, int depth, wl_error *err)
{
    reader r = {device, path, err, WL_OK};
    json_error_t error;
    const char *key;
    json_t *value;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root && error.line < 0)
        return wl_fail(err, WL_NOENT, "%s: cannot be read", path);
    if (!root)
        return wl_fail(err, WL_PARSE, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    if (!json_is_object(root))
        bad(&r, "file", "not an object");
    else if (json_object_get(root, "inherits"))
        read_base(&r, json_object_get(root, "inherits"), depth);
    json_object_foreach(root, key, value)
    {
        if (r.status == WL_OK)
            read_key(&r, key, value);
    }
    json_decref(root);
    return r.status;
}

/* ---- after reading ---- */

static int get(const cuda_device *device, int number)
{
    return device->attributes[number];
}

static void derive(cuda_device *device)
{
    cuda_sm_limits *limits = &device->limits;
    device->sm = (uint32_t)(get(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                            get(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    device->l2_bytes = (uint64_t)get(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    limits->threads = (uint32_t)get(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    limits->warps = limits->threads / 32;
    limits->blocks = (uint32_t)get(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    limits->registers = (uint32_t)get(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    limits->registers_per_block = (uint32_t)get(device,
                                                CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    limits->shared = (uint32_t)get(device,
                                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    limits->shared_reserved = (uint32_t)get(device,
                                            CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    limits->shared_per_block = (uint32_t)get(device,
                                             CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    limits->shared_per_block_optin = (uint32_t)
        get(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

/* What the rest of the code divides by or relies on. */
static wl_status check(const cuda_device *device, const char *path, wl_error *err)
{
    static const int needed[] = {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,
        CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT,
    };
    const cuda_sm_limits *limits = &device->limits;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (get(device, needed[i]) <= 0)
            return wl_fail(err, WL_PARSE, "%s: attribute %s is missing", path,
                           cuda_attribute_name(needed[i]));
    if (!device->name[0] || !device->source[0] || !device->global_bytes)
        return wl_fail(err, WL_PARSE, "%s: \"name\", \"source\" or \"memory_bytes\" is missing",
                       path);
    if (!limits->register_unit || !limits->partitions || !limits->shared_unit ||
        !limits->registers_per_thread || limits->registers_per_thread > 1024 ||
        limits->register_unit > limits->registers / limits->partitions)
        return wl_fail(err, WL_PARSE, "%s: \"sm\" is incomplete or contradicts the attributes",
                       path);
    if (limits->carveouts && limits->carveout_bytes[limits->carveouts - 1] != limits->shared)
        return wl_fail(err, WL_PARSE, "%s: the largest carveout is not the shared memory of an SM",
                       path);
    return WL_OK;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static void set_id(cuda_device *device, const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".json") == 0)
        length -= 5;
    if (length >= sizeof device->id)
        length = sizeof device->id - 1;
    memcpy(device->id, base, length);
    device->id[length] = '\0';
}

static wl_status unknown_device(const char *name, wl_error *err)
{
    char known[512] = "";
    char **ids;
    size_t count, used = 0;
    if (cuda_device_list(&ids, &count, NULL) != WL_OK)
        return wl_fail(err, WL_NOENT,
                       "no device description \"%s\", and no folder of descriptions in \"%s\"",
                       name, cuda_device_folder());
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ids[i]);
    cuda_device_list_free(ids, count);
    return wl_fail(err, WL_NOENT,
                   "no device \"%s\"; there are: %s (or give the path of a description)", name,
                   known);
}

wl_status cuda_device_load(const char *name, cuda_device *out, wl_error *err)
{
    char path[PATH_MAX];
    memset(out, 0, sizeof *out);
    if (is_path(name)) {
        if (!format(path, sizeof path, "%s", name))
            return wl_fail(err, WL_ARG, "the path of the device description is too long");
    } else {
        bool fits = format(path, sizeof path, "%s/%s.json", cuda_device_folder(), name);
        for (char *c = path + strlen(cuda_device_folder()); fits && *c; c++)
            *c = (char)tolower((unsigned char)*c);
        if (!fits || access(path, R_OK) != 0)
            return unknown_device(name, err);
    }
    wl_status status = load_file(out, path, 0, err);
    if (status != WL_OK)
        return status;
    set_id(out, path);
    derive(out);
    return check(out, path, err);
}

/* ---- the list ---- */

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

wl_status cuda_device_list(char ***ids, size_t *count, wl_error *err)
{
    struct dirent **entries;
    int found = scandir(cuda_device_folder(), &entries, is_description, alphasort);
    *ids = NULL;
    *count = 0;
    if (found < 0)
        return wl_fail(err, WL_NOENT, "no folder of device descriptions (\"%s\")",
                       cuda_device_folder());
    *ids = calloc((size_t)found + 1, sizeof **ids);
    for (int i = 0; i < found; i++) {
        size_t length = strlen(entries[i]->d_name) - 5;
        if (*ids && ((*ids)[*count] = strndup(entries[i]->d_name, length)))
            ++*count;
        free(entries[i]);
    }
    free(entries);
    if (*ids && *count == (size_t)found)
        return WL_OK;
    cuda_device_list_free(*ids, *count);
    *ids = NULL;
    *count = 0;
    return wl_fail(err, WL_NOMEM, "no memory for the list of devices");
}

void cuda_device_list_free(char **ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(ids[i]);
    free(ids);
}
