#include "cuda/errors.h"

#include <stddef.h>

typedef struct error_row {
    int number;
    const char *driver, *runtime, *text;
} error_row;

static const error_row rows[] = {
#define BOTH(number, driver, runtime, text) {number, #driver, #runtime, text},
#define DRIVER(number, driver, text) {number, #driver, NULL, text},
#define RUNTIME(number, runtime, text) {number, NULL, #runtime, text},
#include "cuda/errors.def"
#undef BOTH
#undef DRIVER
#undef RUNTIME
};

static const char unknown[] = "unrecognized error code";

static const error_row *find(int error)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == error)
            return &rows[i];
    return NULL;
}

const char *cuda_driver_error_name(int error)
{
    const error_row *row = find(error);
    return row ? row->driver : NULL;
}

const char *cuda_driver_error_text(int error)
{
    const error_row *row = find(error);
    return row && row->driver ? row->text : NULL;
}

const char *cuda_runtime_error_name(int error)
{
    const error_row *row = find(error);
    return row && row->runtime ? row->runtime : unknown;
}

const char *cuda_runtime_error_text(int error)
{
    const error_row *row = find(error);
    return row && row->runtime ? row->text : unknown;
}
