/* One process: its records taken in, its notes worked out. */
#include "replay/session.h"

#include "base/clock.h"
#include "replay/elements.h"
#include "replay/memo.h"
#include "replay/patched.h"
#include "replay/run.h"
#include "replay/runnable.h"
#include "replay/trials/trials.h"
#include "replay/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    OF_LEFT =
        4, /* of the time that is left, a launch of which nothing is said takes at most this part */
    OF_AGAIN =
        4, /* while kinds of launches are to come, others of known kinds take at most this part of all of it */
    OF_TRIALS = 2, /* and trials this one */
};

/* What a launch may take at least before it is stopped: about as long as to see that. */
static const double least_seconds = 0.25;

struct replay_session {
    replay_settings settings;
    bool (*go_on)(void *ctx);
    void *ctx;
    replay_recorded *recorded;
    replay_world world;
    replay_memo *memo;
    replay_memo *likely; /* launches that recorded, for those of the same kernels that did not */
    double seconds;      /* taken so far */
    double trials;       /* of them for trials */
    double again;        /* of them for launches of kinds that were met before */
    replay_turn turn;
    /* Of the last outcome. */
    replay_watch watch;
    replay_maps_asked asked;
    wl_arena *arena;
    wl_arena *tried; /* of the last trials */
    replay_known known;
    char reason[1100], remark[2400];
};

/* A launch that is being worked out. */
typedef struct work {
    replay_session *s;
    const cap_note *note;
    replay_world_kernel *kernel;
    uint32_t
        machine; /* the module of machine code that the kernel is of in the place of the note's; 0: it is not */
    emu_dim grid, block, cluster;
    const void *params;
    bool completed;             /* probes recorded something of it */
    bool mapped;                /* its blocks may get heat maps */
    bool outdated;              /* what it recorded is of another version */
    const cap_patched *counted; /* by patches; NULL: they counted nothing */
    replay_recorded_launch device;
    double finding;       /* seconds that its kernel took to be read and proven */
    replay_ranges ranges; /* of arrays of which some accesses were counted on the device */
    acc_observer observer;
    uint32_t ngaps;      /* the kernel's, and those of boxes whose tensor map is not known */
    const cap_gap *gaps; /* ascending */
} work;

wl_status replay_session_new(const replay_settings *settings, bool (*go_on)(void *ctx), void *ctx,
                             replay_session **out, wl_error *err)
{
    replay_session *s = calloc(1, sizeof *s);
    if (s) {
        s->settings = *settings;
        s->turn.part = 1.0 / OF_LEFT;
        s->go_on = go_on;
        s->ctx = ctx;
        s->memo = replay_memo_new();
        s->likely = replay_memo_new();
    }
    if (!s || !s->memo || !s->likely) {
        replay_session_free(s);
        return wl_fail(err, WL_NOMEM, "out of memory while computing accesses");
    }
    *out = s;
    return WL_OK;
}

static void forget_last(replay_session *s)
{
    replay_watch_end(&s->watch);
    wl_arena_free(s->arena);
    s->arena = NULL;
}

void replay_session_free(replay_session *s)
{
    if (!s)
        return;
    forget_last(s);
    wl_arena_free(s->tried);
    replay_world_clear(&s->world);
    replay_memo_free(s->memo);
    replay_memo_free(s->likely);
    free(s);
}

void replay_use(replay_session *s, replay_recorded *device)
{
    s->recorded = device;
}

wl_status replay_see(replay_session *s, const cap_record *record, wl_error *err)
{
    return replay_world_see(&s->world, record, err);
}

/* ---- limits ---- */

/* Memory that the process takes. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What is left of the time for launches like the next one. */
static double seconds_left(const replay_session *s)
{
    double all = s->settings.budget.seconds, left = all - s->seconds;
    return s->turn.again ? fmin(left, all / OF_AGAIN - s->again) : left;
}

static const char *beyond_limits(const replay_session *s)
{
    const prog_budget *budget = &s->settings.budget;
    if (budget->seconds > 0 && seconds_left(s) <= 0)
        return "the time for computing accesses after the run was used up (--replay-budget gives "
               "more)";
    if (budget->bytes && resident_bytes() > budget->bytes)
        return "the memory for computing accesses after the run was used up (--replay-budget gives "
               "more)";
    return NULL;
}

