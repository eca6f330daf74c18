/* Rows from tables: one statement and one filler a kind of row. */
#include "profile/blob.h"
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/sources.h"

#include <stdlib.h>
#include <string.h>

#define LOAD(db, arena, out, err, fill, query, ...)                                        \
    db_load((db)->sql, (query), DB_VALUES(__VA_ARGS__),                                    \
            sizeof DB_VALUES(__VA_ARGS__) / sizeof(db_value), sizeof *(out)->rows, (fill), \
            (arena), &(out)->count, &(out)->rows, (err))
#define LOAD_ALL(db, arena, out, err, fill, query)                                            \
    db_load((db)->sql, (query), NULL, 0, sizeof *(out)->rows, (fill), (arena), &(out)->count, \
            &(out)->rows, (err))

/* Rows of a launch that did what an earlier one did are that one's, with some objects moved (schema.sql, `rows_of`). */
#define JOIN(table, t)                                  \
    "JOIN " table " " t " ON " t ".launch = l.rows_of " \
    "LEFT JOIN moves m ON m.id = l.moves AND m.object = " t ".object "
#define OBJECT(t) "coalesce(m.becomes, " t ".object)"
/* Launches whose rows are the same; n is how many. */
#define SAME                                                       \
    "(SELECT kernel, rows_of, moves, count(*) AS n FROM launches " \
    "WHERE ?1 = 0 OR kernel = ?1 GROUP BY kernel, rows_of, moves)"

/* ---- info, processes, devices ---- */

static void fill_text(db_row *row, void *item)
{
    *(const char **)item = row_text(row);
}

typedef struct texts {
    uint32_t count;
    const char **rows;
} texts;

static wl_status load_text(prof_db *db, const char *sql, wl_arena *arena, const char **out,
                           wl_error *err)
{
    texts t;
    wl_status status = LOAD_ALL(db, arena, &t, err, fill_text, sql);
    *out = status == WL_OK && t.count ? t.rows[0] : "";
    return status;
}

wl_status prof_load_info(prof_db *db, wl_arena *arena, prof_info *out, wl_error *err)
{
    wl_status status = load_text(db, "SELECT value FROM info WHERE key = 'version'", arena,
                                 &out->version, err);
    status = status == WL_OK ? load_text(db, "SELECT value FROM info WHERE key = 'command'", arena,
                                         &out->command, err)
                             : status;
    return status == WL_OK ? load_text(db, "SELECT collector FROM processes ORDER BY id LIMIT 1",
                                       arena, &out->collector, err)
                           : status;
}

static void fill_process(db_row *row, void *item)
{
    prof_process *p = item;
    p->id = row_u32(row);
    p->pid = row_u32(row);
    p->parent_pid = row_u32(row);
    p->executable = row_text(row);
    p->directory = row_text(row);
    p->host = row_text(row);
    p->collector = row_text(row);
    p->version = row_text(row);
    p->options = row_text(row);
    p->start_ns = row_i64(row);
    bool ended = !row_is_null(row);
    p->end_ns = row_i64(row);
    p->end_ns = ended ? p->end_ns : -1;
    p->cut_off = row_text_or_null(row);
}

wl_status prof_load_processes(prof_db *db, wl_arena *arena, prof_process_rows *out, wl_error *err)
{
    wl_status status = LOAD_ALL(db, arena, out, err, fill_process,
                                "SELECT * FROM processes ORDER BY id");
    for (uint32_t i = 0; status == WL_OK && i < out->count; i++) {
        texts t;
        status = LOAD(db, arena, &t, err, fill_text,
                      "SELECT value FROM arguments WHERE process = ? ORDER BY position",
                      db_int(out->rows[i].id));
        out->rows[i].argc = t.count;
        out->rows[i].argv = status == WL_OK ? t.rows : NULL;
    }
    return status;
}

static void fill_device(db_row *row, void *item)
{
    prof_device *d = item;
    d->id = row_u32(row);
    d->process = row_u32(row);
    d->ordinal = row_u32(row);
    d->name = row_text(row);
    d->file = row_text(row);
    d->cc_major = row_u32(row);
    d->cc_minor = row_u32(row);
    d->num_sms = row_u32(row);
    d->global_bytes = row_u64(row);
}

wl_status prof_load_devices(prof_db *db, wl_arena *arena, prof_device_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_device, "SELECT * FROM devices ORDER BY id");
}

/* ---- code ---- */

