/* Launches that are noted when they run and worked out later, and launches that did what earlier
 * ones did. */
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

wl_status builder_note(prof_builder *b, const cap_note *note, wl_error *err)
{
    cap_launch launch = cap_launch_of_note(note);
    launch_entry *entry;
    wl_status status = builder_open_launch(b, &launch, builder_has_code_beside(b, note->module),
                                           &entry, err);
    if (status != WL_OK)
        return status;
    launch_facts facts = builder_launch_facts(entry);
    facts.noted = true;
    facts.row.way = CAP_WAY_NONE;
    facts.row.recorded = (note->flags & CAP_NOTE_PROBED) != 0;
    facts.name = builder_text(b, note->kernel);
    facts.reason = note->module ? "it ran on the GPU and was not observed there"
                                : "it ran on the GPU, and its code is not known";
    if (!facts.name)
        return NOMEM(err);
    status = builder_reaches(b, &facts, note->params, note->nparams, err);
    return status == WL_OK ? builder_change_launch(b, entry, &facts, err) : status;
}

wl_status builder_times(prof_builder *b, const cap_times *times, wl_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < times->count; i++) {
        launch_entry *entry = builder_find_launch(b, times->times[i].note);
        if (entry)
            entry->device_seconds = times->times[i].seconds;
    }
    return WL_OK;
}

wl_status builder_call_times(prof_builder *b, const cap_call_times *times, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < times->count && status == WL_OK; i++)
        status = db_run(b->stmt[ST_CALL_TIME], err, db_int(builder_call(b, times->times[i].call)),
                        db_real(times->times[i].seconds));
    return status == WL_OK && b->nomem ? NOMEM(err) : status;
}

/* What ran before the event that all count from has no start. */
wl_status builder_starts(prof_builder *b, const cap_starts *starts, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < starts->count && status == WL_OK; i++) {
        const cap_start *s = &starts->starts[i];
        launch_entry *entry = s->note ? builder_find_launch(b, s->note) : NULL;
        if (entry)
            entry->device_start = s->seconds;
        if (s->call && s->seconds >= 0) {
            status = db_run(b->stmt[ST_CALL_START], err, db_int(builder_call(b, s->call)),
                            db_real(s->seconds));
        }
    }
    return status == WL_OK && b->nomem ? NOMEM(err) : status;
}

/* Equal lists are kept once. NULL without memory. */
static const launch_gaps *intern_gaps(process *p, const launch_gap *rows, uint32_t count)
{
    launch_gaps *found = NULL;
    size_t bytes = count * sizeof *rows;
    HASH_FIND(hh, p->gaps, rows, bytes, found);
    if (found)
        return found;
    found = wl_new(p->arena, launch_gaps);
    if (!found || !(found->rows = wl_arena_copy(p->arena, rows, bytes)))
        return NULL;
    found->count = count;
    HASH_ADD_KEYPTR(hh, p->gaps, found->rows, bytes, found);
    return found;
}

static bool keep_gaps(prof_builder *b, const cap_way *way, launch_facts *facts)
{
    launch_gap *rows = calloc((size_t)way->count + 1, sizeof *rows);
    bool room = rows != NULL;
    for (uint32_t i = 0; i < way->count && room; i++) {
        rows[i].pc = way->gaps[i].pc;
        rows[i].reason = builder_text(b, way->gaps[i].reason);
        room = rows[i].reason != NULL;
    }
    facts->gaps = room && way->count ? intern_gaps(&b->process, rows, way->count) : NULL;
    free(rows);
    return room && (!way->count || facts->gaps);
}

wl_status builder_way(prof_builder *b, const cap_way *way, wl_error *err)
{
    launch_entry *entry = builder_find_launch(b, way->note);
    if (!entry || !entry->kind->facts.noted || entry->kind->facts.done) {
        return wl_fail(err, WL_CORRUPT, "The capture tells of launch %u, which is not open.",
                       way->note);
    }
    launch_facts facts = builder_launch_facts(entry);
    facts.row.way = way->way;
    facts.row.estimated = way->estimated != 0;
    if (*way->reason)
        facts.reason = builder_text(b, way->reason);
    if (!facts.reason || !keep_gaps(b, way, &facts))
        return NOMEM(err);
    return builder_change_launch(b, entry, &facts, err);
}

/* ---- repeats ---- */

static uint32_t object_id(const prof_builder *b, uint32_t number)
{
    const object_info *found = builder_object(b, number);
    return found ? found->id : 0;
}

