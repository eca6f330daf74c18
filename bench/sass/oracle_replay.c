/* Replays the launches of the oracle (tools/oracle/README.md) as a user's are: each is told to a
 * session of its own, with its device, cubin, objects and note.
 *
 *   oracle.py launches SET HALF | bench_oracle_replay CUBINS [SECONDS] >REPLAY
 *
 * A launch that takes longer than SECONDS (60) is left out. What is claimed is what the session tells
 * of the launch as exact; what it does not tell is not claimed. */
#include "base/clock.h"
#include "base/vec.h"
#include "replay/session.h"
#include "support/file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SM_BYTES = 16, MODULE = 1 };

typedef struct oracle {
    const char *cubins;
    double seconds, end;
    wl_error err;
} oracle;

static bool go_on(void *ctx)
{
    return wl_seconds() < ((const oracle *)ctx)->end;
}

/* ---- what the session is told ---- */

static void see(replay_session *session, const cap_record *record, oracle *o)
{
    if (replay_see(session, record, &o->err) != WL_OK) {
        fprintf(stderr, "%s\n", o->err.text);
        exit(1);
    }
}

static void see_device(replay_session *session, oracle *o)
{
    see(session,
        &(cap_record){.type = CAP_DEVICE,
                      .device = {.cc_major = 9, .num_sms = 132, .global_bytes = UINT64_C(1) << 37}},
        o);
}

static bool see_cubin(replay_session *session, const json_t *launch, oracle *o)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.cubin", o->cubins,
             json_string_value(json_object_get(launch, "cubin")));
    char *bytes = file_read(path, &size);
    if (bytes)
        see(session,
            &(cap_record){.type = CAP_MODULE,
                          .module = {.id = MODULE,
                                     .kind = CAP_MODULE_CUBIN,
                                     .name = "cubin",
                                     .code = bytes,
                                     .length = size}},
            o);
    free(bytes);
    return bytes != NULL;
}

static void see_objects(replay_session *session, const json_t *launch, oracle *o)
{
    const json_t *list = json_object_get(launch, "objects"), *object;
    size_t i;
    json_array_foreach(list, i, object)
    {
        see(session,
            &(cap_record){
                .type = CAP_OBJECT,
                .object = {.id = (uint32_t)i + 1,
                           .kind = CAP_OBJECT_DEVICE,
                           .base = (uint64_t)json_integer_value(json_array_get(object, 0)),
                           .bytes = (uint64_t)json_integer_value(json_array_get(object, 1)),
                           .name = ""}},
            o);
    }
}

static uint32_t number_of(const json_t *launch, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(launch, key));
}

static void take_dims(const json_t *launch, const char *key, uint32_t to[3])
{
    for (size_t i = 0; i < 3; i++)
        to[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(launch, key), i));
}

static size_t take_bytes(const char *hex, char *to)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        to[i] = (char)byte;
    }
    return n;
}

static void take_numbers(const json_t *list, uint64_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint64_t)json_integer_value(json_array_get(list, i));
}

static void take_words(const json_t *list, uint32_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint32_t)json_integer_value(json_array_get(list, i));
}

static void see_tensors(replay_session *session, const json_t *launch, oracle *o)
{
    const json_t *list = json_object_get(launch, "tensors"), *tensor;
    size_t i;
    json_array_foreach(list, i, tensor)
    {
        cap_record record = {
            .type = CAP_TENSOR,
            .tensor = {
                .rank = number_of(tensor, "rank"),
                .element = number_of(tensor, "element"),
                .swizzle = number_of(tensor, "swizzle"),
                .interleave = number_of(tensor, "interleave"),
                .promotion = number_of(tensor, "promotion"),
                .nan = number_of(tensor, "nan"),
                .address = (uint64_t)json_integer_value(json_object_get(tensor, "address"))}};
        const char *map = json_string_value(json_object_get(tensor, "map"));
        if (!map || strlen(map) != 2 * sizeof record.tensor.map)
            continue;
        take_bytes(map, (char *)record.tensor.map);
        take_numbers(json_object_get(tensor, "dim"), record.tensor.dim, 5);
        take_numbers(json_object_get(tensor, "stride"), record.tensor.stride, 5);
        take_words(json_object_get(tensor, "box"), record.tensor.box, 5);
        take_words(json_object_get(tensor, "step"), record.tensor.step, 5);
        see(session, &record, o);
    }
}

