/* Findings about allocations that failed: one for each place, about the one that lacked most. */
#include "analysis/objects/shortage.h"
#include "analysis/objects/teller.h"

#include <stdlib.h>

#define TEXT(...) wl_arena_printf(t->input->arena, __VA_ARGS__)

enum { MOST_HELD = 4 /* that a sentence names */ };

typedef struct refused { /* at one place */
    const obj_refusal *refusal;
    prof_call call;
    ana_source caller; /* of a helper that makes the call */
    obj_shortage shortage;
    uint32_t count;
} refused;

/* ---- sentences ---- */

static const char *holder_words(tell_state *t, const obj_held *h)
{
    const char *name = tell_object(t, h->object);
    if (h->rest)
        return h->count > 1 ? TEXT("the rest of %s and of %u more of its pool", name, h->count - 1)
                            : TEXT("the rest of %s", name);
    return h->count > 1 ? TEXT("%s and %u more allocated there", name, h->count - 1) : name;
}

static const char *held_words(tell_state *t, const obj_shortage *s)
{
    const char *text = "";
    uint64_t rest = s->in_use;
    for (size_t i = 0; text && i < s->held.count && i < MOST_HELD; i++) {
        const obj_held *h = &s->held.data[i];
        text = TEXT("%s%s%s %s", text, i ? ", " : "", holder_words(t, h), tell_bytes(t, h->bytes));
        rest -= h->bytes;
    }
    return text && rest ? TEXT("%s, others %s", text, tell_bytes(t, rest)) : text;
}

static const char *refusal_summary(tell_state *t, const refused *r)
{
    const obj_refusal *of = r->refusal;
    const char *often = r->count > 1 ? TEXT(" %u allocations failed there.", r->count) : "";
    const char *held = r->shortage.in_use
                           ? TEXT(" The process held %s: %s.", tell_bytes(t, r->shortage.in_use),
                                  held_words(t, &r->shortage))
                           : "";
    return TEXT("%s asked for %s when %s of the device's %s were free.%s%s",
                tell_place(t, of->call, "The allocation"), tell_bytes(t, of->bytes),
                tell_bytes(t, of->free), tell_bytes(t, of->total), held, often);
}

/* What a change is called within a sentence, with the object's name in it. */
static const char *change_words(tell_state *t, const obj_hit *h)
{
    const char *name = tell_object(t, h->object);
    switch (h->pattern) {
    case ANA_EARLY_ALLOCATION: return TEXT("allocate %s later", name);
    case ANA_LATE_DEALLOCATION:
    case ANA_LEAK: return TEXT("free %s sooner", name);
    case ANA_TEMPORARY_IDLENESS: return TEXT("keep %s on the host meanwhile", name);
    case ANA_UNUSED_ALLOCATION: return TEXT("leave out %s", name);
    case ANA_OVERALLOCATION: return TEXT("allocate less for %s", name);
    case ANA_STRUCTURED_ACCESS: return TEXT("allocate one slice of %s", name);
    default: return TEXT("let %s use the memory of %s", name, tell_object(t, h->other));
    }
}

static const char *rooms_words(tell_state *t, const obj_shortage *s)
{
    const char *text = "";
    for (size_t i = 0; text && i < s->rooms.count; i++)
        text = TEXT("%s%s%s (%s)", text, i ? ", " : "",
                    change_words(t, &t->found.hits.data[s->rooms.data[i].hit]),
                    tell_bytes(t, s->rooms.data[i].bytes));
    return text;
}

static const char *pools_words(const tell_state *t, const obj_shortage *s)
{
    for (size_t i = 0; i < s->rooms.count; i++)
        if (t->found.trace.objects.data[t->found.hits.data[s->rooms.data[i].hit].object].part)
            return " What is freed in a pool makes room where its allocator hands it out again, or "
                   "gives it back.";
    return "";
}

static const char *refusal_remedy(tell_state *t, const obj_shortage *s)
{
    if (!s->missing)
        return "That much was free, but not in one piece: allocate less at once, or the large "
               "pieces first.";
    if (!s->rooms.count)
        return TEXT("As far as is known, all that was in use was needed: ask for %s less, as by "
                    "working on a part of the data at a time.",
                    tell_bytes(t, s->missing));
    const char *rest = s->room < s->missing ? TEXT(" %s are missing then: ask for less at once.",
                                                   tell_bytes(t, s->missing - s->room))
                                            : "";
    return TEXT("Make room for %s before it: %s.%s%s", tell_bytes(t, s->missing), rooms_words(t, s),
                pools_words(t, s), rest);
}

/* ---- drafts ---- */

