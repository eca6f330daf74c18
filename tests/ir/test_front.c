/* The seam for a second front end: code that was never PTX is proven, sliced, replayed, summed up
 * and shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tiny.h"

#include "flow/flow.h"
#include "replay/session.h"
#include "report/impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* out[i] = in[i] for i = block * size + tid */
static const char copy[] = "tiny copy in out\n"
                           /*  0 */ "tid t\n"
                           /*  1 */ "block b\n"
                           /*  2 */ "size n\n"
                           /*  3 */ "times m b n\n"
                           /*  4 */ "plus i m t\n"
                           /*  5 */ "words o i\n"
                           /*  6 */ "arg p in\n"
                           /*  7 */ "at q p o\n"
                           /*  8 */ "get v q\n"
                           /*  9 */ "arg r out\n"
                           /* 10 */ "at s r o\n"
                           /* 11 */ "put s v\n"
                           /* 12 */ "end\n";

enum { INSNS = 13, GET = 8, PUT = 11, IN = 1, OUT, MODULE = 1, BYTES = 512 };

static const uint64_t base_in = 0x7f0000000000, base_out = 0x7f0000010000;
static wl_error err;

static cap_record module_record(void)
{
    return (cap_record){
        .type = CAP_MODULE,
        .module = {.id = MODULE, .name = "m", .code = copy, .length = sizeof copy - 1}};
}

static cap_record object_record(uint32_t id, uint64_t base)
{
    return (cap_record){
        .type = CAP_OBJECT,
        .object = {.id = id, .kind = CAP_OBJECT_DEVICE, .base = base, .bytes = BYTES, .name = ""}};
}

static void flow_proves(void **state)
{
    (void)state;
    ir_module *m;
    wl_arena *arena = wl_arena_new();
    ir_kernel code;
    flow_proof proof;
    assert_int_equal(ir_read(&tiny_front, copy, sizeof copy - 1, "m", &m, &err), WL_OK);
    const ir_func *func = ir_module_kernel(m, "copy");
    assert_non_null(func);
    assert_int_equal(ir_kernel_of(m, func, arena, &code), WL_OK);
    assert_int_equal(code.count, 1);
    assert_int_equal(code.npcs, INSNS);
    assert_ptr_equal(ir_kernel_at(&code, PUT).insn, &func->insns[PUT]);
    assert_int_equal(flow_prove(&code, arena, &proof), WL_OK);
    assert_int_equal(proof.class_, FLOW_INDEPENDENT);
    assert_int_equal(proof.memory, 2);
    assert_int_equal(proof.proven, 2);
    assert_true(proof.flags[GET] & FLOW_PC_PROVEN);
    assert_false(proof.flags[GET] & FLOW_PC_SLICE); /* what it loads feeds no address */
    wl_arena_free(arena);
    ir_module_free(m);
}

/* ---- replay ---- */

static replay_session *begin(void)
{
    replay_session *session;
    replay_settings settings = {.threads = 1, .blocks = {.automatic = true}, .memo = true};
    const cap_record records[] = {
        {.type = CAP_DEVICE, .device = {.cc_major = 9, .num_sms = 132, .global_bytes = 1 << 30}},
        module_record(),
        object_record(IN, base_in),
        object_record(OUT, base_out)};
    assert_int_equal(replay_session_new(&settings, NULL, NULL, &session, &err), WL_OK);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(replay_see(session, &records[i], &err), WL_OK);
    return session;
}

static const obs_insn *row_at(const obs_summary *s, uint32_t pc)
{
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].pc == pc)
            return &s->insns[i];
    fail_msg("no access at %u", pc);
    return NULL;
}

/* Two blocks of 64 threads: four warps, each with one request of four whole sectors a side. */
static void replay(replay_session *session, replay_outcome *out)
{
    const uint64_t params[] = {base_in, base_out};
    cap_note note = {.id = 1,
                     .module = MODULE,
                     .kernel = "copy",
                     .grid = {2, 1, 1},
                     .block = {64, 1, 1},
                     .cluster = {1, 1, 1},
                     .params = (const void *)params,
                     .nparams = sizeof params};
    assert_int_equal(replay_note(session, &note, out, &err), WL_OK);
    if (out->kind != REPLAY_LAUNCH)
        fail_msg("%s", out->way.reason);
}

static void summary_is_as_counted(void **state)
{
    (void)state;
    replay_outcome out;
    replay_session *session = begin();
    replay(session, &out);
    const obs_summary *s = &out.launch.summary;
    const obs_insn *get = row_at(s, GET), *put = row_at(s, PUT);
    assert_int_equal(s->ninsns, 2);
    assert_int_equal(get->op, ACC_LOAD);
    assert_int_equal(get->object, IN);
    assert_int_equal(put->op, ACC_STORE);
    assert_int_equal(put->object, OUT);
    const obs_insn *both[] = {get, put};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i]->requests, 4);
        assert_int_equal(both[i]->active_lanes, 128);
        assert_int_equal(both[i]->sectors, 16);
        assert_int_equal(both[i]->sectors_min, 16);
    }
    assert_int_equal(s->blocks_run, 2);
    replay_session_free(session);
}

