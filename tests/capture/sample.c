#include "sample.h"
#include "support/random.h"
#include "support/test.h"

#include "base/log.h"
#include "base/steps.h"
#include "capture/records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t count(sample_rng *rng)
{
    return (uint32_t)(random_next(&rng->state) % (rng->size + 1));
}

static const char *text(sample_rng *rng)
{
    uint32_t length = count(rng);
    char *s = wl_arena_alloc(rng->arena, length + 1);
    for (uint32_t i = 0; i < length; i++)
        s[i] = (char)(1 + random_next(&rng->state) % 255);
    return s;
}

static const char **texts(sample_rng *rng, uint32_t n)
{
    const char **list = wl_new_array(rng->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++)
        list[i] = text(rng);
    return list;
}

static double number(sample_rng *rng)
{
    return (double)(int64_t)random_next(&rng->state) / 1024;
}

/* Random bits may break what readers insist on; these are drawn within it. */
static uint64_t within(sample_rng *rng, const char *type, const char *field, uint64_t value)
{
    static const struct {
        const char *type, *field;
        uint32_t bound;
    } bounds[] = {
        {"obs_insn", "space", ACC_SPACE_COUNT},
        {"obs_insn", "op", ACC_OP_COUNT},
        {"obs_heat", "space", ACC_SPACE_COUNT},
        {"cap_module", "kind", CAP_MODULE_CUBIN + 1},
        {"cap_object", "kind", CAP_OBJECT_ARRAY + 1},
        {"cap_free", "how", CAP_FREED_UNSEEN + 1},
        {"cap_pool", "kind", CAP_POOL_CREATED + 1},
        {"obs_sample", "why", OBS_WHY_COUNT},
        {"obs_sample", "mapped", 2},
        {"cap_call", "kind", CAP_CALL_OTHER + 1},
        {"cap_range", "kind", CAP_RANGE_STARTED + 1},
        {"cap_call", "nshapes", 2},
        {"cap_stream", "kind", CAP_STREAM_CREATED + 1},
        {"cap_fault", "in_memory", 2},
        {"cap_message", "level", WL_LOG_DEBUG + 1},
        {"cap_way", "way", CAP_WAY_PATCH + 1},
        {"cap_way", "estimated", 2},
        {"obs_use", "space", ACC_SPACE_COUNT},
        {"obs_use", "known", OBS_KNOWN_COUNT},
        {"obs_use", "reuse", OBS_REUSE_ALL + 1},
        {"obs_live_ranges", "origin", OBS_ORIGIN_COUNT},
        {"obs_page", "count", WL_PAGE_ITEMS + 1},
        {"obs_sequence", "nslots", WL_MOST_SLOTS + 1},
        {"obs_step_object", "space", ACC_SPACE_COUNT},
        {"cap_uses", "objects_known", OBS_KNOWN_COUNT},
        {"cap_uses", "arrays_known", OBS_KNOWN_COUNT},
        {"cap_graph", "edges_known", 2},
        {"cap_reached", "accesses", 8},
        {"obs_trial", "kind", OBS_TRIAL_COUNT},
    };
    (void)rng;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (strcmp(bounds[i].type, type) == 0 && strcmp(bounds[i].field, field) == 0)
            return value % bounds[i].bound;
    return value;
}

#define BEGIN(t)                                \
    static void fill_##t(sample_rng *rng, t *v) \
    {                                           \
        static const char type[] = #t;
#define END(t)  \
    (void)type; \
    }
#define U8(f) v->f = (uint8_t)within(rng, type, #f, random_next(&rng->state) & 0xff);
#define U16(f) v->f = (uint16_t)random_next(&rng->state);
#define U32(f) v->f = (uint32_t)within(rng, type, #f, random_next(&rng->state) & 0xffffffff);
#define U64(f) v->f = random_next(&rng->state);
#define I32(f) v->f = (int32_t)random_next(&rng->state);
#define I64(f) v->f = (int64_t)random_next(&rng->state);
#define F64(f) v->f = number(rng);
#define STR(f) v->f = text(rng);
#define TEXT(f, n)    \
    v->f = text(rng); \
    v->n = strlen(v->f);
#define WORDS(f, n)                  \
    for (uint32_t i = 0; i < n; i++) \
        v->f[i] = (uint32_t)random_next(&rng->state);
#define QWORDS(f, n)                 \
    for (uint32_t i = 0; i < n; i++) \
        v->f[i] = random_next(&rng->state);
#define STRINGS(n, f)  \
    v->n = count(rng); \
    v->f = texts(rng, v->n);
#define U32S(n, f)                                   \
    v->n = count(rng);                               \
    v->f = wl_new_array(rng->arena, uint32_t, v->n); \
    WORDS(f, v->n)
