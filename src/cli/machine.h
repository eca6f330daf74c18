/* What `warplens code` says of machine code. */
#ifndef WL_CLI_MACHINE_H
#define WL_CLI_MACHINE_H

#include "base/error.h"

#include "cuda/cubin.h"
#include "sass/lift.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct machine_request {
    bool (*wants)(void *ctx, const char *kernel); /* by its mangled name */
    void *ctx;
    bool instructions; /* print them, too */
    bool quiet;        /* nothing else is printed */
    bool summary;      /* nothing of single kernels */
    json_t *kernels;   /* kernels are added to it; NULL: they are printed */
    /* Is given each kernel as PTX (sass/lift.h), and the object that `kernels` got of it, or NULL. May be
     * NULL. */
    wl_status (*lifted)(void *ctx, const char *kernel, const sass_lifted *lifted, json_t *object,
                        wl_error *err);
} machine_request;

typedef struct machine_totals {
    uint64_t kernels, instructions, known;
} machine_totals;

/* Lists the kernels of each cubin in a file, of all architectures. WL_NOENT where there is none.
 * Kernels that cannot be read are told of, and left out. */
wl_status machine_each(const char *path, const machine_request *request, machine_totals *totals,
                       wl_error *err);
/* An instruction as nvdisasm prints it; truncates. Returns buffer. */
char *machine_text(const sass_code *code, uint32_t i, char *buffer, size_t size);
/* The PTX, with each instruction as a comment before the lines that do the same. */
void machine_print_lifted(const sass_lifted *lifted);
void machine_print_totals(const machine_totals *totals);
json_t *machine_totals_json(const machine_totals *totals);

#endif
