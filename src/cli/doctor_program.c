/* What warplens doctor says of a program. */
#include "cli/doctor.h"

#include "base/vec.h"
#include "cuda/fatbin.h"
#include "program/target.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EMULATED_SM = 90, /* of the emulator's default device */
    MAX_TEXTS = 16,   /* that are looked through for lines */
    MAX_EMPTY = 8192  /* bytes of machine code without kernels */
};

typedef wl_vec(uint32_t) archs;

typedef struct device_code {
    archs ptx, sass;
    size_t count, fits;  /* fat binaries, and those with PTX for the device */
    size_t texts, lines; /* PTX looked through, and with source lines */
} device_code;

static void add_arch(archs *list, uint32_t arch)
{
    size_t at = 0;
    while (at < list->count && list->data[at] < arch)
        at++;
    if ((at < list->count && list->data[at] == arch) || !wl_push(list, arch))
        return;
    for (size_t i = list->count - 1; i > at; i--)
        list->data[i] = list->data[i - 1];
    list->data[at] = arch;
}

/* "sm_80, sm_90"; malloc'ed. */
static char *text_of(const archs *list)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < list->count; i++)
        fprintf(out, "%ssm_%u", i ? ", " : "", list->data[i]);
    if (out)
        fclose(out);
    return text;
}

static void look_for_lines(device_code *code, const cuda_entry *entry)
{
    unsigned char *text;
    size_t length;
    wl_error err = {0};
    if (code->texts == MAX_TEXTS || cuda_entry_content(entry, &text, &length, &err) != WL_OK)
        return;
    code->texts++;
    code->lines += strstr((char *)text, "\n\t.loc") || strstr((char *)text, "\n.loc");
    free(text);
}

/* Linking leaves machine code without any kernel beside that of the program. */
static bool is_empty(const cuda_fatbin *fatbin)
{
    static const char text[] = ".text.";
    unsigned char *content;
    size_t length;
    wl_error err = {0};
    if (fatbin->count != 1 || fatbin->entries[0].kind != CUDA_ENTRY_ELF ||
        fatbin->entries[0].expanded_bytes > MAX_EMPTY ||
        cuda_entry_content(&fatbin->entries[0], &content, &length, &err) != WL_OK)
        return false;
    bool empty = !memmem(content, length, text, strlen(text));
    free(content);
    return empty;
}

static void add_fatbin(device_code *code, const cuda_fatbin *fatbin, uint32_t sm)
{
    if (is_empty(fatbin))
        return;
    code->count++;
    for (size_t i = 0; i < fatbin->count; i++) {
        const cuda_entry *e = &fatbin->entries[i];
        if (e->kind == CUDA_ENTRY_PTX)
            add_arch(&code->ptx, e->arch);
        else if (e->kind == CUDA_ENTRY_ELF)
            add_arch(&code->sass, e->arch);
    }
    const cuda_entry *chosen = cuda_fatbin_choose(fatbin, CUDA_ENTRY_PTX, sm);
    code->fits += chosen != NULL;
    if (chosen)
        look_for_lines(code, chosen);
}

static int tell_runtime(const prog_target *t, const doctor_gpu *gpu)
{
    if (t->static_cudart && t->runtime_major)
        doctor_tell(DOCTOR_GOOD, "CUDA runtime", "CUDA %d, linked statically", t->runtime_major);
    else if (t->static_cudart)
        doctor_tell(gpu->count ? DOCTOR_GOOD : DOCTOR_NOTE, "CUDA runtime",
                    "linked statically and stripped: the program can be profiled on a GPU only");
    else if (t->shared_cudart)
        doctor_tell(DOCTOR_GOOD, "CUDA runtime", "shared (libcudart.so)");
    else if (t->driver)
        doctor_tell(DOCTOR_GOOD, "CUDA runtime", "none: the program calls the driver (libcuda.so)");
    else
        doctor_tell(DOCTOR_NOTE, "CUDA runtime",
                    "not found in it; a library that it loads may bring one");
    return 0;
}

static const char machine_code_alone[] =
    "what kernels access is known where it follows from the launch, by their machine code";

static int tell_fit(const device_code *code, const doctor_gpu *gpu)
{
    uint32_t sm = gpu->count ? gpu->sm : EMULATED_SM;
    if (code->fits == code->count)
        return 0;
    if (code->fits)
        return doctor_tell(DOCTOR_NOTE, "device code",
                           "%zu of %zu modules have no PTX that fits sm_%u: %s",
                           code->count - code->fits, code->count, sm,
                           gpu->count ? machine_code_alone : "their kernels cannot be emulated");
    return doctor_tell(
        gpu->count ? DOCTOR_NOTE : DOCTOR_BAD, "device code",
        "there is no PTX that fits sm_%u, so %s: "
        "compile with nvcc -arch=sm_%u, or add -gencode arch=compute_%u,code=compute_%u",
        sm, gpu->count ? machine_code_alone : "kernels cannot be emulated", sm, sm, sm);
}

static int tell_device_code(const device_code *code, const doctor_gpu *gpu)
{
    char *ptx = text_of(&code->ptx), *sass = text_of(&code->sass);
    doctor_tell(DOCTOR_GOOD, "device code", "%zu module%s; PTX: %s; machine code: %s", code->count,
                code->count == 1 ? "" : "s", ptx && *ptx ? ptx : "none",
                sass && *sass ? sass : "none");
    free(ptx);
    free(sass);
    int bad = tell_fit(code, gpu);
    if (code->texts && !code->lines)
        bad += doctor_tell(DOCTOR_NOTE, "source lines",
                           "kernels have none: compile with nvcc -lineinfo");
    else if (code->texts)
        bad += doctor_tell(DOCTOR_GOOD, "source lines", "kernels have them");
    return bad;
}

static int check_device_code(const char *path, const doctor_gpu *gpu)
{
    cuda_file file;
    wl_error err = {0};
    device_code code = {0};
    if (cuda_file_open(path, &file, &err) != WL_OK)
        return doctor_tell(DOCTOR_NOTE, "device code", "cannot be read: %s", err.text);
    for (size_t i = 0; i < file.count; i++)
        if (file.fatbins[i].fatbin.count)
            add_fatbin(&code, &file.fatbins[i].fatbin, gpu->count ? gpu->sm : EMULATED_SM);
    int bad = code.count ? tell_device_code(&code, gpu) : 0;
    wl_vec_free(&code.ptx);
    wl_vec_free(&code.sass);
    cuda_file_close(&file);
    return bad;
}

static int tell_debug_info(const prog_target *t)
{
    if (t->debug_info)
        return doctor_tell(DOCTOR_GOOD, "debug information",
                           "there: allocations are named by variables and source lines");
    return doctor_tell(
        DOCTOR_NOTE, "debug information",
        "none: allocations are named by CUDA calls. Compile with -g to get variables and "
        "source lines");
}

int doctor_check_program(const char *program, const doctor_gpu *gpu)
{
    wl_error err = {0};
    prog_target target;
    wl_status status = prog_target_read(program, &target, &err);
    bool usable = status == WL_OK || (gpu->count && target.stripped);
    if (!usable)
        return doctor_tell(DOCTOR_BAD, "program", "%s", err.text);
    doctor_tell(DOCTOR_GOOD, "program", "%s%s can be started under warplens", target.path,
                target.script ? ", which runs the script," : "");
    int bad = tell_runtime(&target, gpu);
    if (target.device_code)
        bad += check_device_code(target.path, gpu) + tell_debug_info(&target);
    return bad;
}
