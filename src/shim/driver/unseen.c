/* Modules that no hook saw being loaded. The runtime of CUDA 11 loads by a table of the driver's
 * own (cuGetExportTable), which is passed through. What it loads the compiler put into the program
 * or a library, so it is looked for there, by the name of a kernel or variable of it. Where several
 * modules of a file have one of that name, they are taken one after another. */
#include "shim/driver/impl.h"

#include "base/vec.h"
#include "cuda/fatbin.h"
#include "program/elf.h"
#include "ptx/outline.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXPANDED = 256 << 20 }; /* bytes of PTX that are looked through in all */

typedef struct device_code { /* of a file; it stays mapped */
    char *file;
    const char *data;
    size_t bytes; /* 0: it has none */
} device_code;

static wl_vec(device_code) known;
typedef struct taking { /* a fat binary becomes one module a context */
    const char *fatbin;
    const void *context;
} taking;

static wl_vec(taking) taken;
static size_t expanded;

static bool is_taken(const char *fatbin, const void *context)
{
    for (size_t i = 0; i < taken.count; i++)
        if (taken.data[i].fatbin == fatbin && taken.data[i].context == context)
            return true;
    return false;
}

/* Whether the text has a kernel or a variable of that name. Most texts do not even mention it. */
static bool text_declares(const char *text, size_t length, const char *name)
{
    ptx_lexer x = ptx_lexer_of(text, length, NULL, NULL);
    ptx_statement s;
    if (!strstr(text, name))
        return false;
    ptx_next(&x);
    while (ptx_next_statement(&x, &s)) {
        bool variable = s.kind == PTX_STATEMENT_VARIABLE &&
                        (s.space == IR_SPACE_GLOBAL || s.space == IR_SPACE_CONST);
        if ((s.entry || variable) && s.linkage != IR_LINK_EXTERN && ptx_is_named(&s, name))
            return true;
    }
    return false;
}

/* ---- files ---- */

/* NULL without memory; valid until the next call. */
static const device_code *code_of(const char *path, uintptr_t base)
{
    prog_elf elf;
    wl_error err = {0};
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.data[i].file, path) == 0)
            return &known.data[i];
    device_code code = {.file = strdup(path)};
    if (prog_elf_read(path, &elf, &err) == WL_OK) {
        code.data = (const char *)(base + elf.device_code);
        code.bytes = elf.device_code ? elf.device_code_bytes : 0;
        prog_elf_clear(&elf);
    }
    if (!code.file || !wl_push(&known, code)) {
        free(code.file);
        return NULL;
    }
    return &known.data[known.count - 1];
}

typedef struct search {
    const char *name;
    unsigned sm;
    const void *context;
    drv_unseen *found;
} search;

static bool take_unseen_text(const search *s, const char *at, const cuda_fatbin *fatbin)
{
    wl_error err = {0};
    size_t length;
    unsigned char *text = NULL;
    const cuda_entry *entry = cuda_fatbin_choose(fatbin, CUDA_ENTRY_PTX, s->sm);
    if (!entry || entry->relocatable || expanded > MAX_EXPANDED || is_taken(at, s->context) ||
        cuda_entry_content(entry, &text, &length, &err) != WL_OK)
        return false;
    expanded += length;
    if (!text_declares((char *)text, length, s->name) ||
        !wl_push(&taken, ((taking){at, s->context}))) {
        free(text);
        return false;
    }
    s->found->text = (char *)text;
    s->found->length = length;
    return true;
}

/* Fat binaries lie one after the other, each aligned to 8 bytes. */
static bool look_into(const search *s, const device_code *code)
{
    bool found = false;
    for (size_t at = 0; at + 8 <= code->bytes && !found; at = (at + 7) & ~(size_t)7) {
        cuda_fatbin fatbin;
        wl_error err = {0};
        if (cuda_fatbin_read(code->data + at, code->bytes - at, &fatbin, &err) != WL_OK) {
            at += 8;
            continue;
        }
        found = take_unseen_text(s, code->data + at, &fatbin);
        at += fatbin.bytes;
        cuda_fatbin_clear(&fatbin);
    }
    return found;
}

static int look_into_file(struct dl_phdr_info *info, size_t size, void *data)
{
    const search *s = data;
    char path[PATH_MAX];
    (void)size;
    if (!realpath(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", path))
        return 0;
    const device_code *code = code_of(path, info->dlpi_addr);
    if (!code || !look_into(s, code))
        return 0;
    s->found->file = strdup(path);
    return 1;
}

bool drv_unseen_find(const char *name, unsigned sm, const void *context, drv_unseen *found)
{
    search s = {name, sm, context, found};
    *found = (drv_unseen){0};
    return dl_iterate_phdr(look_into_file, &s) != 0;
}