static void fill_file(db_row *row, void *item)
{
    prof_file *f = item;
    f->id = row_u32(row);
    f->path = row_text(row);
    f->system = row_bool(row);
    f->bytes = row_u64(row);
    f->missing = row_text(row);
    f->has_text = row_bool(row);
    f->name = sources_name(f->path);
}

wl_status prof_load_files(prof_db *db, wl_arena *arena, prof_file_rows *out, wl_error *err)
{
    return LOAD_ALL(
        db, arena, out, err, fill_file,
        "SELECT id, path, system, bytes, missing, text IS NOT NULL FROM files ORDER BY id");
}

static void fill_loc(db_row *row, void *item)
{
    prof_loc *l = item;
    l->id = row_u32(row);
    l->file = row_u32(row);
    l->line = row_u32(row);
    l->column = row_u32(row);
    l->function = row_text(row);
    l->inlined_at = row_u32(row);
    row->bad |= l->inlined_at >= l->id; /* chains end */
}

wl_status prof_load_locs(prof_db *db, wl_arena *arena, prof_loc_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_loc,
                    "SELECT id, file, line, col, function, inlined_at FROM locs ORDER BY id");
}

static void fill_kernel(db_row *row, void *item)
{
    prof_kernel *k = item;
    k->id = row_u32(row);
    k->mangled = row_text(row);
    k->name = row_text(row);
    k->short_name = row_text(row);
    k->file = row_u32(row);
    k->line = row_u32(row);
    k->ncode = row_u32(row);
    k->nblocks = row_u32(row);
    k->missing = row_text(row);
    k->module = row_text(row);
    k->ptx_hash = row_u64(row);
}

wl_status prof_load_kernels(prof_db *db, wl_arena *arena, prof_kernel_rows *out, wl_error *err)
{
    return LOAD_ALL(
        db, arena, out, err, fill_kernel,
        "SELECT k.id, k.mangled, k.name, k.short_name, k.file, k.line, k.ncode, k.nblocks, "
        "k.missing, m.name, m.hash "
        "FROM kernels k LEFT JOIN modules m ON m.id = k.module ORDER BY k.id");
}

static void fill_code(db_row *row, void *item)
{
    prof_code *c = item;
    c->kernel = row_u32(row);
    c->pc = row_u32(row);
    c->text = row_text(row);
    c->op = row_text(row);
    c->function = row_text(row);
    c->ptx_line = row_u32(row);
    bool known = !row_is_null(row);
    c->block = row_u32(row);
    c->block = known ? c->block : UINT32_MAX;
    c->loc = row_u32(row);
    c->file = row_u32(row);
    c->line = row_u32(row);
    c->column = row_u32(row);
}

wl_status prof_load_code(prof_db *db, uint32_t kernel, wl_arena *arena, prof_code_rows *out,
                         wl_error *err)
{
    return LOAD(db, arena, out, err, fill_code,
                "SELECT * FROM code WHERE ?1 = 0 OR kernel = ?1 ORDER BY kernel, pc",
                db_int(kernel));
}

/* ---- launches ---- */

static void fill_launch(db_row *row, void *item)
{
    prof_launch *l = item;
    l->id = row_u32(row);
    l->process = row_u32(row);
    l->number = row_u32(row);
    l->kernel = row_u32(row);
    l->call = row_u32(row);
    uint32_t *const dims[] = {l->grid, l->block, l->cluster};
    for (int i = 0; i < 9; i++) {
        dims[i / 3][i % 3] = row_u32(row);
    }
    l->dynamic_shared = row_u32(row);
    l->static_shared = row_u32(row);
    l->local_bytes = row_u32(row);
    l->registers = row_u32(row);
    l->stream = row_u32(row);
    l->host_seconds = row_seconds(row);
    l->device_seconds = row_seconds(row);
    l->error = row_i32(row);
    l->fault = row_text(row);
    l->warp_instructions = row_u64(row);
    l->thread_instructions = row_u64(row);
    l->blocks_run = row_u64(row);
    l->blocks_observed = row_u64(row);
    l->blocks_sampled = row_u64(row);
    l->dropped = row_u64(row);
    l->way = row_u32(row);
    l->estimated = row_bool(row);
    l->recorded = row_bool(row);
    l->rows_of = row_u32(row);
    row_u32(row); /* moves */
    l->objects_known = row_u32(row);
    l->arrays_known = row_u32(row);
    row->bad |= l->way > CAP_WAY_PROBE || l->rows_of > l->id ||
                l->objects_known >= OBS_KNOWN_COUNT || l->arrays_known >= OBS_KNOWN_COUNT;
}

