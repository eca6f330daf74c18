/* Copies of states as if they had been elsewhere. */
#include "rewrite/layout.h"

#include <stddef.h>

typedef struct move {
    uint64_t from, bytes, to;
} move;

static void move_table_address(const move *m, uint64_t *address)
{
    if (*address >= m->from && *address - m->from < m->bytes)
        *address = *address - m->from + m->to;
}

static void move_head(const move *m, const rewrite_layout *l, rewrite_state *state)
{
    move_table_address(m, &state->ranges);
    move_table_address(m, &state->shared);
    move_table_address(m, &state->places);
    for (uint32_t i = 0; i < REWRITE_SLOTS; i++) {
        move_table_address(m, &state->slot[i].bits);
        move_table_address(m, &state->slot[i].counts);
        move_table_address(m, &state->slot[i].lines);
    }
    for (uint32_t i = 0; i < REWRITE_WALKS; i++) {
        move_table_address(m, &state->walk[i].counts);
        move_table_address(m, &state->walk[i].marks);
    }
    if (l->paths_at)
        move_table_address(m, &state->paths);
}

static void move_range(const move *m, rewrite_range *range)
{
    move_table_address(m, &range->bits);
    for (unsigned c = 0; c < REWRITE_CLASSES; c++) {
        move_table_address(m, &range->counts[c]);
        move_table_address(m, &range->lines[c]);
    }
}

void rewrite_move(const rewrite_layout *l, uint64_t from, uint64_t to, void *packed,
                  uint64_t length)
{
    const move m = {from, rewrite_packed_size(packed, length), to};
    const uint64_t head = l->paths_at ? sizeof(rewrite_state) : offsetof(rewrite_state, paths);
    rewrite_state state = {0};
    rewrite_unpack(packed, length, 0, &state, head);
    move_head(&m, l, &state);
    rewrite_repack(packed, length, 0, &state, head);
    for (uint64_t i = 0; l->ranges_at && i < l->nranges; i++) {
        rewrite_range range = {0};
        uint64_t at = l->ranges_at + i * sizeof range;
        rewrite_unpack(packed, length, at, &range, sizeof range);
        move_range(&m, &range);
        rewrite_repack(packed, length, at, &range, sizeof range);
    }
}
