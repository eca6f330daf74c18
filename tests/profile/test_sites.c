/* Allocations get the name of the variable that holds them and the line that made them: from DWARF
 * where there is some, from the order of calls in the source text where there is none. */
#include "story.h"
#include "support/test.h"

#include "profile/keeper.h"
#include "profile/statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = WL_SOURCE_DIR "/tests/profile/site_probe.c";
static wl_error err;

/* ---- the statement's text ---- */

static const char *variable_of(wl_arena *arena, const char *text, const char *api, uint32_t line,
                               uint32_t column)
{
    kept_call call = {.line = line, .column = column};
    keeper found;
    const code_text *code = code_text_of(text, arena);
    assert_non_null(code);
    assert_true(keeper_of_api(code, api, &call, arena, &found));
    return found.name;
}

static void variables_of_statements(void **state)
{
    (void)state;
    static const struct {
        const char *text, *api;
        uint32_t column;
        const char *want;
    } cases[] = {
        {"    CHECK(cudaMalloc((void **)&d_A, n));\n", "cudaMalloc", 0, "d_A"},
        {"cudaMalloc(&d_A, n); cudaMalloc(&d_B, n);", "cudaMalloc", 32, "d_B"},
        {"cudaMalloc(&d_A, n); cudaMalloc(&d_B, n);", "cudaMalloc", 11, "d_A"},
        {"cudaMalloc(&d_A, n); cudaMalloc(&d_B, n);", "cudaMalloc", 0, ""}, /* which is not known */
        {"float *x = make_buffer(n);", "cudaMalloc", 0, "x"},
        {"auto x = make_buffer<float>(n);", "cudaMalloc", 0, "x"},
        {"x = make_buffer(n);", "cudaMalloc", 0, "x"},
        {"x = compute(n);", "cudaMalloc", 0, ""}, /* a name that says nothing of memory */
        {"thrust::device_vector<float> y(n);", "cudaMalloc", 0, "y"},
        {"device_vector<float>y(n);", "cudaMalloc", 0, "y"},
        {"buf.resize(n);", "cudaMalloc", 0, "buf"},
        {"this->buf->resize(n);", "cudaMalloc", 0, "buf"},
        {"ALLOC(d_A, n);", "cudaMalloc", 0, "d_A"},
        {"status = dev_alloc(&d_A, n);", "cudaMalloc", 0, "d_A"},
        {"cuMemAlloc(&ptr[i], n * sizeof(float));", "cuMemAlloc_v2", 0, "ptr[i]"},
        {"cudaMalloc(reinterpret_cast<void **>(&s->data), n)", "cudaMalloc", 0, "s->data"},
        {"  cudaMallocManaged<float>(&m, n);", "cudaMallocManaged", 0, "m"},
        {"  run_test(1);", "cudaMalloc", 0, ""},
        {"  return alloc(n);", "cudaMalloc", 0, ""},
        {"  cudaMalloc(\n   (void**)&q,\n  n);", "cudaMalloc", 3, "q"},
        {"  s.a[i] = alloc(n);", "cudaMalloc", 0, "s.a[i]"},
        {"  cudaMallocHost((void**)&h_in, bytes); // &foo", "cudaMallocHost", 0, "h_in"},
        {"  cudaHostRegister(host, bytes, 0);", "cudaHostRegister", 0, "host"},
        {"  cudaHostRegister(host, bytes, 0);", "cuMemHostRegister_v2", 0, "host"},
        {"  cudaMalloc(&a, n); cudaHostAlloc(&b, n, 0);", "cuMemHostAlloc", 0, "b"},
        {"  cuMemHostRegister(host, n, 0); cudaHostRegister(other, n, 0);", "cuMemHostRegister", 0,
         "host"},
        {"} while (0)", "cudaMalloc", 0, ""},
        {"    if (cudaMalloc(&x, 4) != cudaSuccess) return 1;", "cudaMalloc", 0, "x"},
        {"", "cudaMalloc", 0, ""},
        {"((((((", "cudaMalloc", 0, ""},
        {"cudaMalloc(", "cudaMalloc", 0, ""},
    };
    wl_arena *arena = wl_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = variable_of(arena, cases[i].text, cases[i].api, 1, cases[i].column);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].text, got, cases[i].want);
    }
    wl_arena_free(arena);
}

