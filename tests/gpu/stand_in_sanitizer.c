/* Stands in for the Compute Sanitizer's library (shim/patch/api.h), on the null driver with memory of its own
 * (NULL_DRIVER_MEMORY): a kernel that is told where to count has counted when it is told.
 *
 * Instruction number n that has a slot counts n + 1 requests of global memory with 32 lanes each, 4 bytes a
 * lane, and twice as many sectors. STAND_IN_LOG names a file that gets a line for each call, STAND_IN_FAILS the
 * functions that fail, separated by commas; STAND_IN_SIZE is what they say of the kernel's code, in bytes. */
#include "shim/patch/table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { FAILED = 1, CODE = 0x5000 };

static int told(const char *what)
{
    const char *path = getenv("STAND_IN_LOG"), *fails = getenv("STAND_IN_FAILS");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%s\n", what);
        fclose(log);
    }
    const char *found = fails ? strstr(fails, what) : NULL;
    return found && (found == fails || found[-1] == ',') && strchr(",", found[strlen(what)])
               ? FAILED
               : 0;
}

API int sanitizerSubscribe(void **subscriber, void *function, void *ctx);
API int sanitizerSubscribe(void **subscriber, void *function, void *ctx)
{
    (void)function, (void)ctx;
    *subscriber = NULL;
    return told("subscribe");
}

API int sanitizerAddPatches(const void *image, void *context);
API int sanitizerAddPatches(const void *image, void *context)
{
    (void)context;
    return memcmp(image, "\177ELF", 4) ? FAILED : told("add");
}

API int sanitizerPatchInstructions(uint32_t kind, void *module, const char *function);
API int sanitizerPatchInstructions(uint32_t kind, void *module, const char *function)
{
    (void)kind, (void)module;
    return told(function);
}

API int sanitizerPatchModule(void *module);
API int sanitizerPatchModule(void *module)
{
    (void)module;
    return told("patch");
}

#ifndef WITHOUT_UNPATCHING
API int sanitizerUnpatchModule(void *module);
API int sanitizerUnpatchModule(void *module)
{
    (void)module;
    return told("unpatch");
}
#endif

static void count_all(void *table)
{
    patch_head *head = table;
    uint64_t insns = (head->end - head->begin) / PATCH_INSN_BYTES;
    const uint16_t *slot_of = (const uint16_t *)(head + 1);
    patch_row *rows = (patch_row *)((char *)table + patch_rows_at(insns));
    for (uint64_t i = 0; i < insns; i++)
        if (slot_of[i])
            rows[((slot_of[i] & PATCH_MOST_SLOTS) - 1) * PATCH_SPACES + PATCH_GLOBAL] = (patch_row){
                .requests = i + 1,
                .lanes = 32 * (i + 1),
                .sectors = 2 * (i + 1),
                .sectors_min = i + 1,
                .shapes = {i + 1},
                .bytes = 4,
                .flags = PATCH_READS};
}

API int sanitizerSetCallbackData(void *function, void *data);
API int sanitizerSetCallbackData(void *function, void *data)
{
    (void)function;
    int result = told(data ? "arm" : "disarm");
    if (data && !result)
        count_all(data);
    return result;
}

API int sanitizerGetFunctionPcAndSize(void *module, const char *function, uint64_t *pc,
                                      uint64_t *bytes);
API int sanitizerGetFunctionPcAndSize(void *module, const char *function, uint64_t *pc,
                                      uint64_t *bytes)
{
    const char *size = getenv("STAND_IN_SIZE");
    (void)module, (void)function;
    *pc = CODE;
    *bytes = size ? strtoull(size, NULL, 0) : 0;
    return told("place");
}