typedef struct mix_row {
    uint32_t launch, class;
    uint64_t warp, thread;
} mix_row;

typedef struct mix_rows {
    uint32_t count;
    mix_row *rows;
} mix_rows;

static void fill_mix(db_row *row, void *item)
{
    mix_row *m = item;
    m->launch = row_u32(row);
    m->class = row_u32(row);
    m->warp = row_u64(row);
    m->thread = row_u64(row);
    row->bad |= m->class >= sizeof((obs_mix *)0)->warp_instructions / sizeof(uint64_t);
}

/* Both ascend by launch. */
static void join_mix(const prof_launch_rows *launches, const mix_rows *mixes)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < launches->count; i++) {
        prof_launch *l = &launches->rows[i];
        for (; at < mixes->count && mixes->rows[at].launch <= l->id; at++) {
            const mix_row *m = &mixes->rows[at];
            if (m->launch == l->id) {
                l->mix.warp_instructions[m->class] = m->warp;
                l->mix.thread_instructions[m->class] = m->thread;
            }
        }
    }
}

wl_status prof_load_launches(prof_db *db, uint32_t kernel, wl_arena *arena, prof_launch_rows *out,
                             wl_error *err)
{
    mix_rows mixes;
    wl_status status = LOAD(db, arena, out, err, fill_launch,
                            kernel ? "SELECT * FROM launches WHERE kernel = ?1 ORDER BY id"
                                   : "SELECT * FROM launches WHERE ?1 = 0 ORDER BY id",
                            db_int(kernel));
    if (status == WL_OK) {
        status = LOAD(db, arena, &mixes, err, fill_mix,
                      "SELECT l.id, m.class, m.warp_instructions, m.thread_instructions "
                      "FROM launches l JOIN mix m ON m.launch = l.rows_of "
                      "WHERE ?1 = 0 OR l.kernel = ?1 ORDER BY l.id, m.class",
                      db_int(kernel));
    }
    if (status == WL_OK) {
        join_mix(out, &mixes);
    }
    return status;
}

static void fill_instruction(db_row *row, void *item)
{
    prof_instruction *i = item;
    i->kernel = row_u32(row);
    i->launch = row_u32(row);
    i->c.pc = row_u32(row);
    i->c.object = row_u32(row);
    i->c.space = (uint8_t)row_u32(row);
    i->c.op = (uint8_t)row_u32(row);
    i->c.bytes = (uint16_t)row_u32(row);
    i->c.flags = row_u32(row);
    i->executions = row_u64(row);
    i->execution_lanes = row_u64(row);
    uint64_t *const counts[] = {
        &i->c.requests,   &i->c.active_lanes,   &i->c.sectors,   &i->c.sectors_min,
        &i->c.wavefronts, &i->c.wavefronts_min, &i->c.uniform,   &i->c.contiguous,
        &i->c.misaligned, &i->c.strided,        &i->c.irregular,
    };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        *counts[k] = row_u64(row);
    }
    i->c.stride = row_i64(row);
    row->bad |= i->c.space >= OBS_SPACE_COUNT || i->c.op >= OBS_OP_COUNT;
}

wl_status prof_load_instructions(prof_db *db, uint32_t kernel, uint32_t launch, wl_arena *arena,
                                 prof_instruction_rows *out, wl_error *err)
{
#define COLUMNS                                                                                  \
    "l.kernel, l.id, i.pc, " OBJECT("i") ", i.space, i.access, i.bytes, i.flags, i.executions, " \
                                         "i.execution_lanes, i.requests, i.active_lanes, "       \
                                         "i.sectors, i.sectors_min, i.wavefronts, "              \
                                         "i.wavefronts_min, i.uniform, i.contiguous, "           \
                                         "i.misaligned, i.strided, i.irregular, i.stride "
    return LOAD(db, arena, out, err, fill_instruction,
                "SELECT " COLUMNS "FROM launches l " JOIN(
                    "instructions",
                    "i") "WHERE (?1 = 0 OR l.kernel = ?1) AND (?2 = 0 OR l.id = ?2) "
                         "ORDER BY 1, 2, 3, 4, i.space, i.position",
                db_int(kernel), db_int(launch));
#undef COLUMNS
}

