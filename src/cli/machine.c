/* Lists kernels of cubins. */
#include "cli/machine.h"

#include "base/log.h"
#include "cuda/cubin.h"
#include "cuda/fatbin.h"
#include "profile/demangle.h"
#include "sass/lift.h"
#include "sass/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct machine_list {
    const machine_request *request;
    machine_totals *totals;
    const char *path;
    const unsigned char *cubin;
    size_t size;
    uint32_t sm;
} machine_list;

typedef struct machine_kernel {
    const char *name; /* demangled */
    const cuda_layout *layout;
    const sass_code *code;
    uint32_t known;
} machine_kernel;

static double known_percent(uint64_t known, uint64_t all)
{
    return all ? 100.0 * (double)known / (double)all : 100.0;
}

char *machine_text(const sass_code *code, uint32_t i, char *buffer, size_t size)
{
    sass_details insn;
    (void)sass_read(code->bytes + (size_t)i * SASS_BYTES, i, code->sm, &insn);
    (void)sass_print(&insn, code->sm, buffer, size);
    return buffer;
}

static void print_instruction(const char *before, const sass_code *code, uint32_t i)
{
    char text[512];
    printf("%s%04x  %s\n", before, i * SASS_BYTES, machine_text(code, i, text, sizeof text));
}

static void print_instructions(const sass_code *code)
{
    for (uint32_t i = 0; i < code->count; i++)
        print_instruction("    ", code, i);
}

void machine_print_lifted(const sass_lifted *lifted)
{
    const char *text = lifted->text;
    for (uint32_t line = 1, last = SASS_NOWHERE; *text; line++) {
        uint32_t insn = line <= lifted->lines ? lifted->insn_of_line[line] : SASS_NOWHERE;
        size_t length = strcspn(text, "\n");
        if (insn != last && insn < lifted->code.count)
            print_instruction("    // ", &lifted->code, insn);
        printf("%.*s\n", (int)length, text);
        last = insn;
        text += length + (text[length] != '\0');
    }
}

static void print_machine_kernel(const machine_kernel *k)
{
    const sass_places *places = &k->code->places;
    printf("%s\n  sm_%u, %u registers, %u parameter%s (%u bytes", k->name, k->code->sm,
           k->code->registers, k->layout->count, k->layout->count == 1 ? "" : "s",
           k->layout->bytes);
    if (places->param_bytes)
        printf(" from c[0x0][0x%x] on", places->param_base);
    printf("), %" PRIu64 " bytes of shared memory, %u instructions, %.2f %% known\n",
           places->shared, k->code->count, known_percent(k->known, k->code->count));
}

static json_t *machine_params_json(const cuda_layout *layout)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < layout->count; i++)
        json_array_append_new(list, json_pack("{s:i, s:i}", "offset", (int)layout->params[i].offset,
                                              "bytes", (int)layout->params[i].bytes));
    return list;
}

static json_t *machine_kernel_json(const machine_kernel *k)
{
    const sass_places *places = &k->code->places;
    return json_pack("{s:s, s:s, s:i, s:i, s:o, s:i, s:I, s:i, s:i}", "kernel", k->name, "symbol",
                     k->layout->kernel, "sm", (int)k->code->sm, "registers",
                     (int)k->code->registers, "parameters", machine_params_json(k->layout),
                     "parameter_base", (int)places->param_base, "shared_bytes",
                     (json_int_t)places->shared, "instructions", (int)k->code->count, "known",
                     (int)k->known);
}

/* Returns what the list of kernels got of it, or NULL. */
static json_t *show_machine_kernel(const machine_list *l, const machine_kernel *k)
{
    const machine_request *r = l->request;
    l->totals->kernels++;
    l->totals->instructions += k->code->count;
    l->totals->known += k->known;
    json_t *object = r->kernels && !r->summary ? machine_kernel_json(k) : NULL;
    if (object)
        json_array_append_new(r->kernels, object);
    else if (!r->summary && !r->quiet)
        print_machine_kernel(k);
    if (r->instructions)
        print_instructions(k->code);
    return object;
}