/* ---- profile ---- */

static void build(prof_builder *builder, const cap_launch *launch)
{
    const cap_record records[] = {{.type = CAP_PROCESS,
                                   .process = {.pid = 1,
                                               .executable = "/app",
                                               .directory = "/",
                                               .host = "",
                                               .collector = "inline",
                                               .version = "",
                                               .options = ""}},
                                  module_record(),
                                  object_record(IN, base_in),
                                  object_record(OUT, base_out),
                                  {.type = CAP_LAUNCH, .launch = *launch},
                                  {.type = CAP_END}};
    assert_int_equal(prof_begin_process(builder, &err), WL_OK);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (prof_add(builder, &records[i], &err) != WL_OK)
            fail_msg("record %zu: %s", i, err.text);
    assert_int_equal(prof_end_process(builder, NULL, &err), WL_OK);
    assert_int_equal(prof_finish(builder, &err), WL_OK);
}

/* A launch of the kernel, replayed and imported. */
typedef struct shown {
    wl_arena *arena;
    prof_db *db;
} shown;

static const char path[] = "tiny.wlprof";

static void begin_shown(shown *s)
{
    prof_options options = {.force = true};
    prof_builder *builder;
    replay_outcome out;
    replay_session *session = begin();
    replay(session, &out);
    assert_int_equal(prof_create(path, &options, &builder, &err), WL_OK);
    build(builder, &out.launch);
    assert_int_equal(prof_open(path, &s->db, &err), WL_OK);
    s->arena = wl_arena_new();
    replay_session_free(session);
}

static void end_shown(shown *s)
{
    prof_close(s->db);
    wl_arena_free(s->arena);
    unlink(path);
}

static void profile_shows_its_text(void **state)
{
    (void)state;
    shown s;
    prof_code_rows code;
    begin_shown(&s);
    assert_int_equal(prof_load_code(s.db, 1, s.arena, &code, &err), WL_OK);
    assert_int_equal(code.count, INSNS);
    assert_string_equal(code.rows[GET].text, "get v q");
    assert_string_equal(code.rows[6].text, "arg p in");
    assert_string_equal(code.rows[2].text, "size n");
    assert_string_equal(code.rows[PUT].op, "st.global.u32");
    end_shown(&s);
}

/* ---- report ---- */

static void load_report(const shown *s, rep_data *data)
{
    static ana_findings findings;
    ana_thresholds thresholds = ana_thresholds_default();
    unsigned parts = REP_PART_LAUNCH_ROWS | REP_PART_HEATS | REP_PART_SOURCES;
    assert_int_equal(ana_find(s->db, &thresholds, s->arena, &findings, &err), WL_OK);
    assert_int_equal(rep_load(s->db, &findings, parts, s->arena, data, &err), WL_OK);
}

typedef enum drawing { AS_TEXT, AS_JSON, AS_CSV } drawing;

/* To be freed. */
static char *drawn(const rep_data *data, drawing how)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    wl_status status = how == AS_TEXT   ? rep_text(data, NULL, out, &err)
                       : how == AS_JSON ? rep_json(data, out, &err)
                                        : rep_csv(data, REP_TABLE_INSTRUCTIONS, out, &err);
    assert_int_equal(status, WL_OK);
    fclose(out);
    return text;
}

static void assert_drawn(const rep_data *data, drawing how, const char *want)
{
    char *text = drawn(data, how);
    if (!strstr(text, want))
        fail_msg("no '%s' in: %s", want, text);
    free(text);
}

static bool part_holds(const rep_part *part, const char *want)
{
    static uint8_t bytes[1 << 20];
    z_stream z = {.next_in = part->data,
                  .avail_in = (uInt)part->size,
                  .next_out = bytes,
                  .avail_out = sizeof bytes};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    return memmem(bytes, z.total_out, want, strlen(want)) != NULL;
}

static void assert_on_page(const rep_parts *parts, const char *want)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (part_holds(&parts->rows[i], want))
            return;
    fail_msg("no '%s' in the page's data", want);
}

static void reports_show_its_text(void **state)
{
    (void)state;
    shown s;
    rep_data data;
    rep_parts parts;
    begin_shown(&s);
    load_report(&s, &data);
    assert_drawn(&data, AS_TEXT, "copy");
    assert_drawn(&data, AS_JSON, "\"kernel\":\"copy\",\"pc\":8,");
    assert_drawn(&data, AS_CSV, "get v q");
    assert_drawn(&data, AS_CSV, "put s v");
    assert_int_equal(rep_payload_parts(&data, 1, &parts, &err), WL_OK);
    assert_on_page(&parts, "\"text\":\"get v q\"");
    assert_on_page(&parts, "\"text\":\"times m b n\"");
    rep_free_parts(&parts);
    end_shown(&s);
}

static int set_up(void **state)
{
    (void)state;
    return ir_add_front(&tiny_front) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow_proves), cmocka_unit_test(summary_is_as_counted),
        cmocka_unit_test(profile_shows_its_text), cmocka_unit_test(reports_show_its_text)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
