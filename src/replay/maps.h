/* Tensor maps that a GPU's driver made, as the collector noted them: found by their bytes. */
#ifndef WL_REPLAY_MAPS_H
#define WL_REPLAY_MAPS_H

#include "access/tensor.h"
#include "base/arena.h"
#include "capture/capture.h"

typedef struct replay_map replay_map;
typedef struct replay_maps {
    replay_map *by_bytes;
} replay_maps;

/* A map whose numbers CUDA would refuse is left out. WL_NOMEM is the only failure. */
wl_status replay_maps_see(replay_maps *maps, const cap_tensor *record);
void replay_maps_clear(replay_maps *maps);

/* What a launch asks for; emu_launch's `tensor` with it as ctx is replay_maps_find. */
typedef struct replay_maps_asked {
    const replay_maps *maps;
    uint8_t *unknown; /* by pc: set where a map is not known; NULL: do not note */
} replay_maps_asked;

bool replay_maps_find(void *ctx, uint32_t pc, const void *map, acc_tensor *out);
bool replay_maps_any(const uint8_t *unknown, uint32_t npcs);

/* The gaps, ascending, with those of instructions whose map is not known. NULL when memory is
 * exhausted. */
cap_gap *replay_maps_gaps(const cap_gap *gaps, uint32_t ngaps, const uint8_t *unknown,
                          uint32_t npcs, wl_arena *arena, uint32_t *count);

#endif