void replay_expect(replay_session *s, replay_turn turn)
{
    s->turn = turn;
}

void replay_spend(replay_session *s, double seconds)
{
    s->seconds += seconds;
    s->again += s->turn.again ? seconds : 0;
}

/* ---- outcomes ---- */

static wl_status say_nothing_known(const work *w, const char *reason, replay_outcome *out)
{
    snprintf(w->s->reason, sizeof w->s->reason, "%s", reason);
    out->kind = REPLAY_NOTHING;
    out->way = (cap_way){.note = w->note->id, .reason = w->s->reason};
    if (w->kernel && w->kernel->status == WL_OK) {
        out->way.count = w->kernel->ntold;
        out->way.gaps = w->kernel->told;
    }
    return WL_OK;
}

static wl_status say_repeat(const work *w, replay_outcome *out)
{
    replay_known *known = &w->s->known;
    out->kind = REPLAY_REPEAT;
    out->repeat = (cap_repeat){.note = w->note->id,
                               .same_as = known->launch,
                               .host_seconds = -1,
                               .count = known->nmoves,
                               .moves = known->moves};
    return WL_OK;
}

/* Why recorded accesses fill no gap of the launch; NULL: none of its kernel's launches has any. */
static const char *why_not_recorded(const work *w)
{
    if (w->completed)
        return NULL;
    if (w->outdated)
        return "another version of warplens recorded it, and this one cannot read that";
    if (w->note->flags & CAP_NOTE_PROBED)
        return "what it recorded could not be read from the device";
    return replay_recorded_kernel(w->s->recorded, w->note->kernel)
               ? "only some launches of the kernel record accesses (--probe-launches 0: all do)"
               : NULL;
}

static replay_patched counted_part(const work *w)
{
    return (replay_patched){.counted = w->counted,
                            .machine = w->s->world.machine,
                            .code = w->kernel && w->kernel->code ? w->kernel->code->machine : NULL,
                            .note = w->note};
}

/* With why nothing fills them: only where other launches of the kernel recorded. */
static wl_status list_gaps_of_machine(const work *w, const char *why, cap_way *way)
{
    const replay_world_kernel *k = w->kernel;
    cap_gap *gaps = wl_new_array(w->s->arena, cap_gap, k->ntold + 1);
    if (!gaps)
        return WL_NOMEM;
    for (uint32_t i = 0; i < k->ntold; i++) {
        gaps[i] = k->told[i];
        gaps[i].reason = why && !w->counted ? why : gaps[i].reason;
    }
    way->count = k->ntold;
    way->gaps = gaps;
    return WL_OK;
}

/* The kernel's gaps without those that recorded accesses have filled. */
static wl_status list_unfilled_gaps(const work *w, const uint8_t *covered, cap_way *way)
{
    const replay_world_kernel *k = w->kernel;
    const char *why = why_not_recorded(w);
    if (k->code->machine)
        return list_gaps_of_machine(w, why, way);
    way->gaps = wl_new_array(w->s->arena, cap_gap, w->ngaps + 1);
    if (!way->gaps)
        return WL_NOMEM;
    for (uint32_t i = 0; i < w->ngaps; i++) {
        if (covered[w->gaps[i].pc])
            continue;
        way->gaps[way->count] = w->gaps[i];
        if (why)
            way->gaps[way->count].reason = why;
        way->count++;
    }
    return WL_OK;
}

/* Of PTX probes record, of machine code patches. */
static uint32_t way_of_recorded(const work *w)
{
    return w->kernel->code->machine ? CAP_WAY_PATCH : CAP_WAY_PROBE;
}

/* What depends on data is taken from the last launch that recorded it and was the same in
 * everything else. */
static wl_status say_estimate(const work *w, replay_outcome *out)
{
    out->way = (cap_way){
        .note = w->note->id, .way = way_of_recorded(w), .estimated = true, .reason = ""};
    return say_repeat(w, out);
}

/* ---- working out ---- */

