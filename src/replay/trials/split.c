/* Records split into an array for each of their fields.
 *
 * A record is what all indices and iterations step over by whole numbers, a field what an
 * instruction accesses of it. Where all of it is used by fields of one size, it may as well be a
 * piece of a plain array that a thread takes, and is left alone. */
#include "replay/trials/objects.h"

#include "base/gcd.h"

#include <stdlib.h>

enum { MOST_FIELDS = 64, LONGEST_RECORD = 512 /* bytes; longer ones are rows */ };

typedef struct field {
    int64_t offset, bytes;
} field;

typedef struct records {
    uint64_t first; /* where a record begins, the first one in the object */
    uint64_t base;  /* of the arrays, each `room` bytes after the other */
    uint64_t room;
    int64_t bytes;
    uint32_t count;
    field fields[MOST_FIELDS];
} records;

static bool takes_fields(const obs_insn *row)
{
    return row->strided * 2 > row->requests && llabs(row->stride) <= LONGEST_RECORD &&
           row->sectors > row->sectors_min;
}

bool trial_has_records(const obs_summary *s)
{
    return trial_any_pays(s, takes_fields);
}

/* ---- what the code tells ---- */

/* 0 where it is not fixed how far lanes are apart. */
static int64_t record_bytes(const trial_forms *forms)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < forms->count; i++) {
        const trial_form *f = &forms->rows[i];
        if (f->lane.given || f->lane.sized)
            return 0;
        bytes = wl_gcd(bytes, (uint64_t)llabs(f->lane.bytes));
        for (uint32_t s = 0; s < f->nsteps; s++)
            bytes = wl_gcd(bytes, (uint64_t)llabs(f->steps[s].bytes));
    }
    return (int64_t)bytes;
}

static int64_t offset_in(int64_t at, int64_t record)
{
    int64_t rest = at % record;
    return rest < 0 ? rest + record : rest;
}

/* False where the access overlaps a field, or the record's end. */
static bool add_field(records *r, const trial_form *f)
{
    const field added = {offset_in(f->start, r->bytes), f->bytes};
    for (uint32_t i = 0; i < r->count; i++) {
        const field *other = &r->fields[i];
        if (other->offset == added.offset && other->bytes == added.bytes)
            return true;
        if (other->offset < added.offset + added.bytes &&
            added.offset < other->offset + other->bytes)
            return false;
    }
    if (r->count == MOST_FIELDS || added.offset + added.bytes > r->bytes)
        return false;
    r->fields[r->count++] = added;
    return true;
}

static uint32_t used_bytes(const records *r)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += r->fields[i].bytes;
    return (uint32_t)sum;
}

/* Is all of it used, by fields of one size? */
static bool may_be_plain(const records *r)
{
    for (uint32_t i = 1; i < r->count; i++)
        if (r->fields[i].bytes != r->fields[0].bytes)
            return false;
    return used_bytes(r) == r->bytes;
}

static bool find_records(const trial_object *o, records *out)
{
    const trial_forms *forms = &o->forms;
    const emu_alloc *a = &o->alloc;
    *out = (records){.bytes = forms->whole ? record_bytes(forms) : 0};
    if (!out->bytes || out->bytes > LONGEST_RECORD)
        return false;
    for (uint32_t i = 0; i < forms->count; i++)
        if (!add_field(out, &forms->rows[i]))
            return false;
    out->first = a->base + (forms->pointer - a->base) % (uint64_t)out->bytes;
    out->base = a->base - a->base % OBS_LINE_BYTES;
    out->room = a->size - a->size % OBS_LINE_BYTES + OBS_LINE_BYTES;
    return !may_be_plain(out);
}

/* ---- the trial ---- */

static const field *field_at(const records *r, int64_t offset)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->fields[i].offset == offset)
            return &r->fields[i];
    return NULL;
}

static uint64_t split_address(const void *how, uint64_t address)
{
    const records *r = how;
    int64_t at = (int64_t)(address - r->first), offset = offset_in(at, r->bytes);
    const field *f = field_at(r, offset);
    if (!f)
        return address;
    return r->base + (uint64_t)(f - r->fields) * r->room +
           (uint64_t)((at - offset) / r->bytes * f->bytes);
}

static wl_status split_object(trial_work *t, const trial_object *o)
{
    records r;
    trial_rows after;
    if (!find_records(o, &r))
        return WL_OK;
    const obs_trial trial = {.kind = OBS_TRIAL_SPLIT,
                             .object = o->alloc.id,
                             .pitch = (uint32_t)r.bytes,
                             .pad = used_bytes(&r)};
    wl_status status = trial_move_object(t, o, split_address, &r, &after);
    if (status == WL_OK)
        trial_add(t, trial, &o->rows, &after);
    return status;
}

wl_status trial_split(trial_work *t)
{
    return trial_each_object(t, takes_fields, split_object);
}