wl_status prof_load_instruction_totals(prof_db *db, uint32_t kernel, wl_arena *arena,
                                       prof_instruction_rows *out, wl_error *err)
{
    /* Bare columns beside max() come from the row that has the maximum. */
    return LOAD(db, arena, out, err, fill_instruction,
                "SELECT l.kernel, i.launch, i.pc, " OBJECT(
                    "i") ", i.space, i.access, i.bytes, i.flags, "
                         "sum(n * i.executions), sum(n * i.execution_lanes), sum(n * i.requests), "
                         "sum(n * i.active_lanes), sum(n * i.sectors), sum(n * i.sectors_min), "
                         "sum(n * i.wavefronts), sum(n * i.wavefronts_min), sum(n * i.uniform), "
                         "sum(n * i.contiguous), sum(n * i.misaligned), sum(n * i.strided), sum(n "
                         "* i.irregular), "
                         "i.stride, max(i.sectors + i.wavefronts) "
                         "FROM " SAME
                         " l " JOIN("instructions", "i") "GROUP BY 1, 3, 4, 5 ORDER BY 1, 3, 4, 5",
                db_int(kernel));
}

static void fill_traffic(db_row *row, void *item)
{
    prof_traffic *t = item;
    t->kernel = row_u32(row);
    t->launch = row_u32(row);
    t->object = row_u32(row);
    t->space = row_u32(row);
    t->requests = row_u64(row);
    t->sectors = row_u64(row);
    t->sectors_min = row_u64(row);
    t->wavefronts = row_u64(row);
    t->wavefronts_min = row_u64(row);
    row->bad |= t->space >= OBS_SPACE_COUNT;
}

wl_status prof_load_traffic(prof_db *db, uint32_t kernel, wl_arena *arena, prof_traffic_rows *out,
                            wl_error *err)
{
    return LOAD(db, arena, out, err, fill_traffic,
                "WITH i AS (SELECT launch, object, space, sum(requests) AS requests, sum(sectors) "
                "AS sectors, "
                "sum(sectors_min) AS sectors_min, sum(wavefronts) AS wavefronts, "
                "sum(wavefronts_min) AS wavefronts_min FROM instructions "
                "WHERE launch IN (SELECT rows_of FROM launches WHERE ?1 = 0 OR kernel = ?1) "
                "GROUP BY launch, object, space) "
                "SELECT l.kernel, l.id, " OBJECT(
                    "i") ", i.space, i.requests, i.sectors, i.sectors_min, "
                         "i.wavefronts, i.wavefronts_min FROM launches l " JOIN(
                             "i", "i") "WHERE ?1 = 0 OR l.kernel = ?1 ORDER BY 1, 3, 4, 2",
                db_int(kernel));
}

static void fill_block(db_row *row, void *item)
{
    prof_block *b = item;
    b->kernel = row_u32(row);
    b->launch = row_u32(row);
    b->block = row_u32(row);
    b->first_pc = row_u32(row);
    b->ninsns = row_u32(row);
    b->executions = row_u64(row);
    b->lanes = row_u64(row);
}

wl_status prof_load_blocks(prof_db *db, uint32_t kernel, uint32_t launch, wl_arena *arena,
                           prof_block_rows *out, wl_error *err)
{
    return LOAD(db, arena, out, err, fill_block,
                "SELECT l.kernel, l.id, b.block, b.first_pc, b.ninsns, b.executions, b.lanes "
                "FROM launches l JOIN blocks b ON b.launch = l.rows_of "
                "WHERE (?1 = 0 OR l.kernel = ?1) AND (?2 = 0 OR l.id = ?2) ORDER BY 2, 3",
                db_int(kernel), db_int(launch));
}

wl_status prof_load_block_totals(prof_db *db, uint32_t kernel, wl_arena *arena,
                                 prof_block_rows *out, wl_error *err)
{
    return LOAD(
        db, arena, out, err, fill_block,
        "SELECT l.kernel, min(b.launch), b.block, b.first_pc, b.ninsns, sum(n * b.executions), "
        "sum(n * b.lanes) FROM " SAME " l JOIN blocks b ON b.launch = l.rows_of "
        "GROUP BY l.kernel, b.block, b.first_pc, b.ninsns ORDER BY l.kernel, b.block, b.first_pc",
        db_int(kernel));
}

/* ---- objects and calls ---- */