static replay_run replay_run_of(const work *w)
{
    const replay_session *s = w->s;
    const cap_note *n = w->note;
    double left = seconds_left(s), most = fmax(left, least_seconds);
    bool limited = s->settings.budget.seconds > 0;
    return (replay_run){.machine = s->world.machine,
                        .slice = w->kernel->slice,
                        .launch = {.grid = w->grid,
                                   .block = w->block,
                                   .cluster = w->cluster,
                                   .dynamic_shared = n->dynamic_shared,
                                   .params = w->params,
                                   .cooperative = n->flags & CAP_NOTE_COOPERATIVE,
                                   .threads = s->settings.threads,
                                   .tensor = replay_maps_find,
                                   .tensor_ctx = (void *)(uintptr_t)&s->asked},
                        .sampled = s->watch.sampled,
                        .nsampled = s->watch.nsampled,
                        .seconds = limited ? left * s->turn.part : 0,
                        .end = limited ? wl_seconds() + most : 0,
                        .go_on = s->go_on,
                        .ctx = s->ctx};
}

static uint64_t constant_at(void *ctx, const char *name)
{
    const work *w = ctx;
    return replay_world_constant(&w->s->world, w->note->module, name);
}

/* What cannot be joined to the kernel counts as not recorded. */
static wl_status begin_recorded(work *w)
{
    replay_recorded_part part = {w->note, w->kernel->slice, constant_at, w};
    wl_status status = replay_recorded_begin(w->s->recorded, &part, w->s->arena, &w->device);
    w->completed = status == WL_OK;
    w->outdated = status == WL_UNSUPPORTED;
    return status == WL_NOENT || status == WL_UNSUPPORTED ? WL_OK : status;
}

static wl_status find_ranges(work *w)
{
    const ir_kernel *code = &w->kernel->facts.code;
    uint32_t npcs = w->kernel->facts.proof.npcs;
    bool *counted = wl_new_array(w->s->arena, bool, npcs + 1),
         *idle = wl_new_array(w->s->arena, bool, npcs + 1);
    if (!counted || !idle || !replay_arrays_find(&w->kernel->arrays, code->module, code->funcs[0]))
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < npcs; pc++) {
        counted[pc] = w->device.elements[pc] & REPLAY_ELEMENTS_ARRAYS;
        idle[pc] = replay_recorded_idle(&w->device, pc);
    }
    return replay_ranges_find(&w->kernel->arrays, w->kernel->slice, counted, idle, w->s->arena,
                              &w->ranges);
}

static bool counts_arrays(const work *w)
{
    return w->completed &&
           rewrite_has_probe(replay_recorded_copy(&w->device)->kernel, REWRITE_SHARED);
}

/* Are the steps of the traced blocks kept? They need what probes traced, and its place. */
static bool keeps_traced_steps(work *w)
{
    const replay_settings *s = &w->s->settings;
    if (!w->completed || !s->all_warps || !s->sequence_limit ||
        !rewrite_has_probe(replay_recorded_copy(&w->device)->kernel, REWRITE_TRACE) ||
        !replay_doors_find(&w->kernel->doors, &w->kernel->facts, w->kernel->slice))
        return false;
    w->device.doors = &w->kernel->doors;
    return true;
}

static wl_status begin_watch(work *w)
{
    wl_status status = w->completed ? begin_recorded(w) : WL_OK;
    if (status == WL_OK && counts_arrays(w))
        status = find_ranges(w);
    uint32_t probes = replay_recorded_probes(w->s->recorded);
    replay_watched what = {.settings = &w->s->settings,
                           .machine = w->s->world.machine,
                           .kernel = w->kernel->slice,
                           .grid = w->grid,
                           .block = w->block,
                           .cluster = w->cluster,
                           .dynamic_shared = w->note->dynamic_shared,
                           .cooperative = w->note->flags & CAP_NOTE_COOPERATIVE,
                           .blocks = w->completed ? w->device.blocks : NULL,
                           .nblocks = w->device.nblocks,
                           .unmapped = !w->mapped,
                           .incomplete = w->completed || w->ngaps,
                           .traced_steps = status == WL_OK && keeps_traced_steps(w),
                           .probes = probes,
                           .ranges = &w->ranges,
                           .lifted = w->kernel->code->machine};
    if (!what.lifted && replay_elements_of_arrays(w->s->settings.probes | probes))
        what.fills = replay_fills_of(&w->kernel->fills, w->kernel->facts.code.module,
                                     w->kernel->facts.code.funcs[0]);
    if (!what.lifted && (w->s->settings.probes | probes) >> REWRITE_PATH & 1 && !what.incomplete)
        what.path = replay_path_of(&w->kernel->path, w->kernel->facts.code.module,
                                   w->kernel->facts.code.funcs[0]);
    if (status == WL_OK)
        status = replay_watch_begin(&what, &w->kernel->facts.proof, &w->s->watch);
    w->observer = w->s->watch.observer;
    if (w->completed)
        w->observer = replay_recorded_observer(&w->device, &w->s->watch.observer);
    return status;
}