/* Whatever stands in a source file: no more than its bytes are read (run it with a sanitizer), and
 * names stay short. */
static void any_text(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "cudaMalloc", "(",  ")", "&",  "*",   "=",    "<", ">",  ",",
        ";",          "{",  "}", "x",  "a.b", "->",   " ", "\n", "\"",
        "'",          "\\", "#", "//", "/*",  "main", "[", "]",  "reinterpret_cast<"};
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[160] = "";
        wl_arena *arena = wl_arena_new();
        for (int k = 0; k < 12; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            strcat(text, parts[(seed >> 33) % (sizeof parts / sizeof *parts)]);
        }
        char *copy = strdup(text); /* so that a sanitizer sees its end */
        const char *name = variable_of(arena, copy, "cudaMalloc", 1, (uint32_t)(i % 20));
        assert_true(strlen(name) <= 64);
        statement_place places[4];
        statement_calls(copy, "main", "cudaMalloc", places, 4);
        statement_only_calls(copy, "cudaMalloc", places, 4);
        free(copy);
        wl_arena_free(arena);
    }
}

static void calls_in_functions(void **state)
{
    (void)state;
    static const char text[] =
        "#define C(x) \\\n cudaMalloc(&z)\nint main(int a);\n// main() { \nint main(void)\n{\n"
        " cudaMalloc(&a);\n /* cudaMalloc() */\n C(cudaMalloc(&b));\"cudaMalloc()\";\n}\n"
        "void g(){cudaMalloc(&c);}\n";
    statement_place lines[8];
    assert_int_equal(statement_calls(text, "main", "cudaMalloc", lines, 8), 2);
    assert_int_equal(lines[0].line, 7);
    assert_int_equal(lines[0].column, 2);
    assert_int_equal(lines[1].line, 9);
    assert_int_equal(statement_calls(text, "g", "cudaMalloc", lines, 8), 1);
    assert_int_equal(lines[0].line, 11);
    assert_int_equal(statement_calls(text, "h", "cudaMalloc", lines, 8), 0);
    assert_int_equal(statement_calls(text, "main", "cudaFree", lines, 8), 0);
    assert_int_equal(statement_only_calls(text, "cudaMalloc", lines, 8),
                     0); /* two functions have them */
    static const char one[] =
        "namespace x {\nint f(void) { return 1; }\nint run(int n)\n{\n    if (n) {\n"
        "cudaMalloc(&a);\n}\nfor (;;) { cudaMalloc(&b); }\n}\n}\n";
    assert_int_equal(statement_only_calls(one, "cudaMalloc", lines, 8), 2);
    assert_int_equal(lines[0].line, 6);
    assert_int_equal(lines[1].line, 8);
}

/* ---- the probe ---- */

static uint32_t line_of(const char *text)
{
    char line[4096];
    uint32_t n = 0, found = 0;
    FILE *file = fopen(source, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        n++;
        found = strstr(line, text) ? n : found;
    }
    fclose(file);
    assert_true(found > 0);
    return found;
}

typedef struct probe {
    uint32_t ncalls, nmaps;
    cap_call calls[16];
    uint64_t pcs[16][CAP_MAX_STACK];
    cap_map maps[64];
} probe;

static void read_call(probe *p, char *line)
{
    cap_call *c = &p->calls[p->ncalls];
    char *at = line + strlen("call ");
    *c = story_call(p->ncalls + 1, "cuMemAlloc_v2", CAP_CALL_ALLOC).call;
    c->bytes = strtoull(at, &at, 10);
    c->stack.pcs = p->pcs[p->ncalls++];
    while (*at == ' ')
        c->stack.pcs[c->stack.count++] = strtoull(at, &at, 16);
}

