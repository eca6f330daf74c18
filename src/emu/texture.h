/* Texture and surface objects inside the emulator: the table that handles name, and the arithmetic
 * of a fetch. */
#ifndef WL_EMU_TEXTURE_H
#define WL_EMU_TEXTURE_H

#include "emu/access.h"

/* The object behind a handle; NULL where there is none of that kind. Good while it is not freed.
 * Takes no lock: launches ask while the host may be adding objects. */
const emu_texture *emu_texture_find(const emu_machine *m, uint64_t handle);
const emu_image *emu_surface_find(const emu_machine *m, uint64_t handle);
void emu_texture_table_free(struct emu_texture_table *table);

/* One lane's fetch. Texels are read through `read`, which returns where `bytes` of device memory
 * lie on the host. */
typedef struct emu_fetch {
    const emu_texture *texture;
    bool integer; /* coordinates are texels: index, else at */
    bool cube;    /* at is a direction */
    float at[3];
    int32_t index[3];
    int32_t layer; /* of the layers; 0 without */
    float level;   /* as asked for, before bias and clamps */
    bool base;     /* level 0, whatever the clamps */
    const void *(*read)(void *ctx, uint64_t address, uint32_t bytes);
    void *ctx;
} emu_fetch;

/* Four channels as words: IEEE bits, or integers (see emu_reads_integers in texel.h). Channels that
 * the texel lacks are 0. */
void emu_sample(const emu_fetch *f, uint32_t result[4]);
/* One channel of the four texels that linear filtering of level 0 would use, in the order of tld4.
 */
void emu_gather(const emu_fetch *f, uint32_t channel, uint32_t result[4]);
/* Level of detail from the derivatives of the coordinates. */
float emu_gradient_level(const emu_fetch *f, const float dx[3], const float dy[3]);

/* Bytes of a texel. */
static inline uint32_t emu_texel_bytes(const emu_image *image)
{
    return (uint32_t)image->bits / 8 * image->channels;
}

/* ---- instructions ---- */

typedef enum emu_query {
    EMU_QUERY_WIDTH,
    EMU_QUERY_HEIGHT,
    EMU_QUERY_DEPTH,
    EMU_QUERY_LAYERS,
    EMU_QUERY_LEVELS,
    EMU_QUERY_NORMALIZED
} emu_query;

typedef enum emu_boundary { EMU_TRAP, EMU_CLAMPED, EMU_ZERO } emu_boundary;

typedef enum emu_lod { EMU_LOD_BASE, EMU_LOD_LEVEL, EMU_LOD_GRADIENT } emu_lod;

typedef struct emu_tex { /* extra of these instructions */
    emu_mem mem; /* first: checks and observer take it so; data are the results or what is stored */
    emu_ref handle, layer; /* EMU_NOREF: no layer */
    emu_ref at[3];         /* EMU_NOREF behind the last */
    bool integer, cube;
    bool packed;      /* results are pairs of f16 */
    uint8_t lod;      /* emu_lod */
    uint8_t channel;  /* of a gather */
    uint8_t boundary; /* emu_boundary, of surfaces */
    uint8_t query;
    bool surface; /* a query of one */
    emu_ref level, dx[3], dy[3];
    emu_ref resident; /* predicate, or EMU_NOREF */
    u64 (*combine)(u64 old, u64 value, u64 compare);
} emu_tex;

void emu_run_tex(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_gather(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_texture_query(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_surface(emu_warp *w, const emu_insn *in, uint32_t mask);

#endif
