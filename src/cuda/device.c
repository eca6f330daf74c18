/* Reads device descriptions: JSON files of devices/, or of one's own (docs/devices.md). */
#include "cuda/device.h"

#include "base/nearest.h"

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

/* From the folder of `path` upwards: build trees and installations both have share/ beside bin/,
 * lib/ or tests/. */
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

/* What is wrong with a description: all of it, so that nobody has to mend one key after the other.
 */
typedef struct problem_list {
    char text[sizeof((wl_error *)0)->text];
    size_t used;
    int depth; /* of the file that the last one is in, see reader; -1: none yet */
} problem_list;

typedef struct reader {
    cuda_device *device;
    const char *path;
    int depth;         /* how many files inherit from this one, directly or not */
    const char *group; /* what stands before a key to name it: "", or "sm." */
    problem_list *problems;
} reader;

/* A list that is too long ends where the text does. */
static void append_problem(problem_list *p, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

static void append_problem(problem_list *p, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    int length = vsnprintf(p->text + p->used, sizeof p->text - p->used, text, args);
    va_end(args);
    if (length > 0)
        p->used += (size_t)length;
    if (p->used >= sizeof p->text)
        p->used = sizeof p->text - 1;
}

/* Begins one more problem, with the file's name where the one before is of another. */
static void next_problem(reader *r)
{
    problem_list *p = r->problems;
    if (p->used)
        append_problem(p, "; ");
    if (p->depth != r->depth)
        append_problem(p, "%s: ", r->path);
    p->depth = r->depth;
}

static void bad(reader *r, const char *key, const char *what)
{
    next_problem(r);
    append_problem(r->problems, "%s%s: %s", r->group, key, what);
}

/* 1 where it is no such number: what is wrong is not reported as missing, too. */
static uint64_t read_bounded_number(reader *r, const char *key, json_t *value, uint64_t most)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > most) {
        bad(r, key, "not a number in range");
        return 1;
    }
    return (uint64_t)number;
}

static void read_text_field(reader *r, const char *key, json_t *value, char *out, size_t size)
{
    const char *text = json_string_value(value);
    if (!text || !*text || strlen(text) >= size)
        bad(r, key, "not a text of a fitting length");
    snprintf(out, size, "%s", text && *text ? text : "?");
}

static void read_device_source(reader *r, json_t *value)
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
    char name[CUDA_ATTRIBUTE_KEY];
    for (int i = 0; i < CUDA_ATTRIBUTES; i++)
        if (cuda_attribute_key(i, name) && strcmp(name, key) == 0)
            return i;
    return -1;
}

static void read_attribute(reader *r, const char *key, json_t *value)
{
    int number = attribute_by_key(key);
    if (number < 0)
        bad(r, key, "no attribute of CUDA, CU_DEVICE_ATTRIBUTE_* in lower case");
    else if (cuda_attribute_source_of(number) == CUDA_ATTRIBUTE_HERE)
        bad(r, key, "not a matter of the chip; the emulator answers it");
    else
        r->device->attributes[number] = (int)read_bounded_number(r, key, value, INT_MAX);
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
        limits->carveout_bytes[i] = (uint32_t)read_bounded_number(r, "carveouts",
                                                                  json_array_get(value, i),
                                                                  1 << 24);
        if (i && limits->carveout_bytes[i] <= limits->carveout_bytes[i - 1])
            bad(r, "carveouts", "not ascending");
    }
}

typedef struct field {
    const char *key;
    uint32_t *value;
} field;

/* False where no field has that key. */
static bool read_field(reader *r, const field *fields, size_t count, const char *key, json_t *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0) {
            *fields[i].value = (uint32_t)read_bounded_number(r, key, value, UINT32_MAX);
            return true;
        }
    return false;
}

