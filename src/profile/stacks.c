/* Call stacks: from return addresses to frames with functions and lines. */
#include "profile/builder.h"

#include "profile/demangle.h"

#include <stdio.h>
#include <string.h>

typedef wl_vec(stack_frame) frame_vec;

/* Wrappers that the toolkit's headers put around a call are functions of the application where they
 * are not inlined: "cudaError cudaMalloc<float>(float**, unsigned long)". */
static bool is_wrapper(wl_arena *arena, const char *function)
{
    const char *name = prof_short_name(arena, function);
    return name && strchr(name, '<') &&
           (strncmp(name, "cuda", 4) == 0 || strncmp(name, "thrust::", 8) == 0);
}

/* What a script calls by way of such a library, it calls in its own line. */
static bool is_python_extension(const char *binary)
{
    static const char *const parts[] = {"/lib/python3", "/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(binary, parts[i]))
            return true;
    return false;
}

static wl_status add_frames(prof_builder *b, const sym_frames *from, frame_vec *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const sym_frame *f = &from->rows[i];
        stack_frame made = {
            .function = f->function,
            .binary = f->binary,
            .line = f->line,
            .column = f->column,
            .offset = f->offset,
            .inlined = f->inlined,
            .main = f->main,
            .script = f->script,
        };
        if (f->path) {
            made.file = sources_id(b->sources, f->path, b->process.directory);
            if (!made.file)
                return WL_NOMEM;
        }
        made.system = (made.file && sources_system(b->sources, made.file)) ||
                      is_wrapper(b->process.arena, f->function) || is_python_extension(f->binary);
        if (!wl_push(to, made))
            return WL_NOMEM;
    }
    return WL_OK;
}

/* Of the static runtime's functions only those of its interface keep their names; others have a
 * hash, a number in CUDA 11. */
static bool is_inner(const stack_frame *f)
{
    static const char *const prefixes[] = {"libcudart_static_", "__cudart"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(f->function, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool in_shared_runtime(const stack_frame *f)
{
    const char *slash = strrchr(f->binary, '/');
    const char *file = slash ? slash + 1 : f->binary;
    return strncmp(file, "libcudart.so", strlen("libcudart.so")) == 0;
}

static bool is_interface(const stack_frame *f)
{
    return strncmp(f->function, "cuda", 4) == 0 && f->function[4] >= 'A' && f->function[4] <= 'Z';
}

/* Frames within CUDA's runtime are none of the application's. Returns the function that was called
 * there. */
static const char *mark_runtime(stack_frame *frames, size_t count)
{
    const char *called = NULL;
    bool inner = false;
    for (size_t i = 0; i < count; i++) {
        stack_frame *f = &frames[i];
        bool last = inner && !is_inner(f) && is_interface(f);
        if (!is_inner(f) && !in_shared_runtime(f) && !last)
            break;
        inner = is_inner(f);
        f->system = true;
        called = is_interface(f) ? f->function : called;
    }
    return called;
}

/* Is it the function that nvcc makes of a kernel for the host? It has the kernel's place, and calls
 * the stub whose name holds its own. */
static bool is_kernel_on_host(const stack_frame *f, const stack_frame *stub)
{
    static const char prefix[] = "__device_stub__";
    const char *end = strpbrk(f->function, "(<"), *name = f->function;
    size_t length = end ? (size_t)(end - name) : strlen(name);
    for (const char *at = name; at < name + length; at++)
        if (*at == ':' || *at == ' ') {
            length -= (size_t)(at + 1 - name);
            name = at + 1;
        }
    return strncmp(stub->function, prefix, strlen(prefix)) == 0 && length &&
           memmem(stub->function, strlen(stub->function), name, length);
}

static uint32_t find_site(const stack_frame *frames, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (!frames[i].file || frames[i].system ||
                         (i && i + 1 < count && frames[i + 1].file &&
                          is_kernel_on_host(&frames[i], &frames[i - 1]))))
        i++;
    return i;
}

/* Equal stacks have equal keys, in every run. */
static char *content_key(wl_arena *arena, const stack_frame *frames, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream && i < count; i++) {
        const stack_frame *f = &frames[i];
        fprintf(stream, "%s\n%s\n%u %u %u %llx %d\n", f->function, f->binary, f->file, f->line,
                f->column, (unsigned long long)f->offset, f->inlined);
    }
    bool good = stream && fclose(stream) == 0;
    char *key = good ? wl_arena_strdup(arena, text) : NULL;
    free(text);
    return key;
}

static wl_status write_frames(prof_builder *b, const stack *s, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < s->count && status == WL_OK; i++) {
        const stack_frame *f = &s->frames[i];
        const row_frame row = {s->id,   i,         f->function, f->file,
                               f->line, f->binary, f->offset,   f->inlined};
        status = table_insert_frames(b->insert[TABLE_frames], &row, err);
    }
    return status;
}

static wl_status intern_stack(prof_builder *b, const frame_vec *frames, stack **out, wl_error *err)
{
    char *key = content_key(b->arena, frames->data, frames->count);
    if (!key)
        return NOMEM(err);
    HASH_FIND_STR(b->stacks, key, *out);
    if (*out)
        return WL_OK;
    stack *made = wl_new(b->arena, stack);
    stack_frame *copy = wl_arena_copy(b->arena, frames->data, frames->count * sizeof *copy);
    if (!made || !copy)
        return NOMEM(err);
    *made = (stack){
        .id = ++b->nstacks, .count = (uint32_t)frames->count, .frames = copy, .key = key};
    made->runtime = mark_runtime(copy, made->count);
    made->site = find_site(copy, made->count);
    HASH_ADD_KEYPTR(hh, b->stacks, key, strlen(key), made);
    *out = made;
    return write_frames(b, made, err);
}

static wl_status make_stack(prof_builder *b, const cap_stack *record, stack **out, wl_error *err)
{
    frame_vec frames = {0};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < record->count && status == WL_OK; i++) {
        sym_frames found;
        status = symbols_resolve(b->symbols, record->pcs[i], &found);
        if (status == WL_OK)
            status = add_frames(b, &found, &frames);
    }
    status = status == WL_OK ? intern_stack(b, &frames, out, err) : NOMEM(err);
    wl_vec_free(&frames);
    return status;
}

wl_status builder_stack(prof_builder *b, const cap_stack *record, stack **out, wl_error *err)
{
    *out = NULL;
    size_t size = record->count * sizeof *record->pcs;
    if (record->count == 0)
        return WL_OK;
    stack_entry *found = NULL;
    HASH_FIND(hh, b->process.stacks, record->pcs, size, found);
    if (found) {
        *out = found->found;
        return WL_OK;
    }
    wl_status status = make_stack(b, record, out, err);
    stack_entry *made = wl_new(b->process.arena, stack_entry);
    uint64_t *pcs = wl_arena_copy(b->process.arena, record->pcs, size);
    if (status != WL_OK || !made || !pcs)
        return status != WL_OK ? status : NOMEM(err);
    *made = (stack_entry){.found = *out, .pcs = pcs};
    HASH_ADD_KEYPTR(hh, b->process.stacks, pcs, size, made);
    return WL_OK;
}
