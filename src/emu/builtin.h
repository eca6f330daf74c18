/* Functions of the CUDA system that kernels call and no PTX defines: vprintf, malloc, free,
 * __assertfail. */
#ifndef WL_EMU_BUILTIN_H
#define WL_EMU_BUILTIN_H

#include "emu/internal.h"

/* Runs for the lanes in mask; arguments and results lie in the caller's frame as the call says. */
struct emu_builtin {
    const char *name;
    void (*run)(emu_warp *w, const emu_call *call, uint32_t mask);
};

const emu_builtin *emu_builtin_find(const char *name);

/* Reads memory behind a generic address of one lane; false where it is not all accessible. */
bool emu_read_generic(emu_warp *w, uint32_t lane, uint64_t address, void *to, uint32_t bytes);
/* A NUL-terminated string, cut at `size`; false where it is not accessible. */
bool emu_read_string(emu_warp *w, uint32_t lane, uint64_t address, char *to, uint32_t size);

/* printf.c: formats for one lane and appends to the block's text. Returns the number of arguments,
 * -1 without format. */
int32_t emu_printf(emu_warp *w, uint32_t lane, uint64_t format, uint64_t args);

#endif