static void fill_object(db_row *row, void *item)
{
    prof_object *o = item;
    o->id = row_u32(row);
    o->process = row_u32(row);
    o->kernel = row_u32(row);
    o->kind = row_u32(row);
    o->space = row_u32(row);
    o->device = row_u32(row);
    o->name = row_text(row);
    o->variable = row_text(row);
    o->base = row_u64(row);
    o->bytes = row_u64(row);
    o->alloc_call = row_u32(row);
    o->free_call = row_u32(row);
    o->alloc_order = row_u64(row);
    o->freed = !row_is_null(row);
    o->free_order = row_u64(row);
    o->file = row_u32(row);
    o->line = row_u32(row);
    o->function = row_text(row);
    row->bad |= o->space >= OBS_SPACE_COUNT;
}

wl_status prof_load_objects(prof_db *db, wl_arena *arena, prof_object_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_object, "SELECT * FROM objects ORDER BY id");
}

static void fill_call(db_row *row, void *item)
{
    prof_call *c = item;
    c->id = row_u32(row);
    c->process = row_u32(row);
    c->number = row_u32(row);
    c->api = row_text(row);
    c->kind = row_u32(row);
    c->stream = row_u32(row);
    c->thread = row_u32(row);
    c->start_ns = row_i64(row);
    c->end_ns = row_i64(row);
    c->result = row_i32(row);
    c->source_object = row_u32(row);
    c->source_offset = row_u64(row);
    c->target_object = row_u32(row);
    c->target_offset = row_u64(row);
    c->bytes = row_u64(row);
    c->stack = row_u32(row);
    c->file = row_u32(row);
    c->line = row_u32(row);
    c->function = row_text(row);
    c->device_seconds = row_seconds(row);
}

wl_status prof_load_calls(prof_db *db, wl_arena *arena, prof_call_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_call, "SELECT * FROM calls ORDER BY id");
}

static void fill_frame(db_row *row, void *item)
{
    prof_frame *f = item;
    f->function = row_text(row);
    f->file = row_u32(row);
    f->line = row_u32(row);
    f->binary = row_text(row);
    f->offset = row_u64(row);
    f->inlined = row_bool(row);
}

wl_status prof_load_stack(prof_db *db, uint32_t stack, wl_arena *arena, prof_frame_rows *out,
                          wl_error *err)
{
    return LOAD(db, arena, out, err, fill_frame,
                "SELECT function, file, line, binary, offset, inlined FROM frames WHERE stack = ? "
                "ORDER BY depth",
                db_int(stack));
}

/* ---- heat maps ---- */

static void fill_heat(db_row *row, void *item)
{
    prof_heat_info *h = item;
    h->kernel = row_u32(row);
    h->nrows = row_u32(row);
    h->id = row_u32(row);
    h->launch = row_u32(row);
    h->object = row_u32(row);
    h->space = row_u32(row);
    h->block = row_u64(row);
    for (int i = 0; i < 3; i++) {
        h->block_index[i] = row_u32(row);
    }
    h->warps = row_u32(row);
    h->dropped = row_u64(row);
    h->content = row_u32(row);
    row->bad |= h->space >= OBS_SPACE_COUNT;
}

#define HEATS                                                                             \
    "SELECT l.kernel, c.nrows, h.id, l.id, " OBJECT(                                      \
        "h") ", h.space, h.block, h.block_x, "                                            \
             "h.block_y, h.block_z, h.warps, h.dropped, h.content FROM launches l " JOIN( \
                 "heats", "h") "JOIN contents c ON c.id = h.content "

wl_status prof_load_heats(prof_db *db, uint32_t kernel, wl_arena *arena, prof_heat_info_rows *out,
                          wl_error *err)
{
    return LOAD(db, arena, out, err, fill_heat,
                HEATS "WHERE ?1 = 0 OR l.kernel = ?1 ORDER BY 1, 5, 6, 4, 7", db_int(kernel));
}

typedef struct packed { /* a blob and the sizes that it claims */
    const void *data;
    size_t size;
    uint64_t nrows, npcsets, npcs, length;
} packed;

typedef struct packed_rows {
    uint32_t count;
    packed *rows;
} packed_rows;

static void copy_blob(db_row *row, packed *p)
{
    const void *data = row_blob(row, &p->size);
    p->data = data ? wl_arena_copy(row->arena, data, p->size) : NULL;
    row->nomem |= data && !p->data;
}

static void fill_content(db_row *row, void *item)
{
    packed *p = item;
    p->nrows = row_u32(row);
    p->npcsets = row_u32(row);
    p->npcs = row_u32(row);
    copy_blob(row, p);
}

