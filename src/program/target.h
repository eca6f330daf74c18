/* Can this program be profiled? Asked before it is started. */
#ifndef WL_PROGRAM_TARGET_H
#define WL_PROGRAM_TARGET_H

#include "base/error.h"

#include <stdbool.h>

typedef struct prog_target {
    /* The file that exec would run: found along PATH, interpreters of scripts followed. */
    char path[4096];
    bool script;        /* the program was a script; path is its interpreter */
    bool static_cudart; /* NVIDIA's static runtime is inside */
    bool shared_cudart; /* asks for libcudart.so */
    bool driver;        /* asks for libcuda.so */
    bool device_code;   /* has kernels of its own */
    bool debug_info;    /* of its host code */
    bool stripped;      /* its static runtime cannot be redirected, and nothing else is wrong */
    int runtime_major;  /* of the static runtime; 0 without or where it cannot be told */
} prog_target;

/* `program` as it would be given to execvp. WL_NOENT: there is no such program. WL_UNSUPPORTED:
 * it exists, but cannot be profiled, and err says why and what to do: no ELF file for this
 * machine, 32-bit, setuid, without a dynamic linker, or with a static CUDA runtime whose symbols
 * were stripped. A program without any trace of CUDA is WL_OK: it may load a library. */
wl_status prog_target_read(const char *program, prog_target *out, wl_error *err);

/* As above, for the answer alone. A run on a GPU (not `emulated`) does not redirect the runtime, so
 * there a stripped one is no hindrance. */
wl_status prog_check_program(const char *program, bool emulated, wl_error *err);

#endif