static void read_map(probe *p, char *line, wl_arena *arena)
{
    cap_map *m = &p->maps[p->nmaps++];
    char *at = line + strlen("map ");
    m->start = strtoull(at, &at, 16);
    m->end = strtoull(at + 1, &at, 16);
    m->offset = strtoull(strstr(at, "r-xp ") + 5, NULL, 16);
    line[strcspn(line, "\n")] = '\0';
    m->path = wl_arena_strdup(arena, strchr(line, '/'));
    m->build_id = "";
}

static void run_probe(const char *program, probe *p, wl_arena *arena)
{
    char line[4096];
    FILE *pipe = popen(program, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe))
        if (strncmp(line, "call ", 5) == 0)
            read_call(p, line);
        else if (strncmp(line, "map ", 4) == 0)
            read_map(p, line, arena);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(p->ncalls, 10);
}

/* A module whose lines are in the probe's source: so it becomes a source of the profile. */
static char *ptx_of_probe(wl_arena *arena)
{
    return wl_arena_printf(arena,
                           ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                           "k()\n{\n.loc 1 1 1\nret;\n}\n"
                           ".file 1 \"%s\"\n",
                           source);
}

static void add(prof_builder *builder, cap_record r)
{
    story_expect(prof_add(builder, &r, &err), &err);
}

static prof_caller_rows callers; /* of the profile that load_objects() read */
static uint32_t stacks[16];      /* of its objects' calls */

