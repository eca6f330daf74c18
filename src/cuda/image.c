/* Images: whatever an application hands to the driver as device code. */
#include "cuda/fatbin.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cuda/cubin.h"
#include "ptx/lexer.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

static uint32_t first_word(const void *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Behind white space and comments, at most `end`. Stops at a NUL. */
static const char *skip_blank(const char *p, const char *end)
{
    for (;;) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*'))
            return p;
        bool line = p[1] == '/';
        for (p += 2; p < end && *p; p++)
            if (line ? *p == '\n' : p[0] == '*' && end - p > 1 && p[1] == '/')
                break;
        if (p >= end || !*p)
            return p;
        p += line ? 1 : 2;
    }
}

static size_t text_length(const char *text, size_t size)
{
    return strnlen(text, size < CUDA_MAX_CONTENT ? size : CUDA_MAX_CONTENT);
}

static bool is_ptx_text(const char *text, size_t size)
{
    const char *end = text + text_length(text, size);
    const char *p = skip_blank(text, end);
    return end - p > 8 && memcmp(p, ".version", 8) == 0;
}

cuda_image_kind cuda_image_identify(const void *data, size_t size)
{
    const char *text = data;
    bool has_word = size != CUDA_SIZE_UNKNOWN ? size >= 4
                                              : text[0] && text[1] && text[2] && text[3];
    if (has_word && first_word(data) == CUDA_WRAPPER_MAGIC)
        return CUDA_IMAGE_WRAPPER;
    if (has_word && first_word(data) == CUDA_FATBIN_MAGIC)
        return CUDA_IMAGE_FATBIN;
    if (has_word && memcmp(data, ELFMAG, SELFMAG) == 0)
        return CUDA_IMAGE_ELF;
    return is_ptx_text(text, size) ? CUDA_IMAGE_PTX : CUDA_IMAGE_UNKNOWN;
}

/* ---- what to say where nothing fits ---- */

/* Appends "PTX for sm_100a" or the like, once. */
static void append_entry_kind(const cuda_entry *entry, char *text, size_t size)
{
    static const char *const kinds[] = {"other code", "PTX", "SASS"};
    char one[64];
    size_t used = strlen(text);
    char variant[2] = {entry->variant, '\0'};
    snprintf(one, sizeof one, "%s for sm_%u%s", kinds[entry->kind], entry->arch, variant);
    if (!strstr(text, one))
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", one);
}

static wl_status nothing_fits(uint32_t sm, const char *held, wl_error *err)
{
    return wl_fail(err, WL_NOENT,
                   "the device code holds no PTX for a device of sm_%u%s%s; compile with -gencode "
                   "arch=compute_XX,"
                   "code=compute_XX or -arch=compute_XX where XX is at most %u",
                   sm, *held ? ", only " : "", held, sm);
}

/* ---- reading ---- */

typedef wl_vec(ptx_source) ptx_list;

static wl_status add_ptx_source(const cuda_entry *entry, ptx_list *list, wl_error *err)
{
    unsigned char *content;
    size_t length;
    wl_status status = cuda_entry_content(entry, &content, &length, err);
    if (status != WL_OK)
        return status;
    if (wl_push(list, (ptx_source){(char *)content, length, entry->arch, entry->variant}))
        return WL_OK;
    free(content);
    return wl_fail(err, WL_NOMEM, "no memory for device code");
}

/* Adds the fatbin's best PTX, or else its description to `held`. */
static wl_status take_best(const void *data, size_t size, uint32_t sm, ptx_list *list, char *held,
                           size_t room, wl_error *err)
{
    cuda_fatbin fatbin;
    wl_status status = cuda_fatbin_read(data, size, &fatbin, err);
    if (status != WL_OK)
        return status;
    const cuda_entry *best = cuda_fatbin_choose(&fatbin, CUDA_ENTRY_PTX, sm);
    if (best)
        status = add_ptx_source(best, list, err);
    for (size_t i = 0; !best && i < fatbin.count; i++)
        append_entry_kind(&fatbin.entries[i], held, room);
    cuda_fatbin_clear(&fatbin);
    return status;
}

/* A linked image has the SASS that came of the link, and the PTX of each object that went in. An
 * object without PTX for the device (the device runtime's library is one) is left out: what it
 * defines may not be needed. */
static wl_status take_wrapped(const void *data, uint32_t sm, ptx_list *list, char *held,
                              size_t room, wl_error *err)
{
    cuda_fatbin_wrapper wrapper;
    memcpy(&wrapper, data, sizeof wrapper);
    if (!wrapper.fatbin)
        return wl_fail(err, WL_ARG, "the wrapper of the device code is empty");
    wl_status status = take_best(wrapper.fatbin, CUDA_SIZE_UNKNOWN, sm, list, held, room, err);
    if (status != WL_OK || list->count || wrapper.version < 2 || !wrapper.prelinked)
        return status;
    for (size_t i = 0; status == WL_OK && i < CUDA_MAX_PRELINKED && wrapper.prelinked[i]; i++)
        status = take_best(wrapper.prelinked[i], CUDA_SIZE_UNKNOWN, sm, list, held, room, err);
    return status;
}

