/* Entry points of the driver interface that are one call of the core: the rows of entries.def. */
#include "api/both/array.h"
#include "api/both/copy.h"
#include "api/both/device.h"
#include "api/both/function.h"
#include "api/both/graph.h"
#include "api/both/memory.h"
#include "api/both/stream.h"
#include "api/driver/driver.h"
#include "record/record.h"

/* Not every function uses all of its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* What a row needs: the kind of call, and flags of dev_begin. */
#define NOTHING (CAP_CALL_OTHER, DEV_QUIET)
#define CONTEXT (CAP_CALL_OTHER, DEV_CURRENT | DEV_QUIET)
#define RECORDED(kind) (CAP_CALL_##kind, DEV_CURRENT)
#define RECORDED_ANYWHERE(kind) (CAP_CALL_##kind, 0)

#define BEGIN(...) DR_BEGIN(__VA_ARGS__)
#define DRIVER(name, params, needs, ...)         \
    WL_DRIVER(CUresult, name, (API_ARGS params)) \
    {                                            \
        BEGIN(#name, API_ARGS needs);            \
        DR_END((__VA_ARGS__));                   \
    }
#define DRIVER_STREAM(suffix, name, params, args, needs, ...) \
    WL_DRIVER_STREAM(suffix, name, params, args)              \
    {                                                         \
        BEGIN(api, API_ARGS needs);                           \
        DR_END((__VA_ARGS__));                                \
    }
#define DRIVER_ALSO(symbol, name) WL_DRIVER_ALSO(symbol, name);

#include "api/driver/entries.def"