static void make_note(const json_t *launch, char *params, cap_note *note)
{
    *note = (cap_note){.id = 1,
                       .module = MODULE,
                       .kernel = json_string_value(json_object_get(launch, "kernel")),
                       .dynamic_shared = number_of(launch, "dynamic_shared"),
                       .static_shared = number_of(launch, "static_shared"),
                       .local_bytes = number_of(launch, "local_bytes"),
                       .registers = number_of(launch, "registers"),
                       .flags = number_of(launch, "flags"),
                       .params = params};
    take_dims(launch, "grid", note->grid);
    take_dims(launch, "block", note->block);
    take_dims(launch, "cluster", note->cluster);
    note->nparams = take_bytes(json_string_value(json_object_get(launch, "params")), params);
}

/* ---- what is claimed ---- */

static void add_claim(json_t *claims, uint32_t pc, const char *counter, uint64_t value)
{
    char key[16];
    snprintf(key, sizeof key, "%u", pc * SM_BYTES);
    json_t *claim = json_object_get(claims, key);
    if (!claim) {
        claim = json_object();
        json_object_set_new(claims, key, claim);
    }
    json_int_t before = json_integer_value(json_object_get(claim, counter));
    json_object_set_new(claim, counter, json_integer(before + (json_int_t)value));
}

static void claim_blocks(json_t *claims, const obs_summary *s)
{
    for (uint32_t i = 0; i < s->nblocks; i++)
        for (uint32_t k = 0; k < s->blocks[i].ninsns; k++) {
            add_claim(claims, s->blocks[i].first_pc + k, "executions", s->blocks[i].executions);
            add_claim(claims, s->blocks[i].first_pc + k, "threads", s->blocks[i].lanes);
        }
}

static bool is_gap(const cap_way *way, uint32_t pc)
{
    for (uint32_t i = 0; i < way->count; i++)
        if (way->gaps[i].pc == pc)
            return true;
    return false;
}

/* What textures and bulk copies move is not in the oracle. Asynchronous copies write to shared memory in
 * more passes than banks ask for, by the lines that they come from, which nobody counts here. */
static void claim_row(json_t *claims, const obs_insn *row)
{
    bool copied = row->flags & ACC_ASYNC && row->space == ACC_SHARED;
    if (row->flags & (ACC_TEXTURE | ACC_BULK) || copied)
        return;
    switch (row->space) {
    case ACC_GLOBAL: add_claim(claims, row->pc, "sectors", row->sectors); break;
    case ACC_LOCAL: add_claim(claims, row->pc, "sectors_local", row->sectors); break;
    case ACC_SHARED: add_claim(claims, row->pc, "wavefronts", row->wavefronts); break;
    default: break;
    }
}

static void write_claims(const replay_outcome *out, json_t *line)
{
    json_t *claims = json_object();
    json_object_set_new(line, "claims", claims);
    if (out->kind != REPLAY_LAUNCH || out->way.estimated)
        return;
    const obs_summary *s = &out->launch.summary;
    claim_blocks(claims, s);
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (!is_gap(&out->way, s->insns[i].pc))
            claim_row(claims, &s->insns[i]);
}

static void write_gaps(const cap_way *way, json_t *line)
{
    json_t *gaps = json_object();
    for (uint32_t i = 0; i < way->count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", way->gaps[i].pc * SM_BYTES);
        json_object_set_new(gaps, key, json_string(way->gaps[i].reason));
    }
    json_object_set_new(line, "gaps", gaps);
    json_object_set_new(line, "reason", json_string(way->reason ? way->reason : ""));
}

/* ---- launches ---- */

static void replay_launch_of(const json_t *launch, oracle *o)
{
    static char params[1 << 16];
    replay_settings settings = {.memo = true};
    replay_session *session;
    replay_outcome out;
    cap_note note;
    json_t *line = json_pack("{s:O}", "launch", json_object_get(launch, "id"));
    if (replay_session_new(&settings, go_on, o, &session, &o->err) != WL_OK)
        exit(1);
    see_device(session, o);
    if (see_cubin(session, launch, o)) {
        see_objects(session, launch, o);
        see_tensors(session, launch, o);
        make_note(launch, params, &note);
        o->end = wl_seconds() + o->seconds;
        if (replay_note(session, &note, &out, &o->err) == WL_OK) {
            write_claims(&out, line);
            write_gaps(&out.way, line);
        }
    } else {
        json_object_set_new(line, "reason", json_string("the cubin is not there"));
    }
    json_dumpf(line, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    puts("");
    fflush(stdout);
    json_decref(line);
    replay_session_free(session);
}

int main(int argc, char **argv)
{
    oracle o = {.cubins = argc > 1 ? argv[1] : ".", .seconds = argc > 2 ? atof(argv[2]) : 60};
    char *text = NULL;
    size_t size = 0;
    while (getline(&text, &size, stdin) > 0) {
        json_t *launch = json_loads(text, 0, NULL);
        if (launch && json_object_get(launch, "id"))
            replay_launch_of(launch, &o);
        json_decref(launch);
    }
    free(text);
    return 0;
}
