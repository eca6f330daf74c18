/* A machine with one module from PTX text, and launches with parameters given in place. Fails the
 * test on any error. */
#ifndef TEST_EMU_FIXTURE_H
#define TEST_EMU_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emu/emu.h"
#include "support/test.h"

#define HEADER ".version 8.3\n.target sm_90\n.address_size 64\n"

typedef struct fixture {
    emu_machine *machine;
    ir_module *ptx;
    emu_module *module;
    emu_result result;
    wl_error err;
    uint32_t threads; /* of the host; 1 unless a test says otherwise */
    double time_limit;
    uint32_t dynamic_shared;
    emu_dim cluster;
    bool cooperative;
    const acc_observer *observer;
    void (*print)(void *ctx, const char *text, size_t length);
    void *print_ctx;
} fixture;

void fixture_begin(fixture *f, const char *ptx);
void fixture_end(fixture *f);
/* Zeroed device memory. */
void *fixture_alloc(fixture *f, uint64_t bytes);
emu_kernel *fixture_kernel(fixture *f, const char *name);

/* Launches with 64-bit parameters; returns emu_run's status, f->result holds the rest. */
wl_status fixture_try(fixture *f, const char *kernel, emu_dim grid, emu_dim block, uint32_t count,
                      const uint64_t *params);
#define TRY(f, kernel, grid, block, ...)                                  \
    fixture_try(f, kernel, (emu_dim){grid, 1, 1}, (emu_dim){block, 1, 1}, \
                sizeof((uint64_t[]){0, __VA_ARGS__}) / 8 - 1, (uint64_t[]){0, __VA_ARGS__} + 1)
/* As TRY, and must succeed. */
#define RUN(f, kernel, grid, block, ...) fixture_ok(f, TRY(f, kernel, grid, block, __VA_ARGS__))
void fixture_ok(fixture *f, wl_status status);
#define P(pointer) ((uint64_t)(uintptr_t)(pointer))

#endif
