#include "programs.h"

#include <stdlib.h>

#define DIM(x, y) {x, y, 1}
const program programs[] = {
#define X(kernel, grid, block, args) {#kernel, DIM grid, DIM block, 0, args},
#include "programs.def"
};
const size_t program_count = sizeof programs / sizeof *programs;

static uint32_t first_word_of(char kind, uint32_t i)
{
    float value = (float)(i % 97) / 16;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return kind == 'F'   ? bits
           : kind == 'D' ? i % 3 + 1
           : kind == 'C' ? i * 7919 % 1024
           : kind == 'O' ? i * 64
                         : 0;
}

/* All arrays in one allocation, each from a multiple of 256 bytes on. With `data` NULL only its
 * size is found. */
static uint64_t place_arrays(const char *args, char *data, shape *s)
{
    uint64_t at = 0;
    uint32_t n = 0;
    for (char *end; *args; args = end + (*end == ' ')) {
        uint32_t count = (uint32_t)strtoul(args + 1, &end, 10);
        if (*args == 'V') {
            s->args[n++] = count;
            continue;
        }
        if (data)
            s->objects[s->nobjects++] = (rewrite_object){P(data + at), 4 * (uint64_t)count};
        s->args[n++] = P(data + at);
        for (uint32_t i = 0; data && i < count; i++)
            ((uint32_t *)(void *)(data + at))[i] = first_word_of(*args, i);
        at = (at + 4 * (uint64_t)count + 255) / 256 * 256;
    }
    s->nargs = n;
    return at;
}

shape program_shape(probed *p, const program *e)
{
    shape s = {.grid = e->grid, .block = e->block, .dynamic_shared = e->dynamic_shared};
    s.bytes = place_arrays(e->args, NULL, &s);
    s.data = fixture_alloc(&p->f, s.bytes);
    place_arrays(e->args, s.data, &s);
    return s;
}