static wl_status write_moves(prof_builder *b, const cap_repeat *r, uint32_t id, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < r->count && status == WL_OK; i++) {
        uint32_t from = object_id(b, r->moves[i].from), to = object_id(b, r->moves[i].to);
        bool ascends = i == 0 || r->moves[i - 1].from < r->moves[i].from;
        if (!from || !to || !ascends) {
            return wl_fail(err, WL_CORRUPT, "The capture moves object %u, which is not there.",
                           r->moves[i].from);
        }
        const row_move row = {id, from, to};
        status = table_insert_moves(b->insert[TABLE_moves], &row, err);
    }
    return status;
}

/* The id of a set of moves; 0 for none. */
static wl_status intern_moves(prof_builder *b, const cap_repeat *r, uint32_t *id, wl_error *err)
{
    process *p = &b->process;
    size_t bytes = r->count * sizeof *r->moves;
    moves_entry *entry = NULL;
    *id = 0;
    if (!r->count)
        return WL_OK;
    HASH_FIND(hh, p->moves, r->moves, bytes, entry);
    if (entry) {
        *id = entry->id;
        return WL_OK;
    }
    entry = wl_new(p->arena, moves_entry);
    if (!entry || !(entry->moves = wl_arena_copy(p->arena, r->moves, bytes)))
        return NOMEM(err);
    wl_status status = write_moves(b, r, b->nmoves + 1, err);
    if (status == WL_OK) {
        *id = entry->id = ++b->nmoves;
        HASH_ADD_KEYPTR(hh, p->moves, entry->moves, bytes, entry);
    }
    return status;
}

/* All that is known of a launch from the rows of another. */
static void same_results(prof_launch *to, const prof_launch *from)
{
    to->way = from->way;
    to->estimated |= from->estimated;
    to->warp_instructions = from->warp_instructions;
    to->thread_instructions = from->thread_instructions;
    to->longest_warp = from->longest_warp;
    to->busiest_block = from->busiest_block;
    to->longest_warps = from->longest_warps;
    to->blocks_run = from->blocks_run;
    to->blocks_observed = from->blocks_observed;
    to->blocks_sampled = from->blocks_sampled;
    to->dropped = from->dropped;
    to->accesses_known = from->accesses_known;
    to->mix_whole = from->mix_whole;
    to->objects_known = from->objects_known;
    to->arrays_known = from->arrays_known;
    to->warps_dropped = from->warps_dropped;
}

/* Of a launch that waits for its kernel it is the other's, by the same name. */
static bool is_of_same_kernel(const launch_facts *repeat, const launch_facts *of)
{
    return repeat->waits ? of->name == repeat->name : of->kernel == repeat->kernel;
}

wl_status builder_repeat(prof_builder *b, const cap_repeat *r, wl_error *err)
{
    launch_entry *entry = builder_find_launch(b, r->note);
    const launch_entry *from = builder_find_launch(b, r->same_as);
    const launch_facts *same = from ? &from->kind->facts : NULL;
    uint32_t moves;
    if (!entry || !entry->kind->facts.noted || entry->kind->facts.done || !same || !same->done ||
        !is_of_same_kernel(&entry->kind->facts, same)) {
        return wl_fail(err, WL_CORRUPT, "The capture repeats launch %u as %u, which cannot be.",
                       r->same_as, r->note);
    }
    wl_status status = intern_moves(b, r, &moves, err);
    if (status != WL_OK)
        return status;
    launch_facts facts = builder_launch_facts(entry);
    same_results(&facts.row, &same->row);
    facts.waits = 0;
    facts.kernel = same->kernel;
    facts.row.kernel = same->row.kernel;
    facts.row.rows_of = from->id;
    facts.row.moves = moves;
    facts.done = true;
    facts.gaps = NULL; /* those of the other */
    facts.reaches = NULL;
    entry->host_seconds = r->host_seconds;
    return builder_change_launch(b, entry, &facts, err);
}

wl_status builder_settle_left(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < b->process.launches.count && status == WL_OK; i++) {
        launch_entry *e = &b->process.launches.data[i];
        if (!e->kind->facts.waits)
            continue;
        launch_facts facts = builder_launch_facts(e);
        const cap_launch launch = {
            .module = (uint32_t)facts.waits, .kernel = facts.name, .device = facts.row.device};
        status = builder_settle_kernel(b, &launch, &facts, err);
        if (status == WL_OK)
            status = builder_change_launch(b, e, &facts, err);
    }
    return status;
}

wl_status builder_notes_left(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < b->process.launches.count && status == WL_OK; i++) {
        const launch_facts *facts = &b->process.launches.data[i].kind->facts;
        if (facts->noted && !facts->done) {
            cap_skipped skipped = {.kernel = facts->name, .reason = facts->reason};
            status = builder_skipped(b, &skipped, err);
        }
    }
    return status;
}
