/* Entry points of the runtime that are one call of the core: the rows of entries.def. */
#include "api/both/array.h"
#include "api/both/copy.h"
#include "api/both/device.h"
#include "api/both/function.h"
#include "api/both/graph.h"
#include "api/both/memory.h"
#include "api/both/stream.h"
#include "api/driver/driver.h"
#include "api/runtime/runtime.h"
#include "record/record.h"

/* Not every function uses all of its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* What a row needs: the kind of call, and flags of dev_begin. */
#define NOTHING (CAP_CALL_OTHER, DEV_QUIET)
#define DEVICES (CAP_CALL_OTHER, RT_DEVICES | DEV_QUIET)
#define CONTEXT (CAP_CALL_OTHER, DEV_PRIMARY | DEV_QUIET)
#define RESET (CAP_CALL_OTHER, RT_DEVICES | DEV_UNSTICKY)
#define RECORDED(kind) (CAP_CALL_##kind, DEV_PRIMARY)

#define BEGIN(...) RT_BEGIN(__VA_ARGS__)
#define RUNTIME_FOR(first, last, name, params, needs, ...)    \
    WL_RUNTIME_FOR(first, last, int, name, (API_ARGS params)) \
    {                                                         \
        BEGIN(#name, API_ARGS needs);                         \
        RT_END((__VA_ARGS__));                                \
    }
#define RUNTIME(name, params, needs, ...) RUNTIME_FOR(11, 13, name, params, needs, __VA_ARGS__)
#define RUNTIME_STREAM_FOR(first, last, suffix, name, params, args, needs, ...) \
    WL_RUNTIME_STREAM_FOR(first, last, suffix, name, params, args)              \
    {                                                                           \
        BEGIN(api, API_ARGS needs);                                             \
        RT_END((__VA_ARGS__));                                                  \
    }
#define RUNTIME_STREAM(suffix, name, params, args, needs, ...) \
    RUNTIME_STREAM_FOR(11, 13, suffix, name, params, args, needs, __VA_ARGS__)

#include "api/runtime/entries.def"
