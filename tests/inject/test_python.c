/* Python's frames where the interpreter is not what we know: nothing is followed, and nothing crashes.
 * The program itself has the interpreter's functions, over memory that each case lays out. What real
 * interpreters give is tested end to end (tests/torch). */
#include "capture/capture.h"
#include "inject/python.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- an interpreter's face ---- */

#define SHOWN __attribute__((visibility("default")))

enum { CODE_BYTES = 192, FILE_AT = 112, NAME_AT = 120, QUALNAME_AT = 128, LINE_AT = 68 };

static const char *version;
static bool ends;
static char *thread_state;

static const struct member {
    const char *name;
    int type;
    long offset;
    int flags;
    const char *doc;
} members[] = {{"co_firstlineno", 0, LINE_AT, 0, NULL},
               {"co_filename", 0, FILE_AT, 0, NULL},
               {"co_name", 0, NAME_AT, 0, NULL},
               {"co_qualname", 0, QUALNAME_AT, 0, NULL},
               {NULL, 0, 0, 0, NULL}};

SHOWN uint64_t PyCode_Type[64] = {[32 / 8] = CODE_BYTES};
SHOWN const char *Py_GetVersion(void);
SHOWN void *PyGILState_GetThisThreadState(void);
SHOWN int PyCode_Addr2Line(void *code, int offset);
SHOWN long PyUnicode_GetLength(void *text);
SHOWN uint32_t PyUnicode_ReadChar(void *text, long index);
SHOWN int Py_IsFinalizing(void);

const char *Py_GetVersion(void)
{
    return version;
}

void *PyGILState_GetThisThreadState(void)
{
    return thread_state;
}

int PyCode_Addr2Line(void *code, int offset)
{
    return *(int *)((char *)code + LINE_AT) + offset;
}

/* A text is an array of characters that ends with 0. */
long PyUnicode_GetLength(void *text)
{
    long n = 0;
    while (((uint32_t *)text)[n])
        n++;
    return n;
}

uint32_t PyUnicode_ReadChar(void *text, long index)
{
    return ((uint32_t *)text)[index];
}

int Py_IsFinalizing(void)
{
    return ends;
}

/* ---- frames of 3.12 ---- */

static uint64_t state[16], way[1], frames[3][16];
static uint64_t codes[2][CODE_BYTES / 8 + 8];
static uint32_t file_text[] = {'/', 0xe9, 0x20ac, 0x1f600, 0}, outer[] = {'m', 0},
                inner[] = {'N', '.', 'f', 0};

static void set_code(uint64_t *code, uint32_t *name, int line)
{
    code[8 / 8] = (uint64_t)PyCode_Type;
    code[FILE_AT / 8] = (uint64_t)file_text;
    code[QUALNAME_AT / 8] = (uint64_t)name;
    memcpy((char *)code + LINE_AT, &line, sizeof line);
}

static void set_frame(uint64_t *frame, const uint64_t *code, const uint64_t *previous, int at)
{
    frame[0] = (uint64_t)code;
    frame[1] = (uint64_t)previous;
    frame[56 / 8] = (uint64_t)code + CODE_BYTES + (uint64_t)at;
}

/* The innermost is in line 24, called from C, from line 12. */
static void lay_out(void)
{
    PyCode_Type[240 / 8] = (uint64_t)members;
    version = "3.12.3 (main, Aug 31 2026)";
    thread_state = (char *)state;
    state[56 / 8] = (uint64_t)way;
    way[0] = (uint64_t)frames[0];
    set_code(codes[0], inner, 20);
    set_code(codes[1], outer, 10);
    set_frame(frames[0], codes[0], frames[1], 4);
    set_frame(frames[1], codes[0], frames[2], 0);
    ((char *)frames[1])[70] = 3;
    set_frame(frames[2], codes[1], NULL, 2);
}

/* ---- cases, each in a process of its own ---- */

enum { GIVEN = 2, LIMIT = 8 };

static uint32_t walk(uint64_t *pcs)
{
    pcs[0] = 1000;
    pcs[1] = 2000;
    return inj_python_frames(pcs, GIVEN, LIMIT);
}

static void expect_none(void)
{
    uint64_t pcs[LIMIT];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(walk(pcs), GIVEN);
        assert_true(pcs[0] == 1000 && pcs[1] == 2000);
    }
    inj_place place;
    assert_false(inj_python_place(0, &place));
}

static void frames_are_read(void)
{
    uint64_t pcs[LIMIT];
    inj_place place;
    for (int i = 0; i < 2; i++) { /* the second time they are known */
        assert_int_equal(walk(pcs), GIVEN + 2);
        assert_true(pcs[0] == 1000 && pcs[1] == 2000);
        assert_true(pcs[2] == CAP_FIRST_PLACE + 1 && pcs[3] == CAP_FIRST_PLACE + 2);
    }
    assert_true(inj_python_place(0, &place));
    assert_int_equal(place.line, 24);
    assert_string_equal(place.file, "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(place.function, "N.f");
    assert_true(inj_python_place(1, &place));
    assert_int_equal(place.line, 12);
    assert_string_equal(place.function, "m");
    assert_false(inj_python_place(2, &place));
}

static void other_code_at_the_address(void)
{
    uint64_t pcs[LIMIT];
    inj_place place;
    frames_are_read();
    codes[0][QUALNAME_AT / 8] = (uint64_t)outer;
    assert_int_equal(walk(pcs), GIVEN + 2);
    assert_true(pcs[2] == CAP_FIRST_PLACE + 3);
    assert_true(inj_python_place(2, &place));
    assert_string_equal(place.function, "m");
}

static void few_fit(void)
{
    uint64_t pcs[4] = {1000, 2000, 3000, 4000};
    assert_int_equal(inj_python_frames(pcs, 4, 4), 4);
    assert_true(pcs[0] == 1000 && pcs[1] == 2000 && pcs[2] == CAP_FIRST_PLACE + 1);
}

static void another_version(void)
{
    version = "3.99.0";
    expect_none();
}

static void without_the_lock(void)
{
    version = "3.12.3 experimental free-threading build";
    expect_none();
}

static void at_its_end(void)
{
    ends = true;
    expect_none();
}

static void no_python_thread(void)
{
    thread_state = NULL;
    expect_none();
}

static void nothing_mapped_there(void)
{
    way[0] = 0x10;
    expect_none();
}

static void no_code(void)
{
    codes[1][1] = (uint64_t)&codes;
    expect_none();
}

static void ends_in_nowhere(void)
{
    frames[2][1] = UINT64_MAX - 4096;
    expect_none();
}

static void in_a_process(void (*check)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        lay_out();
        check();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define CASE(name)                         \
    static void test_##name(void **state_) \
    {                                      \
        (void)state_;                      \
        in_a_process(name);                \
    }

CASE(frames_are_read)
CASE(other_code_at_the_address)
CASE(few_fit)
CASE(another_version)
CASE(without_the_lock)
CASE(at_its_end)
CASE(no_python_thread)
CASE(nothing_mapped_there)
CASE(no_code)
CASE(ends_in_nowhere)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_read),  cmocka_unit_test(test_other_code_at_the_address),
        cmocka_unit_test(test_few_fit),          cmocka_unit_test(test_another_version),
        cmocka_unit_test(test_without_the_lock), cmocka_unit_test(test_at_its_end),
        cmocka_unit_test(test_no_python_thread), cmocka_unit_test(test_nothing_mapped_there),
        cmocka_unit_test(test_no_code),          cmocka_unit_test(test_ends_in_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