static void load_objects(const char *program, wl_arena *arena, prof_object_rows *objects)
{
    static probe p;
    p = (probe){0};
    run_probe(program, &p, arena);
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("sites.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process(program));
    add(builder, (cap_record){.type = CAP_MAPS, .maps = {p.nmaps, p.maps}});
    char *ptx = ptx_of_probe(arena);
    add(builder,
        (cap_record){.type = CAP_MODULE,
                     .module = {.id = 1, .name = program, .code = ptx, .length = strlen(ptx)}});
    for (uint32_t i = 0; i < p.ncalls; i++) {
        add(builder, (cap_record){.type = CAP_CALL, .call = p.calls[i]});
        add(builder, story_object(i + 1, i + 1, 0x10000 * (i + 1), p.calls[i].bytes));
    }
    cap_record launch = {.type = CAP_LAUNCH};
    launch.launch = (cap_launch){.id = 1, .module = 1, .kernel = "k", .fault = ""};
    add(builder, launch);
    add(builder, story_end());
    story_expect(prof_finish(builder, &err), &err);
    prof_db *db;
    story_expect(prof_open(story_path("sites.wlprof"), &db, &err), &err);
    story_expect(prof_load_objects(db, arena, objects, &err), &err);
    story_expect(prof_load_callers(db, arena, &callers, &err), &err);
    for (uint32_t i = 0; i < objects->count; i++) {
        prof_call call;
        story_expect(prof_load_call(db, objects->rows[i].alloc_call, arena, &call, &err), &err);
        stacks[i] = call.stack;
    }
    prof_close(db);
    unlink(story_path("sites.wlprof"));
}

static void expect_name(const prof_object *o, const char *variable, const char *text,
                        const char *number)
{
    char want[256];
    uint32_t line = line_of(text);
    snprintf(want, sizeof want, "%s%s (site_probe.c:%u)", variable, number, line);
    assert_string_equal(o->name, want);
    assert_string_equal(o->variable, variable);
    assert_int_equal(o->line, line);
}

/* The caller of a stack that makes its call at this text; 0: none is told. */
static uint32_t caller_of(uint32_t stack)
{
    for (uint32_t i = 0; i < callers.count; i++)
        if (callers.rows[i].stack == stack)
            return callers.rows[i].line;
    return 0;
}

/* What the helper keeps has no name of its callers', but these tell it apart. Calls are told by them
 * in any case, also where the callers keep what was made. */
static void check_callers(const prof_object_rows *objects)
{
    const prof_object *one = &objects->rows[8], *two = &objects->rows[9];
    uint32_t first = line_of("keep_one(16)"), second = line_of("keep_one(32)");
    assert_int_equal(one->line, line_of("&kept["));
    assert_true(one->caller_line == first && two->caller_line == second);
    assert_int_equal(one->caller_file, one->file);
    char want[256];
    snprintf(want, sizeof want, "kept[nkept++] (site_probe.c:%u, called at site_probe.c:%u)",
             one->line, first);
    assert_string_equal(one->name, want);
    assert_int_equal(caller_of(stacks[8]), first);
    assert_int_equal(caller_of(stacks[9]), second);
    assert_int_equal(caller_of(stacks[5]), line_of("left = "));
    assert_int_equal(caller_of(stacks[0]), 0);
}

static void names_from_dwarf(void **state)
{
    wl_arena *arena = wl_arena_new();
    prof_object_rows objects;
    load_objects(*state, arena, &objects);
    assert_int_equal(objects.count, 10);
    expect_name(&objects.rows[0], "d_A", "&d_A", "");
    assert_string_equal(objects.rows[0].function, "main");
    expect_name(&objects.rows[1], "d_B", "&d_B", "");
    expect_name(&objects.rows[2], "parts[i]", "&parts[i]", " #1, 8 bytes");
    expect_name(&objects.rows[3], "parts[i]", "&parts[i]", " #2, 8 bytes");
    expect_name(&objects.rows[4], "parts[i]", "&parts[i]", " #3, 8 bytes");
    /* Made by a helper for two callers: theirs are the names. */
    expect_name(&objects.rows[5], "left", "left = ", "");
    expect_name(&objects.rows[6], "right", "right = ", "");
    /* Made by a helper for one caller, and that one inlined. */
    expect_name(&objects.rows[7], "single", "&single", "");
    assert_string_equal(objects.rows[7].function, "main");
    assert_int_equal(objects.rows[7].caller_line, 0);
    check_callers(&objects);
    wl_arena_free(arena);
}

/* From a folder that the sources are not near to. */
static void names_from_relative_dwarf(void **state)
{
    (void)state;
    char folder[] = P_tmpdir "/warplens-sites-XXXXXX", command[8192], moved[256];
    assert_non_null(mkdtemp(folder));
    snprintf(moved, sizeof moved, "%s/site_probe", folder);
    snprintf(command, sizeof command, "cp '%s' '%s'", SITE_PROBE_RELATIVE, moved);
    assert_int_equal(system(command), 0);
    void *program = moved;
    names_from_dwarf(&program);
    unlink(moved);
    rmdir(folder);
}

static void names_from_the_order_of_calls(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_object_rows objects;
    load_objects(SITE_PROBE_PLAIN, arena, &objects);
    assert_int_equal(objects.count, 10);
    expect_name(&objects.rows[0], "d_A", "&d_A", "");
    expect_name(&objects.rows[1], "d_B", "&d_B", "");
    expect_name(&objects.rows[4], "parts[i]", "&parts[i]", " #3, 8 bytes");
    expect_name(&objects.rows[5], "p", "cudaMalloc(&p,", " #1, 64 bytes");
    expect_name(&objects.rows[6], "p", "cudaMalloc(&p,", " #2, 128 bytes");
    expect_name(&objects.rows[7], "q", "cudaMalloc(q", "");
    wl_arena_free(arena);
}

int main(void)
{
    static char absolute[] = SITE_PROBE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_statements),
        cmocka_unit_test(any_text),
        cmocka_unit_test(calls_in_functions),
        cmocka_unit_test_prestate(names_from_dwarf, absolute),
        cmocka_unit_test(names_from_relative_dwarf),
        cmocka_unit_test(names_from_the_order_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