static wl_status summarise_launch(work *w, const emu_result *result, double share,
                                  replay_outcome *out)
{
    obs_summary *summary = &out->launch.summary;
    uint64_t blocks = (uint64_t)w->grid.x * w->grid.y * w->grid.z;
    const uint8_t *covered = w->completed ? w->device.covered
                                          : wl_new_array(w->s->arena, uint8_t,
                                                         w->kernel->facts.proof.npcs + 1);
    if (!covered)
        return WL_NOMEM;
    wl_status status = replay_watch_finish(&w->s->watch, result, summary);
    if (status != WL_OK)
        return status;
    replay_world_place_constants(&w->s->world, summary);
    replay_scale(summary, share, blocks, covered);
    if (w->completed)
        status = replay_recorded_finish(&w->device, w->s->arena, summary);
    if (w->completed && status == WL_OK)
        status = replay_recorded_indirect(&w->device, w->s->arena, &out->indirect);
    replay_elements_part part = {.slice = w->kernel->slice,
                                 .ngaps = w->ngaps,
                                 .gaps = w->gaps,
                                 .share = share,
                                 .machine = w->s->world.machine,
                                 .ranges = &w->ranges,
                                 .lifted = w->kernel->code->machine,
                                 .launch = w->s->watch.launch,
                                 .threads = w->s->settings.threads,
                                 .device = w->completed ? &w->device : NULL};
    if (status == WL_OK)
        status = replay_elements_finish(&part, w->s->arena, summary);
    out->kind = REPLAY_LAUNCH;
    out->way = (cap_way){.note = w->note->id,
                         .way = w->completed || w->counted ? way_of_recorded(w) : CAP_WAY_REPLAY,
                         .estimated = share < 1 || w->device.estimated,
                         .reason = ""};
    if (status == WL_OK)
        status = list_unfilled_gaps(w, covered, &out->way);
    replay_patched part_counted = counted_part(w);
    return status == WL_OK && w->counted
               ? replay_patched_join(&part_counted, w->kernel->told, w->kernel->ntold, w->s->arena,
                                     summary, &out->way)
               : status;
}

static wl_status begin_gaps(work *w)
{
    uint32_t npcs = w->kernel->facts.proof.npcs;
    w->ngaps = w->kernel->ngaps;
    w->gaps = w->kernel->gaps;
    w->s->asked = (replay_maps_asked){.maps = &w->s->world.maps,
                                      .unknown = wl_new_array(w->s->arena, uint8_t, npcs + 1)};
    return w->s->asked.unknown ? WL_OK : WL_NOMEM;
}

static wl_status run_watched(work *w, emu_result *result, double *share, wl_error *err)
{
    wl_status status = begin_watch(w);
    replay_run run = replay_run_of(w);
    return status == WL_OK ? replay_run_blocks(&run, &w->observer, result, share, err) : status;
}

static bool asked_unknown_maps(const work *w)
{
    return replay_maps_any(w->s->asked.unknown, w->kernel->facts.proof.npcs);
}

/* Boxes whose map is not known were not shown: now that it is clear which, once more with gaps
 * there, so that nothing is told that would need them. */
static wl_status run_without_maps(work *w, emu_result *result, double *share, wl_error *err)
{
    if (w->completed)
        return wl_fail(err, WL_UNSUPPORTED, "nobody saw how a tensor map of it was made");
    w->gaps = replay_maps_gaps(w->kernel->gaps, w->kernel->ngaps, w->s->asked.unknown,
                               w->kernel->facts.proof.npcs, w->s->arena, &w->ngaps);
    if (!w->gaps)
        return WL_NOMEM;
    replay_watch_end(&w->s->watch);
    emu_result_clear(result);
    return run_watched(w, result, share, err);
}

