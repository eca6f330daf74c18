/* Structures of rows that only this room sees: what columns.def fills tables from that no loader
 * gives to others as they are. Members are the columns (docs/profile-schema.md). */
#ifndef WL_PROFILE_ROWS_H
#define WL_PROFILE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct row_bytes { /* of a blob, as it is stored; read, they are the arena's */
    const void *data;      /* NULL for NULL */
    size_t size;
} row_bytes;

typedef struct row_info {
    const char *key, *value;
} row_info;

typedef struct row_argument {
    uint32_t process, position;
    const char *value;
} row_argument;

typedef struct row_launch_time { /* of a launch, what its kind does not say */
    uint32_t id, kind, number, call;
    uint64_t ordinal;
    double host_seconds, device_seconds, device_start;
} row_launch_time;

typedef struct row_move {
    uint32_t id, object, becomes;
} row_move;

typedef struct row_mix {
    uint32_t launch, class;
    uint64_t warp_instructions, thread_instructions;
} row_mix;

typedef struct row_reuse {
    uint32_t launch, position;
    obs_reuse r;
} row_reuse;

typedef struct row_trial_insn {
    uint32_t trial, after, position;
    obs_insn c;
} row_trial_insn;

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

typedef struct row_graph {
    uint32_t id, process, edges_known;
} row_graph;

typedef struct row_graph_node {
    uint32_t graph, node, type;
} row_graph_node;

typedef struct row_graph_edge {
    uint32_t graph, source, target;
} row_graph_edge;

typedef struct row_graph_run {
    uint32_t call, graph;
} row_graph_run;

typedef struct row_graph_step {
    uint32_t call, node;
    uint64_t ordinal;
} row_graph_step;

typedef struct row_file {
    uint32_t id;
    const char *path;
    bool system;
    uint64_t bytes;
    const char *missing;
    row_bytes text;
    bool has_text;
} row_file;

typedef struct row_module {
    uint32_t id, kind;
    const char *name;
    uint64_t hash, bytes;
    row_bytes code;
} row_module;

typedef struct row_listing {
    prof_listing head; /* without its instructions */
    uint64_t bytes;
    row_bytes data;
} row_listing;

typedef struct row_content {
    uint32_t id, nrows, npcsets, npcs;
    row_bytes data;
} row_content;

typedef struct row_spans {
    uint32_t id;
    uint64_t bytes;
    bool counted;
    row_bytes data;
} row_spans;

typedef struct row_path_runs {
    uint32_t launch;
    uint64_t bytes;
    row_bytes data;
} row_path_runs;

typedef struct row_page { /* of a sequence, or of a group of warps */
    uint32_t of, page;
    uint64_t count, bytes; /* count: of steps, or warps */
    row_bytes data;
} row_page;

#endif