static void read_sm(reader *r, const char *key, json_t *value)
{
    cuda_sm_limits *limits = &r->device->limits;
    const field fields[] = {
        {"register_unit", &limits->register_unit},
        {"registers_per_thread", &limits->registers_per_thread},
        {"partitions", &limits->partitions},
        {"shared_unit", &limits->shared_unit},
        {"l1_bytes", &limits->l1_bytes},
    };
    if (strcmp(key, "carveouts") == 0)
        read_carveouts(r, value);
    else if (!read_field(r, fields, sizeof fields / sizeof *fields, key, value))
        bad(r, key, "unknown");
}

static void read_model(reader *r, const char *key, json_t *value)
{
    cuda_model *model = &r->device->model;
    const field fields[] = {
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
    if (strcmp(key, "dram_bytes_per_second") == 0)
        model->dram_bytes_per_second = (double)read_bounded_number(r, key, value, INT64_MAX);
    else if (!read_field(r, fields, sizeof fields / sizeof *fields, key, value))
        bad(r, key, "unknown");
}

const cuda_figure_text cuda_figure_texts[CUDA_ALL_FIGURES] = {
#define FIGURE(key, unit, how) [CUDA_FIGURE_##key] = {#key, unit, how},
#define CITED FIGURE
#include "cuda/figures.def"
};

double cuda_figure_of(const cuda_device *device, cuda_figure_key key)
{
    double measured = key < CUDA_FIGURES ? device->measured.figures[key].value : 0;
    return measured > 0 ? measured : device->cited.figures[key];
}

/* CUDA_ALL_FIGURES where there is none. */
static int figure_by_key(const char *key)
{
    int i = 0;
    while (i < CUDA_ALL_FIGURES && strcmp(cuda_figure_texts[i].key, key) != 0)
        i++;
    return i;
}

/* [median, lowest, highest] */
static bool read_figure_values(json_t *value, cuda_figure *figure)
{
    figure->value = json_number_value(json_array_get(value, 0));
    figure->low = json_number_value(json_array_get(value, 1));
    figure->high = json_number_value(json_array_get(value, 2));
    return json_array_size(value) == 3 && figure->low > 0 && figure->low <= figure->value &&
           figure->value <= figure->high;
}

static void read_figure(reader *r, const char *key, json_t *value)
{
    int i = figure_by_key(key);
    if (i >= CUDA_FIGURES)
        bad(r, key, "no figure that bench/device measures");
    else if (!read_figure_values(value, &r->device->measured.figures[i]))
        bad(r, key, "not the median, the lowest and the highest of what was measured");
}

static void read_group(reader *r, const char *group, json_t *object,
                       void (*read)(reader *r, const char *key, json_t *value));

static void read_measured(reader *r, const char *key, json_t *value)
{
    cuda_measured *measured = &r->device->measured;
    if (strcmp(key, "date") == 0)
        read_text_field(r, key, value, measured->date, sizeof measured->date);
    else if (strcmp(key, "driver") == 0)
        read_text_field(r, key, value, measured->driver, sizeof measured->driver);
    else if (strcmp(key, "processes") == 0)
        measured->processes = (uint32_t)read_bounded_number(r, key, value, UINT32_MAX);
    else if (strcmp(key, "figures") == 0)
        read_group(r, "measured.figures", value, read_figure);
    else
        bad(r, key, "unknown");
}

/* Each key of an object that stands under a key of its own. */
static void read_group(reader *r, const char *group, json_t *object,
                       void (*read)(reader *r, const char *key, json_t *value))
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        bad(r, group, "not an object");
    char prefix[32];
    const char *outer = r->group;
    snprintf(prefix, sizeof prefix, "%s.", group);
    r->group = prefix;
    json_object_foreach(object, key, value)
    {
        read(r, key, value);
    }
    r->group = outer;
}

static wl_status load_file(cuda_device *device, const char *path, int depth, problem_list *problems,
                           wl_error *err);