/* Where nothing else can be known: the code is not understood, or there is no time. */
static wl_status say_counts_alone(const work *w, replay_outcome *out)
{
    replay_patched part = counted_part(w);
    out->kind = REPLAY_LAUNCH;
    out->launch = cap_launch_of_note(w->note);
    out->way = (cap_way){.note = w->note->id, .way = CAP_WAY_PATCH, .reason = ""};
    return replay_patched_alone(&part, w->s->arena, &out->launch.summary);
}

static wl_status work_out(work *w, replay_outcome *out)
{
    emu_result result = {0};
    wl_error err = {0};
    double share = 1, started = wl_seconds();
    out->launch = cap_launch_of_note(w->note);
    out->launch.module = w->machine ? w->machine : w->note->module;
    wl_status status = begin_gaps(w);
    if (status == WL_OK)
        status = run_watched(w, &result, &share, &err);
    if (status == WL_OK && asked_unknown_maps(w))
        status = run_without_maps(w, &result, &share, &err);
    if (status == WL_OK)
        status = summarise_launch(w, &result, share, out);
    emu_result_clear(&result);
    replay_spend(w->s, wl_seconds() - started);
    if (status == WL_OK || status == WL_NOMEM)
        return status;
    if (w->counted)
        return say_counts_alone(w, out);
    bool late = status == WL_LIMIT && beyond_limits(w->s);
    return say_nothing_known(w,
                             late                 ? beyond_limits(w->s)
                             : status == WL_LIMIT ? "computing its accesses was interrupted"
                                                  : err.text,
                             out);
}

/* ---- notes ---- */

static const char *not_replayable(const work *w)
{
    if (w->note->flags & CAP_NOTE_NO_PARAMS)
        return "the driver does not say how its parameters are laid out (CUDA 12.4 and later do)";
    if (w->note->nparams < w->kernel->facts.param_bytes)
        return "fewer parameters were recorded than its code has";
    return NULL;
}

static const char *nothing_to_show(const work *w)
{
    if (w->kernel->shown || !w->kernel->facts.proof.memory || w->completed || w->counted)
        return NULL;
    return replay_recorded_kernel(w->s->recorded, w->note->kernel)
               ? "what it accessed depends on data, and no similar launch recorded it"
               : "what it accessed depends on data, and none of it could be computed";
}

static replay_launch key_parts(const work *w)
{
    return (replay_launch){.facts = &w->kernel->facts,
                           .kernel = w->kernel->number,
                           .grid = w->grid,
                           .block = w->block,
                           .cluster = w->cluster,
                           .dynamic_shared = w->note->dynamic_shared,
                           .device = w->note->device,
                           .cooperative = w->note->flags & CAP_NOTE_COOPERATIVE,
                           .params = w->params,
                           .pointers = replay_recorded_kernel(w->s->recorded, w->note->kernel)};
}

/* Of a launch that recorded, its key together with what it recorded: launches that are the same in
 * both accessed the same. False where it has none. */
static bool key_with_recorded(const work *w, const replay_key *key, replay_key *out)
{
    uint64_t parts[4] = {key->hash[0], key->hash[1]};
    if (!(w->completed || w->counted) || !w->s->settings.memo ||
        replay_recorded_hash(w->s->recorded, w->note->id, !beyond_limits(w->s), &parts[2]) != WL_OK)
        return false;
    XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
    *out = *key;
    out->hash[0] = hash.low64;
    out->hash[1] = hash.high64;
    return true;
}

/* What did not record is from here on taken to do what this launch did. */
static bool is_recorded_known(work *w, const replay_key *key, replay_outcome *out)
{
    replay_session *s = w->s;
    replay_key recorded;
    double started = wl_seconds();
    bool keyed = key_with_recorded(w, key, &recorded);
    replay_spend(s, wl_seconds() - started);
    if (!keyed || !replay_memo_get(s->memo, &recorded, replay_world_find, &s->world, &s->known))
        return false;
    replay_memo_copy(s->memo, &recorded, s->likely, key);
    return say_repeat(w, out) == WL_OK;
}

static bool is_outcome_known(work *w, const replay_key *key, replay_outcome *out)
{
    replay_session *s = w->s;
    if (w->completed || w->counted)
        return is_recorded_known(w, key, out);
    if (replay_memo_get(s->likely, key, replay_world_find, &s->world, &s->known))
        return say_estimate(w, out) == WL_OK;
    return s->settings.memo &&
           replay_memo_get(s->memo, key, replay_world_find, &s->world, &s->known) &&
           say_repeat(w, out) == WL_OK;
}

