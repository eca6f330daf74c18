/* The table of texture fetches that are recorded on a GPU (texture_record.c) and replayed on the
 * emulator (test_texture_replay.c): what is bound, how it is read, with which coordinates.
 * Everything follows from the case's index, so that a recording holds results alone. */
#ifndef TEST_EMU_TEXTURE_CASES_H
#define TEST_EMU_TEXTURE_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXTURE_LANES = 128 }; /* fetches of a case */
enum { TEXTURE_INPUTS = 12 }; /* words of a fetch: x y z, layer, level, dx[3], dy[3], 0 */
enum { TEXTURE_RESULTS = 4 }; /* words */

typedef enum texture_geometry {
    TG_1D,
    TG_2D,
    TG_3D,
    TG_A1D,
    TG_A2D,
    TG_CUBE,
    TG_ACUBE
} texture_geometry;
typedef enum texture_layout { TL_ARRAY, TL_LINEAR, TL_PITCH, TL_MIPMAP } texture_layout;
typedef enum texture_op {
    TO_TEX,
    TO_LEVEL,
    TO_GRAD,
    TO_GATHER,
    TO_LOAD,
    TO_QUERY,
    TO_ADD
} texture_op;

typedef struct texture_case {
    texture_op op;
    texture_geometry geometry;
    texture_layout layout;
    int format; /* CUarray_format */
    unsigned channels, width, height, depth,
        levels;       /* depth: layers of layered ones, faces included for cubes */
    unsigned mode[3]; /* wrap clamp mirror border */
    bool linear, mip_linear, normalized, element, srgb,
        fraction, /* texels of floats are no small integers */
        wide;     /* ... and their exponents differ; some are no numbers */
    bool seamless;
    float bias, min_level, max_level, border[4];
    char coordinates, result; /* 'f', 's', 'u'; result 'h' for f16x2 */
    unsigned component;       /* of a gather */
    unsigned bytes, vector;   /* of a surface access */
    bool clamp;               /* ... with .clamp, else .zero */
} texture_case;

/* Cases are numbered from 0; false behind the last. */
bool texture_case_get(unsigned index, texture_case *out);
unsigned texture_format_bytes(int format);
/* One line that names the case. */
void texture_case_text(const texture_case *c, char *text, size_t size);
/* TEXTURE_LANES * TEXTURE_INPUTS words. */
void texture_case_inputs(const texture_case *c, uint32_t *words);
/* The texel at an index of a level: `bytes` of all its channels. */
void texture_case_texel(const texture_case *c, unsigned level, unsigned x, unsigned y, unsigned z,
                        void *texel);
/* A kernel k(handle, inputs, results) of one thread a fetch. */
void texture_case_ptx(const texture_case *c, char *text, size_t size);
/* Size of a level; absent dimensions are 1. */
void texture_level_size(const texture_case *c, unsigned level, unsigned size[3]);

#endif
