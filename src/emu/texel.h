/* Texels: what lies in memory, what a fetch makes of one, and what filtering makes of several. */
#ifndef WL_EMU_TEXEL_H
#define WL_EMU_TEXEL_H

#include "emu/emu.h"

/* A texel's channels as they are stored: bits of numbers, integers extended by their kind; 0 where
 * it has no such channel. */
typedef struct emu_texel {
    uint32_t word[4];
} emu_texel;

enum { EMU_WEIGHTS = 256 }; /* the weights of a filtered fetch add up to this */

/* What filtering combines: taps in fours, one four for each slice of each level. Empty places have
 * weight 0. */
typedef struct emu_taps {
    uint32_t count;
    uint32_t weight[16];
    emu_texel texel[16];
} emu_taps;

bool emu_reads_integers(const emu_texture *t);
emu_texel emu_texel_read(const emu_image *image, const void *memory);
/* The border colour as a texel of the image's format. */
emu_texel emu_texel_border(const emu_texture *t);
/* Four channels as words: IEEE bits, or integers (see emu_reads_integers). */
void emu_texel_deliver(const emu_texture *t, const emu_texel *texel, uint32_t result[4]);
/* The weighted sum of the taps; not for textures that are read as integers. */
void emu_texel_filter(const emu_texture *t, const emu_taps *taps, uint32_t result[4]);

#endif