/* What a device has in common with others of its compute capability lies in cc/<name>.json. */
static wl_status read_base(reader *r, json_t *value, int depth, wl_error *err)
{
    const char *name = json_string_value(value), *slash = strrchr(r->path, '/');
    char path[PATH_MAX];
    size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0;
    if (!name || !*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
        depth >= MAX_BASES)
        return wl_fail(err, WL_PARSE,
                       "%s: inherits: not the name of a file in cc/, or too many of them", r->path);
    bool fits = format(path, sizeof path, "%.*s%s%s.json", (int)folder, r->path, depth ? "" : "cc/",
                       name);
    if (fits && access(path, R_OK) != 0) /* a description of one's own, elsewhere */
        fits = format(path, sizeof path, "%s/cc/%s.json", cuda_device_folder(), name);
    if (!fits)
        return wl_fail(err, WL_PARSE, "%s: inherits: path too long", r->path);
    return load_file(r->device, path, depth + 1, r->problems, err);
}

static void read_cited_figure(reader *r, const char *key, json_t *value)
{
    cuda_cited *cited = &r->device->cited;
    int i = figure_by_key(key);
    if (i >= CUDA_ALL_FIGURES)
        bad(r, key, "no figure");
    else if (!(json_number_value(value) > 0))
        bad(r, key, "not a number above 0");
    else {
        cited->figures[i] = json_number_value(value);
        cited->document[i] = cited->count - 1;
    }
}

/* The figures that one document tells. */
static void read_cited_document(reader *r, const char *key, json_t *value)
{
    cuda_cited *cited = &r->device->cited;
    if (cited->count == CUDA_CITED_DOCUMENTS ||
        !format(cited->documents[cited->count], sizeof *cited->documents, "%s", key))
        bad(r, key, "a document too many, or of too long a name");
    else {
        cited->count++;
        read_group(r, "cited", value, read_cited_figure);
    }
}

static void read_key(reader *r, const char *key, json_t *value)
{
    cuda_device *device = r->device;
    if (strcmp(key, "name") == 0)
        read_text_field(r, key, value, device->name, sizeof device->name);
    else if (strcmp(key, "source") == 0)
        read_device_source(r, value);
    else if (strcmp(key, "memory_bytes") == 0)
        device->global_bytes = read_bounded_number(r, key, value, INT64_MAX);
    else if (strcmp(key, "attributes") == 0)
        read_group(r, key, value, read_attribute);
    else if (strcmp(key, "sm") == 0)
        read_group(r, key, value, read_sm);
    else if (strcmp(key, "model") == 0)
        read_group(r, key, value, read_model);
    else if (strcmp(key, "measured") == 0)
        read_group(r, key, value, read_measured);
    else if (strcmp(key, "cited") == 0)
        read_group(r, key, value, read_cited_document);
    else if (strcmp(key, "inherits") != 0)
        bad(r, key, "unknown");
}

static wl_status read_object(reader *r, json_t *root, int depth, wl_error *err)
{
    json_t *base = json_object_get(root, "inherits"), *value;
    wl_status status = base ? read_base(r, base, depth, err) : WL_OK;
    const char *key;
    if (status != WL_OK)
        return status;
    json_object_foreach(root, key, value)
    {
        read_key(r, key, value);
    }
    return WL_OK;
}

/* Fails where there is nothing to read; what is wrong in what was read goes to `problems`. */
static wl_status load_file(cuda_device *device, const char *path, int depth, problem_list *problems,
                           wl_error *err)
{
    reader r = {device, path, depth, "", problems};
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root && error.line < 0)
        return wl_fail(err, WL_NOENT, "%s: cannot be read", path);
    if (!root)
        return wl_fail(err, WL_PARSE, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    wl_status status = json_is_object(root) ? read_object(&r, root, depth, err)
                                            : wl_fail(err, WL_PARSE, "%s: not an object", path);
    json_decref(root);
    return status;
}

/* ---- after reading ---- */

static int attribute_value(const cuda_device *device, int number)
{
    return device->attributes[number];
}

