/* Entry points of the CUDA interfaces, by name.
 *
 * Most are rows of api/driver/entries.def and api/runtime/entries.def, which say more. What they
 * expand to, and what other entry points are written with, registers a function under its symbol:
 *     WL_RUNTIME(int, cudaGetLastError, (void)) { ... }
 * The libraries that stand in for libcudart.so.N and libcuda.so.1 hold one jump a symbol and ask
 * api_entry_find() where it leads; in programs with the static runtime the jumps are written over
 * its functions. A symbol that nobody defines leads to a function that returns
 * cudaErrorNotSupported and says so once. Where releases of the runtime differ in a function, each
 * has a definition of its own: WL_RUNTIME_FOR(11, 12, ...). */
#ifndef WL_API_BOTH_ENTRY_H
#define WL_API_BOTH_ENTRY_H

#include "inject/front.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct api_entry {
    const char *symbol;
    inj_code code;
    uint16_t first, last; /* major versions of the runtime; 0 and 0 for the driver */
    uint32_t reserved;
} api_entry;

#define API_ENTRY(symbol, function, first, last)                     \
    static const api_entry entry_##function                          \
        __attribute__((section("wl_entries"), used, aligned(8))) = { \
            symbol, (inj_code)(void *)function, first, last, 0}

#define WL_RUNTIME_FOR(first, last, ret, name, args)    \
    static ret rt_##name##_##first args;                \
    API_ENTRY(#name, rt_##name##_##first, first, last); \
    static ret rt_##name##_##first args
#define WL_RUNTIME(ret, name, args) WL_RUNTIME_FOR(11, 13, ret, name, args)

/* Two entry points with one body, which gets the name and whether stream 0 is the thread's own
 * (`suffix` ptsz or ptds):
 *     WL_RUNTIME_STREAM(ptsz, cudaStreamQuery, (cudaStream_t s), (s)) { ... api, per_thread ... }
 */
#define API_ARGS(...) __VA_ARGS__
#define WL_RUNTIME_STREAM_FOR(first, last, suffix, name, params, args)                   \
    static int body_##name##_##first(const char *api, bool per_thread, API_ARGS params); \
    WL_RUNTIME_FOR(first, last, int, name, (API_ARGS params))                            \
    {                                                                                    \
        return body_##name##_##first(#name, false, API_ARGS args);                       \
    }                                                                                    \
    WL_RUNTIME_FOR(first, last, int, name##_##suffix, (API_ARGS params))                 \
    {                                                                                    \
        return body_##name##_##first(#name, true, API_ARGS args);                        \
    }                                                                                    \
    static int body_##name##_##first(const char *api, bool per_thread, API_ARGS params)
#define WL_RUNTIME_STREAM(suffix, name, params, args) \
    WL_RUNTIME_STREAM_FOR(11, 13, suffix, name, params, args)

#define WL_DRIVER(ret, name, args)     \
    static ret dr_##name args;         \
    API_ENTRY(#name, dr_##name, 0, 0); \
    static ret dr_##name args

/* An inj_find. */
inj_code api_entry_find(const char *symbol, int major, bool *implemented);

enum { API_DRIVER_VERSION = 13000 }; /* the driver that we stand in for: CUDA 13.0 */

/* A function of the driver by its name without a version, as cuGetProcAddress finds it; `flags` and
 * what it writes to `status` (which may be NULL) are its own. SUCCESS, and *out is NULL without;
 * INVALID_VALUE, by the numbers of both interfaces. */
int api_driver_function(const char *name, void **out, int version, uint64_t flags, int *status);

/* The major version of the runtime that asked for symbols; of several, the last. 0: none did. */
int api_runtime_release(void);

#endif