static wl_status unpack(const packed *p, wl_arena *scratch, wl_arena *arena, prof_heat *out)
{
    unsigned char *data;
    uint64_t size = p->nrows * 60 + (p->npcsets + p->npcs) * 4;
    wl_status status = blob_decompress(p->data, p->size, size, scratch, &data);
    if (status != WL_OK) {
        return status;
    }
    out->npcsets = (uint32_t)p->npcsets;
    return blob_unpack_heat(data, size, (uint32_t)p->nrows, out->npcsets, (uint32_t)p->npcs, arena,
                            &out->rows, &out->pcsets);
}

/* ---- elements ---- */

static void fill_use(db_row *row, void *item)
{
    prof_use *u = item;
    u->kernel = row_u32(row);
    u->launch = row_u32(row);
    u->object = row_u32(row);
    u->space = row_u32(row);
    u->known = row_u32(row);
    u->elements = row_u64(row);
    u->touched = row_u64(row);
    for (int c = 0; c < WL_CLASSES; c++) {
        u->times[c] = row_u64(row);
    }
    u->least = row_u64(row);
    u->most = row_u64(row);
    u->squares = row_seconds(row);
    u->spans = row_u32(row);
    row->bad |= u->space >= OBS_SPACE_COUNT || u->known >= OBS_KNOWN_COUNT ||
                u->touched > u->elements;
}

wl_status prof_load_uses(prof_db *db, uint32_t kernel, wl_arena *arena, prof_use_rows *out,
                         wl_error *err)
{
    return LOAD(db, arena, out, err, fill_use,
                "SELECT l.kernel, l.id, " OBJECT(
                    "u") ", u.space, u.known, u.elements, u.touched, u.loads, u.stores, "
                         "u.atomics, u.least, u.most, u.squares, u.spans FROM launches l " JOIN(
                             "uses", "u") "WHERE ?1 = 0 OR l.kernel = ?1 ORDER BY 3, 4, 1, 2",
                db_int(kernel));
}

typedef struct packed_spans {
    const void *data;
    size_t size;
    uint64_t bytes;
    bool counted;
} packed_spans;

typedef struct packed_spans_rows {
    uint32_t count;
    packed_spans *rows;
} packed_spans_rows;

static void fill_spans(db_row *row, void *item)
{
    packed_spans *p = item;
    p->bytes = row_u64(row);
    p->counted = row_bool(row);
    const void *data = row_blob(row, &p->size);
    p->data = data ? wl_arena_copy(row->arena, data, p->size) : NULL;
    row->nomem |= data && !p->data;
}

static bool spans_valid(wl_span_reader reader)
{
    wl_span span;
    while (wl_span_next(&reader, &span)) {}
    return !reader.damaged;
}

static wl_status unpack_spans(const packed_spans_rows *rows, wl_arena *arena, wl_span_reader *out)
{
    unsigned char *data;
    if (rows->count != 1) {
        return WL_CORRUPT;
    }
    const packed_spans *p = &rows->rows[0];
    wl_status status = blob_decompress(p->data, p->size, p->bytes, arena, &data);
    if (status != WL_OK) {
        return status;
    }
    *out = wl_spans_read(data, (size_t)p->bytes, p->counted);
    return spans_valid(*out) ? WL_OK : WL_CORRUPT;
}

wl_status prof_load_spans(prof_db *db, uint32_t spans, wl_arena *arena, wl_span_reader *out,
                          wl_error *err)
{
    packed_spans_rows rows = {0};
    *out = (wl_span_reader){0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? LOAD(db, scratch, &rows, err, fill_spans,
                                      "SELECT bytes, counted, data FROM spans WHERE id = ?",
                                      db_int(spans))
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status == WL_OK && (status = unpack_spans(&rows, arena, out)) != WL_OK) {
        wl_fail(err, status, "The elements %u of the profile cannot be read: %s.", spans,
                wl_status_text(status));
    }
    wl_arena_free(scratch);
    return status;
}

/* ---- samples ---- */

static void fill_sample(db_row *row, void *item)
{
    prof_sample *p = item;
    p->kernel = row_u32(row);
    p->of = row_u64(row);
    p->launch = row_u32(row);
    p->s.block = row_u64(row);
    for (int i = 0; i < 3; i++) {
        p->s.block_index[i] = row_u32(row);
    }
    uint32_t why = row_u32(row), mapped = row_u32(row);
    p->s.alike = row_u64(row);
    p->s.instructions = row_u64(row);
    p->s.requests = row_u64(row);
    p->s.sectors = row_u64(row);
    row->bad |= why >= OBS_WHY_COUNT || mapped > 1;
    p->s.why = (uint8_t)why;
    p->s.mapped = (uint8_t)mapped;
}

