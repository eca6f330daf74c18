/* Which file a program's name leads to, and whether it can be profiled. */
#include "program/target.h"

#include "program/elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_INTERPRETERS = 4 };

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_along_path(const char *program, char *path, size_t size)
{
    const char *search = getenv("PATH");
    if (!search)
        search = "/usr/local/bin:/usr/bin:/bin";
    while (*search) {
        size_t length = strcspn(search, ":");
        int used = snprintf(path, size, "%.*s%s%s", (int)length, search, length ? "/" : "",
                            program);
        if (used > 0 && (size_t)used < size && is_program(path))
            return true;
        search += length + (search[length] == ':');
    }
    return false;
}

static wl_status locate_program(const char *program, char *path, size_t size, wl_error *err)
{
    if (!strchr(program, '/')) {
        if (find_along_path(program, path, size))
            return WL_OK;
        return wl_fail(err, WL_NOENT, "%s: there is no such program in PATH.", program);
    }
    snprintf(path, size, "%s", program);
    struct stat st;
    if (stat(path, &st) != 0)
        return wl_fail_errno(err, "%s", program);
    if (!is_program(path))
        return wl_fail(err, WL_NOENT, "%s is not executable.", program);
    return WL_OK;
}

/* The interpreter in "#! /usr/bin/env python3" or "#!/bin/sh -e"; false where the file is no
 * script. */
static bool read_interpreter(const char *path, char *interpreter, size_t size)
{
    char line[512] = "";
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    if (length < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[strcspn(line, "\n")] = '\0';
    char *rest, *word = strtok_r(line + 2, " \t", &rest);
    if (!word)
        return false;
    const char *base = strrchr(word, '/');
    char *second = NULL;
    if (strcmp(base ? base + 1 : word, "env") == 0)
        do
            second = strtok_r(NULL, " \t", &rest);
        while (second && (*second == '-' || strchr(second, '=')));
    snprintf(interpreter, size, "%s", second ? second : word);
    return true;
}

static wl_status refuse_mode(const char *path, wl_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
        return wl_fail(err, WL_UNSUPPORTED,
                       "%s runs with another user's rights (setuid), so nothing can be loaded into "
                       "it. Profile a copy without that bit.",
                       path);
    return WL_OK;
}

static wl_status judge_elf(const char *path, const prog_elf *elf, wl_error *err)
{
    if (!elf->is_elf)
        return wl_fail(err, WL_UNSUPPORTED, "%s is neither a program nor a script.", path);
    if (!elf->is_64bit)
        return wl_fail(err, WL_UNSUPPORTED,
                       "%s is a 32-bit program; CUDA and warplens support 64-bit ones.", path);
    if (!elf->is_x86)
        return wl_fail(err, WL_UNSUPPORTED, "%s was built for another processor.", path);
    if (!elf->has_interpreter)
        return wl_fail(err, WL_UNSUPPORTED,
                       "%s is linked statically, so nothing can be loaded into it. Link it without "
                       "-static.",
                       path);
    return refuse_mode(path, err);
}

/* What only the emulator minds. */
static wl_status judge_runtime(const char *path, const prog_elf *elf, wl_error *err)
{
    if (elf->is_stripped)
        return wl_fail(err, WL_UNSUPPORTED,
                       "%s has the static CUDA runtime inside, but its symbols were stripped, and "
                       "they are needed to take the runtime's place. Link with \"nvcc -cudart "
                       "shared\", or do not strip the program (no -s, no strip).",
                       path);
    return WL_OK;
}

wl_status prog_target_read(const char *program, prog_target *out, wl_error *err)
{
    char next[4096];
    *out = (prog_target){0};
    snprintf(next, sizeof next, "%s", program);
    for (int i = 0;; i++) {
        wl_status status = locate_program(next, out->path, sizeof out->path, err);
        if (status != WL_OK)
            return status;
        if (i == MAX_INTERPRETERS || !read_interpreter(out->path, next, sizeof next))
            break;
        status = refuse_mode(out->path, err);
        if (status != WL_OK)
            return status;
        out->script = true;
    }
    prog_elf elf;
    wl_status status = prog_elf_read(out->path, &elf, err);
    if (status != WL_OK)
        return status;
    out->static_cudart = elf.has_static_runtime;
    out->shared_cudart = elf.needs_runtime;
    out->driver = elf.needs_driver;
    out->device_code = elf.has_device_code;
    out->debug_info = elf.has_debug_info;
    out->runtime_major = elf.runtime_major;
    status = judge_elf(out->path, &elf, err);
    out->stripped = status == WL_OK && elf.is_stripped;
    if (status == WL_OK)
        status = judge_runtime(out->path, &elf, err);
    prog_elf_clear(&elf);
    return status;
}

wl_status prog_check_program(const char *program, bool emulated, wl_error *err)
{
    prog_target target;
    wl_status status = prog_target_read(program, &target, err);
    return status == WL_UNSUPPORTED && target.stripped && !emulated ? WL_OK : status;
}