static wl_status list_machine_kernel(const machine_list *l, const cuda_layout *layout,
                                     wl_arena *arena, wl_error *err)
{
    const machine_request *r = l->request;
    sass_lifted lifted;
    wl_status status = sass_code_read(l->cubin, l->size, l->sm, layout->kernel, arena, &lifted.code,
                                      err);
    if (status != WL_OK)
        return status;
    const char *name = prof_demangle(arena, layout->kernel);
    json_t *object = show_machine_kernel(l, &(machine_kernel){name ? name : layout->kernel, layout,
                                                              &lifted.code,
                                                              sass_code_known(&lifted.code)});
    if (!r->lifted)
        return WL_OK;
    status = sass_lift(l->cubin, l->size, l->sm, layout->kernel, arena, &lifted, err);
    return status == WL_OK ? r->lifted(r->ctx, layout->kernel, &lifted, object, err) : status;
}

/* What cannot be read or analysed is told of, and left out. */
static void try_machine_kernel(const machine_list *l, const cuda_layout *layout)
{
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    if (!arena || list_machine_kernel(l, layout, arena, &err) != WL_OK)
        wl_log(WL_LOG_WARN, "%s: %s", layout->kernel,
               arena ? err.text : "there is no memory for it");
    wl_arena_free(arena);
}

static wl_status list_cubin(const machine_list *l, wl_error *err)
{
    cuda_layouts layouts;
    if (!cuda_cubin_bytes(l->cubin, l->size))
        return wl_fail(err, WL_CORRUPT, "%s: the machine code for sm_%u is damaged; compile again",
                       l->path, l->sm);
    cuda_cubin_layouts(l->cubin, l->size, &layouts);
    for (size_t i = 0; i < layouts.count; i++)
        if (l->request->wants(l->request->ctx, layouts.list[i].kernel))
            try_machine_kernel(l, &layouts.list[i]);
    cuda_layouts_clear(&layouts);
    return WL_OK;
}

static wl_status list_machine_entry(machine_list *l, const cuda_entry *entry, wl_error *err)
{
    unsigned char *content;
    wl_status status = cuda_entry_content(entry, &content, &l->size, err);
    if (status != WL_OK)
        return status;
    l->cubin = content;
    l->sm = entry->arch;
    status = list_cubin(l, err);
    free(content);
    return status;
}

static wl_status list_fatbin(machine_list *l, const cuda_fatbin *fatbin, bool *any, wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < fatbin->count && status == WL_OK; i++)
        if (fatbin->entries[i].kind == CUDA_ENTRY_ELF) {
            *any = true;
            status = list_machine_entry(l, &fatbin->entries[i], err);
        }
    return status;
}

wl_status machine_each(const char *path, const machine_request *request, machine_totals *totals,
                       wl_error *err)
{
    machine_list l = {.request = request, .totals = totals, .path = path};
    cuda_file file;
    wl_status status = cuda_file_open(path, &file, err);
    if (status != WL_OK)
        return status;
    bool any = file.cubin;
    if (file.cubin) {
        l.cubin = file.map;
        l.size = file.size;
        l.sm = cuda_cubin_sm(file.map, file.size);
        status = list_cubin(&l, err);
    }
    for (size_t i = 0; i < file.count && status == WL_OK; i++)
        status = list_fatbin(&l, &file.fatbins[i].fatbin, &any, err);
    cuda_file_close(&file);
    return status == WL_OK && !any ? wl_fail(err, WL_NOENT, "%s holds no machine code", path)
                                   : status;
}

void machine_print_totals(const machine_totals *totals)
{
    printf("%" PRIu64 " kernel%s of machine code, %" PRIu64 " instructions, %.2f %% known\n",
           totals->kernels, totals->kernels == 1 ? "" : "s", totals->instructions,
           known_percent(totals->known, totals->instructions));
}

json_t *machine_totals_json(const machine_totals *totals)
{
    return json_pack("{s:I, s:I, s:I}", "kernels", (json_int_t)totals->kernels, "instructions",
                     (json_int_t)totals->instructions, "known", (json_int_t)totals->known);
}