#define U64S(n, f)                                   \
    v->n = count(rng) % (CAP_MAX_STACK + 1);         \
    v->f = wl_new_array(rng->arena, uint64_t, v->n); \
    QWORDS(f, v->n)
#define ARRAY(t, n, f)                                  \
    v->n = (uint32_t)within(rng, type, #n, count(rng)); \
    v->f = wl_new_array(rng->arena, t, v->n);           \
    for (uint32_t i = 0; i < v->n; i++)                 \
        fill_##t(rng, &v->f[i]);
#define PART(t, f) fill_##t(rng, &v->f);
#define OPTIONAL()
#define CHECK(condition)
#include "capture/fields.def"
#include "capture/fields_undef.h"

#define BEGIN(t)                                  \
    static bool equal_##t(const t *a, const t *b) \
    {                                             \
        bool same = true;
#define END(t)   \
    return same; \
    }
#define U8(f) same = same && a->f == b->f;
#define U16(f) U8(f)
#define U32(f) U8(f)
#define U64(f) U8(f)
#define I32(f) U8(f)
#define I64(f) U8(f)
#define F64(f) U8(f)
#define STR(f) same = same && strcmp(a->f, b->f) == 0;
#define TEXT(f, n) \
    same = same && a->n == b->n && (!a->n || memcmp(a->f, b->f, a->n) == 0) && b->f[b->n] == 0;
#define WORDS(f, n) same = same && memcmp(a->f, b->f, (n) * sizeof a->f[0]) == 0;
#define QWORDS(f, n) WORDS(f, n)
#define STRINGS(n, f)                           \
    same = same && a->n == b->n;                \
    for (uint32_t i = 0; same && i < a->n; i++) \
        same = strcmp(a->f[i], b->f[i]) == 0;
#define U32S(n, f) \
    same = same && a->n == b->n && (!a->n || !memcmp(a->f, b->f, a->n * sizeof a->f[0]));
#define U64S(n, f) U32S(n, f)
#define ARRAY(t, n, f)                          \
    same = same && a->n == b->n;                \
    for (uint32_t i = 0; same && i < a->n; i++) \
        same = equal_##t(&a->f[i], &b->f[i]);
#define PART(t, f) same = same && equal_##t(&a->f, &b->f);
#define OPTIONAL()
#define CHECK(condition)
#include "capture/fields.def"
#include "capture/fields_undef.h"

/* Sectors ascend and name sets that are there. */
static void mend(sample_rng *rng, obs_summary *s)
{
    for (uint32_t i = 0; i < s->nheats; i++) {
        obs_heat *h = &s->heats[i];
        if (!h->npcsets)
            h->nrows = 0;
        for (uint32_t r = 0; r < h->nrows; r++) {
            h->rows[r].sector = (r ? h->rows[r - 1].sector : 0) + 1 +
                                random_next(&rng->state) % 100;
            h->rows[r].pcset %= h->npcsets;
        }
    }
}

void sample_fill(sample_rng *rng, cap_type type, cap_record *record)
{
    *record = (cap_record){.type = type};
    switch (type) {
#define X(id, number, t) \
    case CAP_##id: fill_cap_##t(rng, &record->t); break;
#include "capture/events.def"
#undef X
    }
    if (type == CAP_LAUNCH)
        mend(rng, &record->launch.summary);
}

bool sample_equal(const cap_record *a, const cap_record *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
#define X(id, number, t) \
    case CAP_##id: return equal_cap_##t(&a->t, &b->t);
#include "capture/events.def"
#undef X
    }
    return false;
}

wl_status sample_write(cap_writer *writer, const cap_record *record)
{
    switch (record->type) {
#define X(id, number, t) \
    case CAP_##id: return cap_write_##t(writer, &record->t);
#include "capture/events.def"
#undef X
    }
    return WL_ARG;
}

void sample_file(const char *path, uint64_t seed, uint32_t size, cap_record *records,
                 uint64_t *ends, wl_arena *arena)
{
    static const cap_type types[SAMPLE_TYPES] = {
#define X(id, number, t) CAP_##id,
#include "capture/events.def"
#undef X
    };
    cap_writer *writer;
    wl_error err;
    sample_rng rng = {seed, size, arena};
    assert_int_equal(cap_create(path, &writer, &err), WL_OK);
    for (int i = 0; i < SAMPLE_TYPES; i++) {
        struct stat st;
        sample_fill(&rng, types[i], &records[i]);
        assert_int_equal(sample_write(writer, &records[i]), WL_OK);
        assert_int_equal(stat(path, &st), 0);
        ends[i] = (uint64_t)st.st_size;
    }
    cap_close(writer);
}

const char *sample_path(wl_arena *arena, const char *name)
{
    const char *folder = getenv("TMPDIR");
    const char *path = wl_arena_printf(arena, "%s/warplens-%ld-%s", folder ? folder : "/tmp",
                                       (long)getpid(), name);
    unlink(path);
    return path;
}