static void remember_outcome(const work *w, const replay_key *key, const replay_outcome *out)
{
    replay_session *s = w->s;
    replay_key with_recorded;
    if (out->kind != REPLAY_LAUNCH || asked_unknown_maps(w))
        return;
    bool recorded = w->completed || w->counted;
    if (recorded || s->settings.memo)
        replay_memo_put(recorded ? s->likely : s->memo, key, w->note->id, &out->launch.summary,
                        replay_world_find_object, &s->world);
    if (key_with_recorded(w, key, &with_recorded))
        replay_memo_put(s->memo, &with_recorded, w->note->id, &out->launch.summary,
                        replay_world_find_object, &s->world);
}

static bool make_launch_key(const work *w, replay_key *key, const char **unknown)
{
    replay_launch launch = key_parts(w);
    replay_world *world = &w->s->world;
    if (!replay_world_constants(world, w->note->module, w->kernel, &launch.constants, unknown))
        return false;
    replay_key_of(&launch, replay_world_find, world, key);
    return true;
}

static flow_launch flow_launch_of(const work *w)
{
    const cap_note *n = w->note;
    return (flow_launch){.params = w->params,
                         .nparams = n->nparams,
                         .grid = {n->grid[0], n->grid[1], n->grid[2]},
                         .block = {n->block[0], n->block[1], n->block[2]},
                         .clusters = n->cluster[0] > 1 || n->cluster[1] > 1 || n->cluster[2] > 1};
}

/* The kernel as this launch decides it, where that depends on less; its key. True: there is such a one. */
static bool narrow(work *w, replay_key *key)
{
    replay_world_kernel *k = w->kernel;
    const char *unknown;
    flow_launch launch = flow_launch_of(w);
    double started = wl_seconds();
    if (w->completed || !w->s->settings.memo ||
        replay_recorded_kernel(w->s->recorded, w->note->kernel))
        return false;
    wl_status status = replay_world_narrow(&w->s->world, w->note->module, &launch, &w->kernel);
    w->finding += wl_seconds() - started;
    if (status == WL_OK && w->kernel != k && make_launch_key(w, key, &unknown))
        return true;
    w->kernel = k;
    return false;
}

static wl_status work_out_within_limits(work *w, replay_outcome *out)
{
    const char *reason = nothing_to_show(w);
    reason = reason ? reason : beyond_limits(w->s);
    if (reason && w->counted)
        return say_counts_alone(w, out);
    return reason ? say_nothing_known(w, reason, out) : work_out(w, out);
}

static wl_status known_or_new(work *w, replay_outcome *out)
{
    const char *unknown;
    replay_key key, less;
    if (!make_launch_key(w, &key, &unknown)) {
        char text[600];
        snprintf(text, sizeof text, "it depends on the constant %s, whose content is not known",
                 unknown);
        return say_nothing_known(w, text, out);
    }
    if (is_outcome_known(w, &key, out))
        return WL_OK;
    bool narrowed = narrow(w, &less);
    if (narrowed && is_outcome_known(w, &less, out))
        return WL_OK;
    wl_status status = work_out_within_limits(w, out);
    if (status == WL_OK && narrowed)
        remember_outcome(w, &less, out);
    if (status == WL_OK)
        remember_outcome(w, &key, out);
    return status;
}

static emu_dim emu_dim_of(const uint32_t d[3])
{
    return (emu_dim){d[0], d[1], d[2]};
}

/* A kernel that carries probes is left as it is, where the launch's own parameters do not decide all
 * that is not proven: what its launches recorded goes by the kernel's own gaps. */
static wl_status decide_guards(work *w)
{
    const cap_note *n = w->note;
    replay_world_kernel *k = w->kernel;
    flow_launch launch = flow_launch_of(w);
    if (w->completed)
        return WL_OK;
    wl_status status = replay_world_decide(&w->s->world, n->module, &launch, &k);
    if (k->ngaps == 0 || k->code->machine || !replay_recorded_kernel(w->s->recorded, n->kernel))
        w->kernel = k;
    return status;
}

