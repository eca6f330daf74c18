/* Structures of rows that only this room sees: what columns.def fills tables from that no loader
 * gives to others as they are. Members are the columns (docs/profile-schema.md). */
#ifndef WL_PROFILE_ROWS_H
#define WL_PROFILE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct row_info {
    const char *key, *value;
} row_info;

typedef struct row_argument {
    uint32_t process, position;
    const char *value;
} row_argument;

typedef struct row_move {
    uint32_t id, object, becomes;
} row_move;

typedef struct row_mix {
    uint32_t launch, class;
    uint64_t warp_instructions, thread_instructions;
} row_mix;

typedef struct row_frame {
    uint32_t stack, depth;
    const char *function;
    uint32_t file, line;
    const char *binary;
    uint64_t offset;
    bool inlined;
} row_frame;

typedef struct row_sequence {
    uint32_t id;
    uint64_t nsteps;
    uint32_t nslots;
} row_sequence;

typedef struct row_warp_group {
    uint32_t id, launch, sequence;
    uint64_t nwarps;
} row_warp_group;

typedef struct row_warp_object {
    uint32_t warps, slot, space, object;
} row_warp_object;

#endif
