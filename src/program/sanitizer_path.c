#include "program/sanitizer_path.h"

#include "program/options.h"
#include "program/places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "libsanitizer-public.so"

static const char *const usual[] = {
    "$CUDA_HOME/compute-sanitizer/" NAME,
    "$CUDA_PATH/compute-sanitizer/" NAME,
    "/usr/local/cuda/compute-sanitizer/" NAME,
    "/usr/local/cuda-*/compute-sanitizer/" NAME,
    "/usr/local/cuda-*/extras/compute-sanitizer/" NAME,
    "/opt/cuda/compute-sanitizer/" NAME,
    "/opt/cuda/extras/compute-sanitizer/" NAME,
    "/opt/nvidia/*/compute-sanitizer/" NAME,
    "/opt/nvidia/hpc_sdk/*/*/cuda/*/compute-sanitizer/" NAME,
    "/usr/lib/nvidia-cuda-toolkit/compute-sanitizer/" NAME,
    "$CONDA_PREFIX/compute-sanitizer/" NAME,
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib/" NAME,
    "$CONDA_PREFIX/lib/python3*/site-packages/nvidia/*/lib/" NAME,
    "$PYTHONPATH/nvidia/*/lib/" NAME,
    "$HOME/.local/lib/python3*/site-packages/nvidia/*/lib/" NAME,
    "/usr/local/lib/python3*/site-packages/nvidia/*/lib/" NAME,
    "/usr/local/lib/python3*/dist-packages/nvidia/*/lib/" NAME,
    "/usr/lib/python3*/site-packages/nvidia/*/lib/" NAME,
    "/usr/lib/python3*/dist-packages/nvidia/*/lib/" NAME,
    "$LD_LIBRARY_PATH/" NAME,
    NULL,
};

bool prog_sanitizer_off(void)
{
    return strcmp(prog_options_get()->sanitizer, "off") == 0;
}

bool prog_find_sanitizer(char *path, size_t size)
{
    const char *named = prog_options_get()->sanitizer;
    path[0] = '\0';
    if (prog_sanitizer_off())
        return false;
    if (strcmp(named, "auto") == 0)
        return prog_find_in_places(usual, path, size);
    snprintf(path, size, "%s", named);
    return access(path, R_OK) == 0;
}
