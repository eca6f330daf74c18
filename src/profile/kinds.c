/* Launches while their process is read. Each has a small entry; what several have in common, which
 * is mostly all but their times, lies in a kind that they share. The tables are written when the
 * process ends, since until then records may add to a launch. */
#include "profile/builder.h"

#include <stdlib.h>
#include <string.h>

const char *builder_text(prof_builder *b, const char *text)
{
    process *p = &b->process;
    text_entry *found = NULL;
    HASH_FIND_STR(p->texts, text, found);
    if (found)
        return found->text;
    found = wl_new(p->arena, text_entry);
    if (!found || !(found->text = wl_arena_strdup(p->arena, text)))
        return NULL;
    HASH_ADD_KEYPTR(hh, p->texts, found->text, strlen(found->text), found);
    return found->text;
}

/* ---- kinds ---- */

static launch_kind *new_kind(process *p)
{
    launch_kind *kind = p->spare_kinds;
    if (!kind)
        return wl_new(p->arena, launch_kind);
    p->spare_kinds = kind->next_spare;
    memset(kind, 0, sizeof *kind);
    return kind;
}

static void leave_kind(process *p, launch_kind *kind)
{
    if (!kind || --kind->users > 0)
        return;
    HASH_DEL(p->kinds, kind);
    kind->next_spare = p->spare_kinds;
    p->spare_kinds = kind;
}

wl_status builder_change_launch(prof_builder *b, launch_entry *e, const launch_facts *facts,
                                wl_error *err)
{
    process *p = &b->process;
    launch_kind *kind = NULL;
    HASH_FIND(hh, p->kinds, facts, sizeof *facts, kind);
    if (!kind) {
        kind = new_kind(p);
        if (!kind)
            return NOMEM(err);
        memcpy(&kind->facts, facts, sizeof *facts);
        HASH_ADD(hh, p->kinds, facts, sizeof kind->facts, kind);
    }
    kind->users++;
    leave_kind(p, e->kind);
    e->kind = kind;
    return WL_OK;
}

launch_facts builder_launch_facts(const launch_entry *e)
{
    launch_facts facts;
    memcpy(&facts, &e->kind->facts, sizeof facts); /* with what lies between the members */
    return facts;
}

/* ---- entries ---- */

