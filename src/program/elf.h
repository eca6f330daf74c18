/* What an ELF file says about its use of CUDA: which libraries it asks for, and whether NVIDIA's
 * static runtime was linked into it, with or without the symbols that are needed to redirect it. */
#ifndef WL_PROGRAM_ELF_H
#define WL_PROGRAM_ELF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct prog_elf_function { /* a function of the static runtime */
    char *name;
    uint64_t address; /* as linked */
    uint64_t size;    /* as the symbol states it */
    uint64_t room;    /* bytes until the next function starts */
} prog_elf_function;

typedef struct prog_elf {
    bool is_elf, is_64bit, is_x86;
    bool has_interpreter; /* the dynamic linker loads it */
    bool has_device_code; /* fat binaries */
    uint64_t device_code,
        device_code_bytes;   /* where they lie, as linked; 0: not in a section of their own */
    bool has_debug_info;     /* of the host's code */
    bool needs_runtime;      /* libcudart.so */
    bool needs_driver;       /* libcuda.so */
    bool has_static_runtime; /* found by its functions or, where they are stripped, by its texts */
    bool is_stripped;        /* static runtime without symbols */
    int runtime_major;       /* of the static runtime: 11, 12, 13; 0 where it cannot be told */
    prog_elf_function *functions; /* by address; of the static runtime */
    size_t count;
} prog_elf;

/* A file that is no ELF file gives WL_OK and is_elf false. WL_IO, WL_NOENT, WL_NOMEM, WL_PARSE. */
wl_status prog_elf_read(const char *path, prog_elf *out, wl_error *err);
void prog_elf_clear(prog_elf *elf);

#endif