/* The first target of ".target sm_90a, ..."; 0 without. */
static uint32_t first_target_of(const char *text, size_t length, char *variant)
{
    uint32_t arch = 0;
    ptx_lexer x = ptx_lexer_of(text, length, NULL, NULL);
    *variant = '\0';
    do
        ptx_next(&x);
    while (x.tok.kind != TOK_EOF && !ptx_is_dot(&x, "target"));
    ptx_next(&x);
    if (x.tok.kind != TOK_NAME || strncmp(x.tok.text, "sm_", 3) != 0)
        return 0;
    const char *p = x.tok.text + 3;
    for (; isdigit((unsigned char)*p) && arch < 10000; p++)
        arch = arch * 10 + (uint32_t)(*p - '0');
    if (*p == 'a' || *p == 'f')
        *variant = *p;
    return arch;
}

static wl_status take_text(const char *text, size_t size, uint32_t sm, ptx_list *list,
                           wl_error *err)
{
    size_t length = text_length(text, size);
    char variant, *copy = strndup(text, length);
    if (!copy)
        return wl_fail(err, WL_NOMEM, "no memory for device code");
    uint32_t arch = first_target_of(copy, length, &variant);
    wl_status status = WL_OK;
    if (!cuda_arch_fits(arch, variant, sm))
        status = wl_fail(err, WL_UNSUPPORTED, "the PTX is for sm_%u%.1s, the device is sm_%u", arch,
                         &variant, sm);
    else if (!wl_push(list, (ptx_source){copy, length, arch, variant}))
        status = wl_fail(err, WL_NOMEM, "no memory for device code");
    if (status != WL_OK)
        free(copy);
    return status;
}

/* A cubin has no PTX; its architecture lies in the flags (bits 0-7 up to ABI 7, 8-15 since). */
static wl_status refuse_elf(const void *data, size_t size, uint32_t sm, wl_error *err)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return wl_fail(err, WL_TRUNCATED, "the ELF image is cut off");
    memcpy(&header, data, sizeof header);
    if (header.e_machine != EM_CUDA)
        return wl_fail(err, WL_PARSE, "the image is an ELF file without device code");
    return nothing_fits(sm, "a cubin (SASS)", err);
}

wl_status cuda_image_read(const void *data, size_t size, uint32_t sm, cuda_image *out,
                          wl_error *err)
{
    ptx_list list = {0};
    char held[256] = "";
    wl_status status;
    memset(out, 0, sizeof *out);
    if (!data || size == 0)
        return wl_fail(err, WL_ARG, "there is no device code");
    switch (cuda_image_identify(data, size)) {
    case CUDA_IMAGE_WRAPPER:
        status = size == CUDA_SIZE_UNKNOWN ? take_wrapped(data, sm, &list, held, sizeof held, err)
                                           : wl_fail(err, WL_ARG, "a wrapper is no image");
        break;
    case CUDA_IMAGE_FATBIN:
        status = take_best(data, size, sm, &list, held, sizeof held, err);
        break;
    case CUDA_IMAGE_ELF: status = refuse_elf(data, size, sm, err); break;
    case CUDA_IMAGE_PTX: status = take_text(data, size, sm, &list, err); break;
    default:
        status = wl_fail(err, WL_PARSE, "the image is neither PTX nor a fat binary nor a cubin");
    }
    if (status == WL_OK && list.count == 0)
        status = nothing_fits(sm, held, err);
    out->ptx = list.data;
    out->count = list.count;
    if (status != WL_OK)
        cuda_image_clear(out);
    return status;
}

void cuda_image_clear(cuda_image *image)
{
    for (size_t i = 0; i < image->count; i++)
        free(image->ptx[i].text);
    free(image->ptx);
    memset(image, 0, sizeof *image);
}

/* ---- machine code ---- */

static wl_status no_cubin(uint32_t sm, wl_error *err)
{
    return wl_fail(err, WL_NOENT, "the device code holds no machine code for sm_%u", sm);
}

static wl_status copy_cubin(const void *data, size_t size, uint32_t sm, unsigned char **cubin,
                            size_t *length, wl_error *err)
{
    *length = cuda_cubin_bytes(data, size);
    if (*length == 0)
        return no_cubin(sm, err);
    *cubin = malloc(*length);
    if (!*cubin)
        return wl_fail(err, WL_NOMEM, "no memory for device code");
    memcpy(*cubin, data, *length);
    return WL_OK;
}

static wl_status cubin_of_fatbin(const void *data, size_t size, uint32_t sm, unsigned char **cubin,
                                 size_t *length, wl_error *err)
{
    cuda_fatbin fatbin;
    wl_status status = cuda_fatbin_read(data, size, &fatbin, err);
    if (status != WL_OK)
        return status;
    const cuda_entry *best = cuda_fatbin_choose(&fatbin, CUDA_ENTRY_ELF, sm);
    status = best ? cuda_entry_content(best, cubin, length, err) : no_cubin(sm, err);
    cuda_fatbin_clear(&fatbin);
    return status;
}

wl_status cuda_image_cubin(const void *data, size_t size, uint32_t sm, unsigned char **cubin,
                           size_t *length, wl_error *err)
{
    cuda_fatbin_wrapper wrapper = {0};
    cuda_image_kind kind = data && size ? cuda_image_identify(data, size) : CUDA_IMAGE_UNKNOWN;
    if (kind == CUDA_IMAGE_WRAPPER && size == CUDA_SIZE_UNKNOWN)
        memcpy(&wrapper, data, sizeof wrapper);
    if (wrapper.fatbin)
        return cubin_of_fatbin(wrapper.fatbin, CUDA_SIZE_UNKNOWN, sm, cubin, length, err);
    if (kind == CUDA_IMAGE_FATBIN)
        return cubin_of_fatbin(data, size, sm, cubin, length, err);
    return kind == CUDA_IMAGE_ELF ? copy_cubin(data, size, sm, cubin, length, err)
                                  : no_cubin(sm, err);
}