wl_status prof_load_samples(prof_db *db, uint32_t kernel, wl_arena *arena, prof_sample_rows *out,
                            wl_error *err)
{
    return LOAD(
        db, arena, out, err, fill_sample,
        "SELECT l.kernel, l.blocks_observed, l.id, s.block, s.block_x, s.block_y, s.block_z, "
        "s.why, s.mapped, s.alike, s.instructions, s.requests, s.sectors "
        "FROM launches l JOIN samples s ON s.launch = l.rows_of "
        "WHERE ?1 = 0 OR l.kernel = ?1 ORDER BY 3, 4",
        db_int(kernel));
}

wl_status prof_load_heat(prof_db *db, uint32_t id, wl_arena *arena, prof_heat *out, wl_error *err)
{
    prof_heat_info_rows infos = {0};
    packed_rows blobs = {0};
    wl_arena *scratch = wl_arena_new();
    *out = (prof_heat){0};
    wl_status status = scratch ? LOAD(db, arena, &infos, err, fill_heat,
                                      HEATS "WHERE h.id = ? AND l.id = h.launch", db_int(id))
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status == WL_OK && infos.count != 1) {
        status = wl_fail(err, WL_NOENT, "The profile has no heat map %u.", id);
    }
    if (status == WL_OK) {
        out->info = infos.rows[0];
        status = LOAD(db, scratch, &blobs, err, fill_content,
                      "SELECT nrows, npcsets, npcs, data FROM contents WHERE id = ?",
                      db_int(out->info.content));
    }
    if (status == WL_OK) {
        status = blobs.count == 1 ? unpack(&blobs.rows[0], scratch, arena, out) : WL_CORRUPT;
        if (status != WL_OK) {
            wl_fail(err, status, "Heat map %u of the profile cannot be read: %s.", id,
                    wl_status_text(status));
        }
    }
    wl_arena_free(scratch);
    return status;
}

/* ---- texts ---- */

static void fill_packed_text(db_row *row, void *item)
{
    packed *p = item;
    p->length = row_u64(row);
    copy_blob(row, p);
}

static wl_status load_packed_text(prof_db *db, const char *sql, uint32_t id, wl_arena *arena,
                                  const char **text, size_t *length, wl_error *err)
{
    packed_rows blobs = {0};
    wl_arena *scratch = wl_arena_new();
    *text = NULL;
    *length = 0;
    wl_status status = scratch ? LOAD(db, scratch, &blobs, err, fill_packed_text, sql, db_int(id))
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status == WL_OK && (blobs.count == 0 || !blobs.rows[0].data)) {
        status = wl_fail(err, WL_NOENT, "The profile does not hold that text.");
    } else if (status == WL_OK) {
        unsigned char *data;
        status = blob_decompress(blobs.rows[0].data, blobs.rows[0].size, blobs.rows[0].length,
                                 arena, &data);
        if (status == WL_OK) {
            *text = (const char *)data;
            *length = db_mend_text((char *)data, blobs.rows[0].length);
        } else {
            wl_fail(err, status, "A text of the profile cannot be read: %s.",
                    wl_status_text(status));
        }
    }
    wl_arena_free(scratch);
    return status;
}

wl_status prof_load_source(prof_db *db, uint32_t file, wl_arena *arena, const char **text,
                           size_t *length, wl_error *err)
{
    return load_packed_text(db, "SELECT bytes, text FROM files WHERE id = ?", file, arena, text,
                            length, err);
}

wl_status prof_load_ptx(prof_db *db, uint32_t kernel, wl_arena *arena, const char **text,
                        size_t *length, wl_error *err)
{
    return load_packed_text(
        db, "SELECT m.bytes, m.ptx FROM kernels k JOIN modules m ON m.id = k.module WHERE k.id = ?",
        kernel, arena, text, length, err);
}

/* ---- coverage ---- */

static void fill_skip(db_row *row, void *item)
{
    prof_skip *s = item;
    s->kernel = row_text(row);
    s->reason = row_text(row);
    s->count = row_u64(row);
}

wl_status prof_load_skips(prof_db *db, wl_arena *arena, prof_skip_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_skip,
                    "SELECT kernel, reason, sum(count) AS n FROM skips GROUP BY kernel, reason "
                    "ORDER BY n DESC, kernel, reason");
}

static void fill_gap(db_row *row, void *item)
{
    prof_gap *g = item;
    g->kernel = row_u32(row);
    g->pc = row_u32(row);
    g->reason = row_text(row);
}