static void derive_limits(cuda_device *device)
{
    cuda_sm_limits *limits = &device->limits;
    device->sm = (uint32_t)(attribute_value(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *
                                10 +
                            attribute_value(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    device->l2_bytes = (uint64_t)attribute_value(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    limits->threads = (uint32_t)attribute_value(device,
                                                CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    limits->warps = limits->threads / 32;
    limits->blocks = (uint32_t)attribute_value(device,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    limits->registers = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    limits->registers_per_block = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    limits->shared = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    limits->shared_reserved = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    limits->shared_per_block = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    limits->shared_per_block_optin = (uint32_t)
        attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

/* `count`: how many were missing before, under the same heading. */
static void report_missing(reader *r, size_t count, const char *heading, const char *key)
{
    if (count == 0)
        next_problem(r);
    append_problem(r->problems, "%s%s", count ? ", " : heading, key);
}

static size_t missing_attributes(reader *r)
{
    char key[CUDA_ATTRIBUTE_KEY];
    size_t count = 0;
    for (int i = 0; i < CUDA_ATTRIBUTES; i++) {
        if (cuda_attribute_source_of(i) != CUDA_ATTRIBUTE_NEEDED ||
            attribute_value(r->device, i) > 0)
            continue;
        cuda_attribute_key(i, key);
        report_missing(r, count++, "missing in attributes: ", key);
    }
    return count;
}

/* What the rest of the code divides by or relies on; how many keys are not there. */
static size_t check_missing(reader *r)
{
    const cuda_device *device = r->device;
    const cuda_sm_limits *limits = &device->limits;
    const struct {
        const char *key;
        bool there;
    } keys[] = {
        {"name", device->name[0] != '\0'},
        {"source", device->source[0] != '\0'},
        {"memory_bytes", device->global_bytes != 0},
        {"sm.register_unit", limits->register_unit != 0},
        {"sm.registers_per_thread", limits->registers_per_thread != 0},
        {"sm.partitions", limits->partitions != 0},
        {"sm.shared_unit", limits->shared_unit != 0},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!keys[i].there)
            report_missing(r, count++, "missing: ", keys[i].key);
    return count + missing_attributes(r);
}

static void check_limits(reader *r)
{
    const cuda_sm_limits *limits = &r->device->limits;
    if (limits->registers_per_thread > 1024)
        bad(r, "sm.registers_per_thread", "more than 1024");
    if (limits->register_unit > limits->registers / limits->partitions)
        bad(r, "sm.register_unit", "more than the registers of a partition");
    if (limits->carveouts && limits->carveout_bytes[limits->carveouts - 1] != limits->shared)
        bad(r, "sm.carveouts", "the last is not attributes.max_shared_memory_per_multiprocessor");
}

/* WL_PARSE where anything was or is found wrong. */
static wl_status check_description(cuda_device *device, const char *path, problem_list *p,
                                   wl_error *err)
{
    reader r = {device, path, 0, "", p};
    bool read_well = p->used == 0;
    if (check_missing(&r) == 0 && read_well)
        check_limits(&r);
    return p->used ? wl_fail(err, WL_PARSE, "%s", p->text) : WL_OK;
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
    wl_nearest meant = {.typed = name};
    for (size_t i = 0; i < count; i++) {
        wl_nearest_try(&meant, ids[i]);
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                     ids[i]);
    }
    wl_status status = wl_fail(err, WL_NOENT,
                               "no device \"%s\"%s%s%s; there are: %s (or give the path of a "
                               "description)",
                               name, meant.word ? " (did you mean " : "",
                               meant.word ? meant.word : "", meant.word ? "?)" : "", known);
    cuda_device_list_free(ids, count);
    return status;
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
    problem_list problems = {.depth = -1};
    wl_status status = load_file(out, path, 0, &problems, err);
    if (status != WL_OK)
        return status;
    set_id(out, path);
    derive_limits(out);
    return check_description(out, path, &problems, err);
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