/* The first whose number is at least that. */
static size_t entry_at_or_after(const process *p, uint32_t number)
{
    size_t low = 0, high = p->launches.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->launches.data[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

launch_entry *builder_find_launch(const prof_builder *b, uint32_t number)
{
    const process *p = &b->process;
    size_t at = entry_at_or_after(p, number);
    bool here = at < p->launches.count && p->launches.data[at].number == number;
    return here ? &p->launches.data[at] : NULL;
}

/* Numbers ascend, but for captures that were tampered with. */
static launch_entry *add_launch_entry(process *p, launch_entry entry)
{
    size_t at = entry_at_or_after(p, entry.number);
    if (!wl_push(&p->launches, entry))
        return NULL;
    launch_entry *to = &p->launches.data[at];
    p->launches_unordered |= at + 1 < p->launches.count;
    memmove(to + 1, to, (p->launches.count - 1 - at) * sizeof *to);
    *to = entry;
    return to;
}

/* Member by member: what lies between them stays 0, so that equal facts have equal bytes. */
static void set_facts(prof_builder *b, const cap_launch *l, kernel *k, launch_facts *facts)
{
    prof_launch *row = &facts->row;
    memset(facts, 0, sizeof *facts);
    facts->kernel = k;
    row->process = b->process.id;
    row->kernel = k ? k->id : 0;
    memcpy(row->grid, l->grid, sizeof row->grid);
    memcpy(row->block, l->block, sizeof row->block);
    memcpy(row->cluster, l->cluster, sizeof row->cluster);
    row->dynamic_shared = l->dynamic_shared;
    row->static_shared = l->static_shared;
    row->local_bytes = l->local_bytes;
    uint32_t by_code = k && b->process.emulated ? k->registers : 0;
    bool by_ptxas = !b->process.emulated || by_code;
    row->registers = by_code ? by_code : l->registers;
    row->stream = builder_stream(b, l->stream);
    row->device = l->device;
    row->context = l->context;
    row->fault = "";
    row->registers_by = by_ptxas ? PROF_REGISTERS_PTXAS : PROF_REGISTERS_ESTIMATE;
    row->warps_dropped = UINT64_MAX;
    row->way = b->process.emulated ? CAP_WAY_EMULATE : CAP_WAY_NONE;
}

wl_status builder_settle_kernel(prof_builder *b, const cap_launch *launch, launch_facts *facts,
                                wl_error *err)
{
    kernel *k;
    wl_status status = builder_kernel(b, launch, &k, err);
    if (status != WL_OK)
        return status;
    facts->waits = 0;
    facts->kernel = k;
    facts->row.kernel = k->id;
    return WL_OK;
}

wl_status builder_open_launch(prof_builder *b, const cap_launch *launch, bool waits,
                              launch_entry **out, wl_error *err)
{
    if (builder_find_launch(b, launch->id))
        return wl_fail(err, WL_CORRUPT, "The capture tells of launch %u twice.", launch->id);
    kernel *k = NULL;
    wl_status status = waits ? WL_OK : builder_kernel(b, launch, &k, err);
    if (status != WL_OK)
        return status;
    launch_facts facts;
    set_facts(b, launch, k, &facts);
    facts.waits = waits ? launch->module : 0;
    *out = add_launch_entry(&b->process, (launch_entry){.number = launch->id,
                                                        .id = ++b->nlaunches,
                                                        .call = builder_call(b, launch->call),
                                                        .ordinal = launch->ordinal,
                                                        .host_seconds = -1,
                                                        .device_seconds = launch->device_seconds,
                                                        .device_start = -1});
    return *out ? builder_change_launch(b, *out, &facts, err) : NOMEM(err);
}

/* ---- writing ---- */

static void add_to_sum(double *sum, double seconds)
{
    if (seconds >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + seconds;
}

/* Adds a launch to the row of its kind. */
static void count_launch(const launch_entry *e, prof_launch *row)
{
    double seconds = e->device_seconds;
    row->count++;
    add_to_sum(&row->host_seconds, e->host_seconds);
    if (seconds < 0)
        return;
    add_to_sum(&row->device_seconds, seconds);
    row->device_least = row->timed && row->device_least < seconds ? row->device_least : seconds;
    row->device_most = row->timed && row->device_most > seconds ? row->device_most : seconds;
    row->timed++;
}

/* Its first launch begins the row of a kind. What that had not been told stays what it was. */
static void begin_kind(prof_builder *b, const launch_entry *e)
{
    prof_launch *row = &e->kind->facts.row;
    row->kind = ++b->nlaunch_kinds;
    row->id = e->id;
    row->rows_of = row->rows_of ? row->rows_of : e->id;
    row->host_seconds = row->device_seconds = row->device_least = row->device_most = -1;
}

static wl_status write_launch_time(prof_builder *b, const launch_entry *e, wl_error *err)
{
    const row_launch_time row = {.id = e->id,
                                 .kind = e->kind->facts.row.kind,
                                 .number = e->number,
                                 .call = e->call,
                                 .ordinal = e->ordinal,
                                 .host_seconds = e->host_seconds,
                                 .device_seconds = e->device_seconds,
                                 .device_start = e->device_start};
    return table_insert_launch_times(b->insert[TABLE_launch_times], &row, err);
}

static wl_status write_launch_gaps(prof_builder *b, const launch_facts *facts, wl_error *err)
{
    wl_status status = WL_OK;
    uint32_t count = facts->gaps ? facts->gaps->count : 0;
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        const launch_gap *gap = &facts->gaps->rows[i];
        const prof_gap row = {
            .launch = facts->row.id, .pc = (uint32_t)gap->pc, .reason = gap->reason};
        status = table_insert_gaps(b->insert[TABLE_gaps], &row, err);
    }
    return status;
}

/* The row of a kind, and of what has rows of its own the rows that do not come from its summary. */
static wl_status write_kind(prof_builder *b, const launch_facts *facts, wl_error *err)
{
    bool own = facts->row.rows_of == facts->row.id;
    wl_status status = table_insert_launch_kinds(b->insert[TABLE_launch_kinds], &facts->row, err);
    if (status == WL_OK && own)
        status = builder_write_reaches(b, facts, err);
    if (status == WL_OK && own)
        status = write_launch_gaps(b, facts, err);
    if (status == WL_OK && facts->fault)
        status = table_insert_faults(b->insert[TABLE_faults], facts->fault, err);
    return status;
}

static int by_launch_id(const void *a, const void *b)
{
    const launch_entry *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

wl_status builder_launches(prof_builder *b, wl_error *err)
{
    process *p = &b->process;
    wl_status status = WL_OK;
    HASH_CLEAR(hh, p->kinds); /* their facts change now */
    if (p->launches_unordered)
        qsort(p->launches.data, p->launches.count, sizeof *p->launches.data, by_launch_id);
    for (size_t i = 0; i < p->launches.count && status == WL_OK; i++) {
        const launch_entry *e = &p->launches.data[i];
        if (!e->kind->facts.row.kind)
            begin_kind(b, e);
        count_launch(e, &e->kind->facts.row);
        status = write_launch_time(b, e, err);
    }
    for (size_t i = 0; i < p->launches.count && status == WL_OK; i++) {
        const launch_entry *e = &p->launches.data[i];
        if (e->kind->facts.row.id == e->id)
            status = write_kind(b, &e->kind->facts, err);
    }
    return status;
}