wl_status prof_load_gaps(prof_db *db, wl_arena *arena, prof_gap_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_gap,
                    "SELECT kernel, pc, reason FROM gaps ORDER BY kernel, pc, reason");
}

static void fill_message(db_row *row, void *item)
{
    prof_message *m = item;
    m->process = row_u32(row);
    m->level = row_u32(row);
    m->text = row_text(row);
}

wl_status prof_load_messages(prof_db *db, wl_arena *arena, prof_message_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_message,
                    "SELECT process, level, text FROM messages ORDER BY id");
}

wl_status prof_load_unsupported(prof_db *db, wl_arena *arena, prof_unsupported_rows *out,
                                wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_text, "SELECT api FROM unsupported ORDER BY api");
}

static void fill_number(db_row *row, void *item)
{
    *(uint64_t *)item = row_u64(row);
}

typedef struct numbers {
    uint32_t count;
    uint64_t *rows;
} numbers;

static wl_status load_number(prof_db *db, const char *sql, wl_arena *arena, uint64_t *out,
                             wl_error *err)
{
    numbers n;
    wl_status status = LOAD_ALL(db, arena, &n, err, fill_number, sql);
    *out = status == WL_OK && n.count ? n.rows[0] : 0;
    return status;
}

wl_status prof_load_coverage(prof_db *db, wl_arena *arena, prof_coverage *out, wl_error *err)
{
    const struct {
        uint64_t *to;
        const char *sql;
    } all[] = {
        {&out->launches_seen,
         /* a launch that only a GPU saw has a row and, with the reason, is counted among the skips */
         "SELECT (SELECT count(*) FROM launches WHERE blocks_run > 0 OR error <> 0) + "
         "(SELECT coalesce(sum(count), 0) FROM skips)"},
        {&out->launches_observed, "SELECT count(*) FROM launches WHERE blocks_observed > 0"},
        {&out->kernels_seen,
         "SELECT count(*) FROM (SELECT name FROM kernels UNION SELECT kernel FROM skips)"},
        {&out->kernels_observed,
         "SELECT count(DISTINCT kernel) FROM launches WHERE blocks_observed > 0"},
        {&out->blocks_run, "SELECT sum(blocks_run) FROM launches"},
        {&out->blocks_observed, "SELECT sum(blocks_observed) FROM launches"},
        {&out->blocks_sampled, "SELECT sum(blocks_sampled) FROM launches"},
        {&out->records_dropped, "SELECT sum(dropped) FROM launches"},
        {&out->sectors_dropped, "SELECT sum(dropped) FROM heats"},
        {&out->processes, "SELECT count(*) FROM processes"},
        {&out->processes_cut_off, "SELECT count(*) FROM processes WHERE cut_off IS NOT NULL"},
        {&out->objects_without_site,
         "SELECT count(*) FROM objects WHERE alloc_call IS NOT NULL AND line IS NULL"},
        {&out->sources_missing, "SELECT count(*) FROM files WHERE text IS NULL AND NOT system"},
        {&out->launches_estimated, "SELECT count(*) FROM launches WHERE estimated"},
        {&out->launches_repeated, "SELECT count(*) FROM launches WHERE rows_of <> id"},
    };
    *out = (prof_coverage){0};
    wl_status status = WL_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == WL_OK; i++) {
        status = load_number(db, all[i].sql, arena, all[i].to, err);
    }
    return status;
}

/* ---- finding ---- */

static int compare_id(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)item;
    return a < b ? -1 : a > b;
}

/* The id is each row's first member, and rows ascend by it. */
#define FIND(name)                                                                                 \
    const prof_##name *prof_find_##name(const prof_##name##_rows *rows, uint32_t id)               \
    {                                                                                              \
        return rows->count ? bsearch(&id, rows->rows, rows->count, sizeof *rows->rows, compare_id) \
                           : NULL;                                                                 \
    }
FIND(file)
FIND(loc)
FIND(kernel)
FIND(launch)
FIND(object)
FIND(call)

const prof_code *prof_find_code(const prof_code_rows *code, uint32_t kernel, uint32_t pc)
{
    uint32_t low = 0, high = code->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_code *c = &code->rows[middle];
        if (c->kernel < kernel || (c->kernel == kernel && c->pc < pc)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool here = low < code->count && code->rows[low].kernel == kernel && code->rows[low].pc == pc;
    return here ? &code->rows[low] : NULL;
}
