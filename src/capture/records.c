#include "capture/records.h"

#include "base/log.h"
#include "base/steps.h"

#include <string.h>
#include <xxhash.h>

const char cap_magic[8] = {'W', 'L', 'C', 'A', 'P', 'T', 'U', 'R'};

uint64_t cap_hash(uint32_t type, uint32_t flags, const void *payload, size_t size)
{
    return XXH64(payload, size, (uint64_t)flags << 32 | type);
}

/* Readers look sectors up by halving, and sets by number. */
static bool rows_in_order(const obs_heat *heat)
{
    for (uint32_t i = 0; i < heat->nrows; i++) {
        const obs_heat_row *row = &heat->rows[i];
        if (row->pcset >= heat->npcsets || (i && row[-1].sector >= row->sector))
            return false;
    }
    return true;
}

/* ---- the fewest bytes that a structure takes ---- */

#define BEGIN(type) enum { LEAST_##type = 0
#define END(type) \
    }             \
    ;
#define U8(f) +1
#define U16(f) +2
#define U32(f) +4
#define U64(f) +8
#define I32(f) +4
#define I64(f) +8
#define F64(f) +8
#define STR(f) +4
#define TEXT(f, n) +8
#define WORDS(f, n) +4 * (n)
#define QWORDS(f, n) +8 * (n)
#define STRINGS(n, f) +4
#define U32S(n, f) +4
#define U64S(n, f) +4
#define ARRAY(type, n, f) +4
#define PART(type, f) +(int)LEAST_##type
#define CHECK(condition)
#include "capture/fields.def"
#include "capture/fields_undef.h"

/* ---- writing ---- */

#define BEGIN(type)                                      \
    static void put_##type(cap_buffer *b, const type *v) \
    {
#define END(type) }
#define U8(f) cap_put_number(b, v->f, 1);
#define U16(f) cap_put_number(b, v->f, 2);
#define U32(f) cap_put_number(b, v->f, 4);
#define U64(f) cap_put_number(b, v->f, 8);
#define I32(f) cap_put_number(b, (uint32_t)v->f, 4);
#define I64(f) cap_put_number(b, (uint64_t)v->f, 8);
#define F64(f) put_double(b, v->f);
#define STR(f) cap_put_string(b, v->f);
#define TEXT(f, n)              \
    cap_put_number(b, v->n, 8); \
    cap_put(b, v->f, v->n);
#define WORDS(f, n) put_words(b, v->f, n);
#define QWORDS(f, n) put_quads(b, v->f, n);
#define STRINGS(n, f)                   \
    cap_put_number(b, v->n, 4);         \
    for (uint32_t i = 0; i < v->n; i++) \
        cap_put_string(b, v->f[i]);
#define U32S(n, f)              \
    cap_put_number(b, v->n, 4); \
    put_words(b, v->f, v->n);
#define U64S(n, f)              \
    cap_put_number(b, v->n, 4); \
    put_quads(b, v->f, v->n);
#define ARRAY(type, n, f)               \
    cap_put_number(b, v->n, 4);         \
    for (uint32_t i = 0; i < v->n; i++) \
        put_##type(b, &v->f[i]);
#define PART(type, f) put_##type(b, &v->f);
#define CHECK(condition)

static void put_double(cap_buffer *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cap_put_number(b, bits, 8);
}

static void put_words(cap_buffer *b, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cap_put_number(b, words[i], 4);
}

static void put_quads(cap_buffer *b, const uint64_t *quads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cap_put_number(b, quads[i], 8);
}

#include "capture/fields.def"
#include "capture/fields_undef.h"

#define X(id, number, type)                                     \
    void cap_put_cap_##type(cap_buffer *b, const cap_##type *v) \
    {                                                           \
        put_cap_##type(b, v);                                   \
    }
#include "capture/events.def"
#undef X

/* ---- reading ---- */

#define BEGIN(type)                                \
    static void get_##type(cap_cursor *c, type *v) \
    {
#define END(type) }
#define U8(f) v->f = (uint8_t)cap_get_number(c, 1);
#define U16(f) v->f = (uint16_t)cap_get_number(c, 2);
#define U32(f) v->f = (uint32_t)cap_get_number(c, 4);
#define U64(f) v->f = cap_get_number(c, 8);
#define I32(f) v->f = (int32_t)cap_get_number(c, 4);
#define I64(f) v->f = (int64_t)cap_get_number(c, 8);
#define F64(f) v->f = get_double(c);
#define STR(f) v->f = cap_get_string(c);
#define TEXT(f, n) v->f = cap_get_text(c, &v->n);
#define WORDS(f, n) get_words(c, v->f, n);
#define QWORDS(f, n) get_quads(c, v->f, n);
#define STRINGS(n, f)                                         \
    v->n = cap_get_count(c, 4, sizeof *v->f, (void **)&v->f); \
    for (uint32_t i = 0; i < v->n; i++)                       \
        v->f[i] = cap_get_string(c);
#define U32S(n, f)                                 \
    v->n = cap_get_count(c, 4, 4, (void **)&v->f); \
    get_words(c, v->f, v->n);
#define U64S(n, f)                                 \
    v->n = cap_get_count(c, 8, 8, (void **)&v->f); \
    get_quads(c, v->f, v->n);
#define ARRAY(type, n, f)                                                \
    v->n = cap_get_count(c, LEAST_##type, sizeof *v->f, (void **)&v->f); \
    for (uint32_t i = 0; i < v->n && !c->status; i++)                    \
        get_##type(c, &v->f[i]);
#define PART(type, f) get_##type(c, &v->f);
#define CHECK(condition)            \
    if (!c->status && !(condition)) \
        cap_fail(c, WL_CORRUPT);

static double get_double(cap_cursor *c)
{
    uint64_t bits = cap_get_number(c, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void get_words(cap_cursor *c, uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)cap_get_number(c, 4);
}

static void get_quads(cap_cursor *c, uint64_t *quads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        quads[i] = cap_get_number(c, 8);
}

#include "capture/fields.def"
#include "capture/fields_undef.h"

wl_status cap_decode(const uint8_t *payload, size_t size, wl_arena *arena, cap_record *record)
{
    const uint8_t *from = size ? payload : (const uint8_t *)"";
    cap_cursor c = {.at = from, .end = from + size, .arena = arena};
    switch (record->type) {
#define X(id, number, type) \
    case CAP_##id: get_cap_##type(&c, &record->type); break;
#include "capture/events.def"
#undef X
    default: return WL_CORRUPT;
    }
    return c.status || c.at == c.end ? c.status : WL_CORRUPT;
}

/* ---- notes ---- */

cap_launch cap_launch_of_note(const cap_note *note)
{
    cap_launch launch = {.id = note->id,
                         .call = note->call,
                         .module = note->module,
                         .kernel = note->kernel,
                         .dynamic_shared = note->dynamic_shared,
                         .static_shared = note->static_shared,
                         .local_bytes = note->local_bytes,
                         .registers = note->registers,
                         .device = note->device,
                         .context = note->context,
                         .stream = note->stream,
                         .ordinal = note->ordinal,
                         .host_seconds = -1,
                         .device_seconds = -1,
                         .params = "",
                         .fault = ""};
    memcpy(launch.grid, note->grid, sizeof launch.grid);
    memcpy(launch.block, note->block, sizeof launch.block);
    memcpy(launch.cluster, note->cluster, sizeof launch.cluster);
    return launch;
}