/* To read and prove a kernel is work, too: of machine code some 10 ms. */
static wl_status find_noted_kernel(work *w, wl_error *why)
{
    replay_session *s = w->s;
    const char *limit = beyond_limits(s);
    if (limit && !replay_world_has_kernel(&s->world, w->note->module, w->note->kernel))
        return wl_fail(why, WL_LIMIT, "%s", limit);
    double started = wl_seconds();
    wl_status status = replay_world_find_kernel(&s->world, w->note->module, w->note->kernel,
                                                &w->kernel, why);
    w->finding += wl_seconds() - started;
    return status;
}

static wl_status take_up_kernel(work *w, replay_outcome *out)
{
    const replay_shape shape = {w->grid, w->block, w->cluster, w->note->dynamic_shared};
    w->mapped = replay_shape_mapped(&w->kernel->shapes, &shape, &w->s->settings) || w->completed;
    const char *reason = not_replayable(w);
    if (reason && w->counted)
        return say_counts_alone(w, out);
    if (reason)
        return say_nothing_known(w, reason, out);
    wl_status status = decide_guards(w);
    return status == WL_OK ? known_or_new(w, out) : status;
}

static wl_status take_up_ptx(work *w, replay_outcome *out)
{
    wl_error why = {0};
    wl_status status = find_noted_kernel(w, &why);
    w->counted = replay_recorded_patched(w->s->recorded, w->note->id);
    if (status != WL_OK && status != WL_NOMEM && w->counted)
        return say_counts_alone(w, out);
    if (status != WL_OK)
        return status == WL_NOMEM ? status : say_nothing_known(w, why.text, out);
    w->completed = replay_recorded_has(w->s->recorded, w->note->id);
    return take_up_kernel(w, out);
}

/* ---- machine code beside PTX ---- */

/* What recorded did so by the kernel's PTX, and other launches are estimated by it. */
static const char *why_by_ptx(const work *w)
{
    const replay_session *s = w->s;
    if (w->note->flags & CAP_NOTE_PROBED || replay_recorded_kernel(s->recorded, w->note->kernel))
        return "launches of it recorded what depends on data, by its PTX";
    return replay_what_needs_ptx(s->settings.probes | replay_recorded_probes(s->recorded));
}

/* The part of the machine code that the launch runs becomes the work's kernel. WL_UNSUPPORTED where not all of its accesses
 * follow from the launch, with the reason. How often a basic block ran may not be known, as of the way of rare
 * operands in a division, which PTX has not. */
static wl_status prove_machine_code(work *w, replay_world_kernel *k, wl_error *why)
{
    flow_launch launch = flow_launch_of(w);
    wl_status status = replay_world_decide(&w->s->world, w->note->module, &launch, &k);
    if (status == WL_OK && k->ngaps)
        return wl_fail(why, WL_UNSUPPORTED, "not all that it accesses follows from its launch (%s)",
                       k->gaps[0].reason);
    w->kernel = k;
    return status;
}

/* WL_NOENT: the module has none beside its PTX, or there is no time to look. Else *base is what the launch's kernel is
 * by machine code, whatever comes of it. */
static wl_status find_machine_code(work *w, replay_world_kernel **base, wl_error *why)
{
    replay_session *s = w->s;
    *base = NULL;
    if (beyond_limits(s))
        return WL_NOENT;
    double started = wl_seconds();
    wl_status status = replay_world_find_machine(&s->world, w->note->module, w->note->kernel, base,
                                                 &w->machine, why);
    if (status == WL_OK && why_by_ptx(w))
        status = wl_fail(why, WL_UNSUPPORTED, "%s", why_by_ptx(w));
    if (status == WL_OK)
        status = prove_machine_code(w, *base, why);
    w->finding += wl_seconds() - started;
    return status;
}

/* As if nothing had been tried. */
static wl_status begin_anew(work *w, replay_outcome *out)
{
    replay_session *s = w->s;
    forget_last(s);
    s->arena = wl_arena_new();
    w->kernel = NULL;
    w->machine = 0;
    *out = (replay_outcome){0};
    return s->arena ? WL_OK : WL_NOMEM;
}

static void remark_ptx(work *w, replay_world_kernel *base, const char *why, replay_outcome *out)
{
    replay_session *s = w->s;
    if (!base || base->remarked)
        return;
    base->remarked = true;
    snprintf(s->remark, sizeof s->remark, "%s is counted by its PTX, not by its machine code: %s",
             w->note->kernel, why);
    out->remark = s->remark;
}

