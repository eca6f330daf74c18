/* Any bytes as a fat binary, an image and a cubin with the machine code of its kernels. */
#include "cuda/cubin.h"
#include "cuda/fatbin.h"
#include "sass/code.h"

#include <stdlib.h>
#include <string.h>

static volatile unsigned taken;

static void read_cubin(const void *cubin, size_t size)
{
    cuda_layouts layouts;
    sass_code code;
    wl_arena *arena = wl_arena_new();
    cuda_cubin_layouts(cubin, size, &layouts);
    for (size_t i = 0; i < layouts.count; i++)
        (void)sass_code_read(cubin, size, 90, layouts.list[i].kernel, arena, &code, NULL);
    cuda_layouts_clear(&layouts);
    cuda_variables variables;
    unsigned sum = 0;
    cuda_cubin_variables(cubin, size, &variables);
    for (size_t i = 0; i < variables.count; i++)
        for (uint64_t b = 0; variables.list[i].initial && b < variables.list[i].bytes; b += 32)
            sum += (unsigned char)variables.list[i].initial[b];
    taken = sum; /* so that the bytes are read */
    cuda_variables_clear(&variables);
    wl_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuda_fatbin fatbin;
    cuda_image image;
    unsigned char *cubin;
    size_t bytes;
    if (cuda_fatbin_read(data, size, &fatbin, NULL) == WL_OK) {
        for (size_t i = 0; i < fatbin.count; i++) {
            unsigned char *content;
            size_t length;
            if (cuda_entry_content(&fatbin.entries[i], &content, &length, NULL) == WL_OK)
                free(content);
        }
        cuda_fatbin_clear(&fatbin);
    }
    if (cuda_image_read(data, size, 90, &image, NULL) == WL_OK) {
        for (size_t i = 0; i < image.count; i++)
            if (strlen(image.ptx[i].text) != image.ptx[i].length)
                abort();
        cuda_image_clear(&image);
    }
    if (cuda_image_cubin(data, size, 90, &cubin, &bytes, NULL) == WL_OK) {
        read_cubin(cubin, bytes);
        free(cubin);
    }
    read_cubin(data, size);
    return 0;
}