static bool set_refusal_part(tell_state *t, const refused *r, ana_draft *d)
{
    const obj_shortage *s = &r->shortage;
    wl_arena *arena = t->input->arena;
    ana_refusal *part = wl_new(arena, ana_refusal);
    if (!part)
        return false;
    *part = (ana_refusal){.requested = r->refusal->bytes,
                          .free = r->refusal->free,
                          .total = r->refusal->total,
                          .in_use = s->in_use,
                          .nheld = (uint32_t)s->held.count,
                          .held = wl_new_array(arena, ana_held, s->held.count + 1),
                          .nrooms = (uint32_t)s->rooms.count,
                          .rooms = wl_new_array(arena, ana_room, s->rooms.count + 1)};
    for (size_t i = 0; part->held && i < s->held.count; i++)
        part->held[i] = (ana_held){t->found.trace.objects.data[s->held.data[i].object].id,
                                   s->held.data[i].count, s->held.data[i].bytes,
                                   s->held.data[i].rest};
    for (size_t i = 0; part->rooms && i < s->rooms.count; i++) {
        const obj_hit *h = &t->found.hits.data[s->rooms.data[i].hit];
        part->rooms[i] = (ana_room){h->pattern, t->found.trace.objects.data[h->object].id,
                                    s->rooms.data[i].bytes};
    }
    d->refusal = part;
    return part->held && part->rooms;
}

static bool draft_refusal(tell_state *t, const refused *r)
{
    ana_draft *d = ana_draft_add(t->drafts, t->input, ANA_OUT_OF_MEMORY);
    if (!d)
        return false;
    uint64_t missing = r->shortage.missing;
    d->excess = d->alone = (double)(missing ? missing : r->refusal->bytes);
    d->certainty = ANA_CERTAINTY_COUNTED;
    d->site = (ana_source){r->call.file, r->call.line};
    d->caller = r->caller;
    d->kind = REMEDY_MAKE_ROOM;
    d->summary = refusal_summary(t, r);
    d->remedy = refusal_remedy(t, &r->shortage);
    ana_add_evidence(d, "requested_bytes", "asked for", (double)r->refusal->bytes, "bytes");
    ana_add_evidence(d, "free_bytes", "free on the device", (double)r->refusal->free, "bytes");
    ana_add_evidence(d, "in_use_bytes", "held by the process", (double)r->shortage.in_use, "bytes");
    ana_add_evidence(d, "missing_bytes", "missing", (double)missing, "bytes");
    if (r->count > 1)
        ana_add_evidence(d, "refusals", "allocations that failed there", r->count, "");
    return d->summary && d->remedy && set_refusal_part(t, r, d);
}

static bool same_place(const refused *a, const refused *b)
{
    bool same = a->call.file == b->call.file && a->call.line == b->call.line &&
                a->caller.file == b->caller.file && a->caller.line == b->caller.line;
    return a->call.line ? same : a->call.id == b->call.id;
}

/* Adds a refusal to the place that it is of; a place tells of the one that lacked most. */
static bool add_to_places(refused *places, uint32_t *n, refused *r)
{
    for (uint32_t i = 0; i < *n; i++) {
        refused *p = &places[i];
        if (!same_place(p, r))
            continue;
        p->count++;
        if (r->shortage.missing > p->shortage.missing) {
            r->count = p->count;
            obj_shortage_free(&p->shortage);
            *p = *r;
        } else {
            obj_shortage_free(&r->shortage);
        }
        return true;
    }
    places[(*n)++] = *r;
    return true;
}

static bool look_at_refusal(tell_state *t, const obj_refusal *refusal, refused *places, uint32_t *n)
{
    refused r = {.refusal = refusal, .count = 1};
    wl_status status = prof_load_call(t->input->program->db, refusal->call, t->input->scratch,
                                      &r.call, t->err);
    t->status = status == WL_OK ? t->status : status;
    r.caller = tell_caller(t, r.call.stack);
    bool good = obj_shortage_of(&t->found.trace, &t->found.hits, refusal, &r.shortage);
    if (status == WL_OK && good)
        return add_to_places(places, n, &r);
    obj_shortage_free(&r.shortage);
    return false;
}

bool tell_refusals(tell_state *t)
{
    size_t count = t->found.trace.refusals.count;
    uint32_t n = 0;
    refused *places = calloc(count + 1, sizeof *places);
    bool good = places != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = look_at_refusal(t, &t->found.trace.refusals.data[i], places, &n);
    for (uint32_t i = 0; i < n; i++) {
        good = good && draft_refusal(t, &places[i]);
        obj_shortage_free(&places[i].shortage);
    }
    free(places);
    return good;
}