/* *done: the outcome is there. Else it is to be found by the PTX. */
static wl_status take_up_machine_code(work *w, replay_outcome *out, bool *done)
{
    replay_world_kernel *base = NULL;
    wl_error why = {0};
    wl_status status = find_machine_code(w, &base, &why);
    *done = false;
    if (status == WL_OK) {
        status = take_up_kernel(w, out);
        *done = status != WL_OK || out->kind != REPLAY_NOTHING || beyond_limits(w->s);
        if (*done)
            return status;
        wl_fail(&why, WL_UNSUPPORTED, "%s", out->way.reason);
    }
    if (status == WL_NOMEM || !w->machine)
        return status == WL_NOMEM ? status : WL_OK;
    status = begin_anew(w, out);
    remark_ptx(w, base, why.text, out);
    return status;
}

static wl_status take_up(work *w, replay_outcome *out)
{
    bool done = false;
    if (!w->s->world.machine)
        return say_nothing_known(w, "its device is not known", out);
    wl_status status = take_up_machine_code(w, out, &done);
    return status == WL_OK && !done ? take_up_ptx(w, out) : status;
}

wl_status replay_note(replay_session *s, const cap_note *note, replay_outcome *out, wl_error *err)
{
    forget_last(s);
    *out = (replay_outcome){0};
    s->arena = wl_arena_new();
    work w = {.s = s,
              .note = note,
              .grid = emu_dim_of(note->grid),
              .block = emu_dim_of(note->block),
              .cluster = emu_dim_of(note->cluster),
              .params = note->params};
    wl_status status = s->arena ? take_up(&w, out) : WL_NOMEM;
    replay_spend(s, w.finding);
    return status == WL_OK ? status
                           : wl_fail(err, status, "out of memory while computing accesses");
}

/* ---- trials ---- */

static bool is_first_of_shape(replay_world_kernel *k, const cap_launch *l)
{
    const replay_shape shape = {emu_dim_of(l->grid), emu_dim_of(l->block), emu_dim_of(l->cluster),
                                l->dynamic_shared};
    return replay_shape_is_new(&k->tried, &shape);
}

static replay_tried tried_of(replay_session *s, replay_world_kernel *k, const cap_launch *l)
{
    return (replay_tried){.facts = &k->facts,
                          .settings = &s->settings,
                          .run = {.machine = s->world.machine,
                                  .slice = k->slice,
                                  .launch = {.grid = emu_dim_of(l->grid),
                                             .block = emu_dim_of(l->block),
                                             .cluster = emu_dim_of(l->cluster),
                                             .dynamic_shared = l->dynamic_shared,
                                             .params = l->params,
                                             .threads = s->settings.threads},
                                  .go_on = s->go_on,
                                  .ctx = s->ctx},
                          .summary = &l->summary,
                          .multiprocessors = s->world.multiprocessors,
                          .find = replay_world_find_object,
                          .world = &s->world};
}

wl_status replay_trials(replay_session *s, const cap_launch *l, cap_trials *out, wl_error *err)
{
    replay_world_kernel *k = NULL;
    const char *unknown;
    uint64_t hash;
    wl_error ignored;
    *out = (cap_trials){
        .launch = l->id, .nshared = l->summary.nshared, .shared = l->summary.shared};
    if (!s->world.machine || l->error || !replay_is_worth_trying(&l->summary) || beyond_limits(s) ||
        (s->settings.budget.seconds > 0 && s->trials * OF_TRIALS >= s->settings.budget.seconds))
        return WL_OK;
    wl_status status = replay_world_find_kernel(&s->world, l->module, l->kernel, &k, &ignored);
    bool can = status == WL_OK && k->facts.whole && !k->code->machine &&
               l->nparams >= k->facts.param_bytes &&
               replay_world_constants(&s->world, l->module, k, &hash, &unknown);
    if (!can || !is_first_of_shape(k, l))
        return WL_OK;
    double started = wl_seconds();
    replay_tried tried = tried_of(s, k, l);
    wl_arena_free(s->tried);
    s->tried = wl_arena_new();
    status = s->tried ? replay_try(&tried, s->tried, &out->count, &out->trials) : WL_NOMEM;
    started = wl_seconds() - started;
    replay_spend(s, started);
    s->trials += started;
    return status == WL_OK ? WL_OK : wl_fail(err, status, "out of memory while computing accesses");
}
