/* What a program says of its own pools, as a collector records it: the capture is read back as one
 * line a record. */
#include "record/parts.h"
#include "record/record.h"
#include "support/test.h"

#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 0x10000, BYTES = 0x1000, OTHER = 0x20000 };

static uint32_t block, other; /* objects that CUDA gave */

static bool find_memory(uint64_t address, rec_memory *out)
{
    uint64_t base = address < OTHER ? BLOCK : OTHER;
    if (address - base >= BYTES)
        return false;
    *out = (rec_memory){.base = base,
                        .bytes = BYTES,
                        .object = base == BLOCK ? block : other,
                        .kind = CAP_OBJECT_MANAGED,
                        .device = 1,
                        .context = 2};
    return true;
}

/* What the machines are told. */
static char told[4096];

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    size_t n = strlen(told);
    va_list args;
    va_start(args, format);
    vsnprintf(told + n, sizeof told - n, format, args);
    va_end(args);
}

static void begins(uint64_t base, uint64_t bytes, uint32_t object)
{
    tell("+%u %llx %llx\n", object, (unsigned long long)base, (unsigned long long)bytes);
}

static void ends(uint64_t base, uint32_t object)
{
    tell("-%u %llx\n", object, (unsigned long long)base);
}

/* ---- the capture as text ---- */

static void print_record(FILE *out, const cap_record *r)
{
    switch (r->type) {
    case CAP_CALL:
        fprintf(out, "call %u %s kind %u of %u%s\n", r->call.id, r->call.api, r->call.kind,
                r->call.target_object + r->call.source_object,
                r->call.device == 1 && r->call.context == 2 ? "" : " elsewhere");
        break;
    case CAP_OBJECT:
        fprintf(out, "object %u in %u at %llx %llu bytes kind %u call %u\n", r->object.id,
                r->object.parent, (unsigned long long)r->object.base,
                (unsigned long long)r->object.bytes, r->object.kind, r->object.call);
        break;
    case CAP_FREE:
        fprintf(out, "free %u call %u how %u\n", r->free.object, r->free.call, r->free.how);
        break;
    case CAP_ANNOTATION:
        fprintf(out, "tag %u %s %u\n", r->annotation.object, r->annotation.tag,
                r->annotation.element_bytes);
        break;
    case CAP_MESSAGE: fprintf(out, "message %s\n", r->message.text); break;
    default: break;
    }
}

static char *recorded(const char *folder)
{
    char pattern[96], *text = NULL;
    size_t size;
    glob_t found;
    cap_reader *reader;
    cap_record record;
    wl_error err;
    bool end = false;
    snprintf(pattern, sizeof pattern, "%s/*.wlcap", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(cap_open(found.gl_pathv[0], &reader, &err), WL_OK);
    unlink(found.gl_pathv[0]);
    globfree(&found);
    FILE *out = open_memstream(&text, &size);
    while (cap_read(reader, &record, &end, &err) == WL_OK && !end)
        print_record(out, &record);
    fclose(out);
    cap_reader_free(reader);
    return text;
}

/* ---- ---- */

static char folder[64];

static void begin(void)
{
    pthread_mutex_lock(&rec_g.lock);
    rec_g.next_object = rec_g.next_call = 0;
    rec_start(true);
    block = rec_object_new();
    other = rec_object_new();
    pthread_mutex_unlock(&rec_g.lock);
    told[0] = '\0';
}

static void expect(const char *capture, const char *machines)
{
    rec_process_ends();
    rec_parts_forget();
    char *text = recorded(folder);
    assert_string_equal(text, capture);
    assert_string_equal(told, machines);
    free(text);
}

static void freed(uint32_t object)
{
    pthread_mutex_lock(&rec_g.lock);
    rec_freed(object, 0, CAP_FREED_CONTEXT);
    pthread_mutex_unlock(&rec_g.lock);
}

static void a_pool_with_tensors(void **state)
{
    (void)state;
    begin();
    rec_annotate_pool("pool", BLOCK, BYTES, "arena");
    rec_annotate_alloc("alloc", BLOCK, 256, "q", 4);
    rec_annotate_alloc("alloc", BLOCK + 256, 512, NULL, 0);
    rec_annotate_alloc("alloc", BLOCK + 256, 128, "row", 2);
    rec_annotate_name(BLOCK + 300, "first row", 2);
    rec_annotate_name(BLOCK + 600, "k", 0);
    rec_annotate_free("free", BLOCK + 256);
    rec_annotate_free("free", BLOCK);
    rec_annotate_pool_end("pool_end", BLOCK);
    expect("tag 1 arena 0\n"
           "call 1 alloc kind 0 of 3\nobject 3 in 1 at 10000 256 bytes kind 2 call 1\ntag 3 q 4\n"
           "call 2 alloc kind 0 of 4\nobject 4 in 1 at 10100 512 bytes kind 2 call 2\n"
           "call 3 alloc kind 0 of 5\nobject 5 in 4 at 10100 128 bytes kind 2 call 3\ntag 5 row 2\n"
           "tag 5 first row 2\ntag 4 k 0\n"
           "call 4 free kind 1 of 5\nfree 5 call 4 how 1\n"
           "call 5 free kind 1 of 3\nfree 3 call 5 how 1\n"
           "call 6 pool_end kind 1 of 0\nfree 4 call 6 how 1\n",
           "+3 10000 100\n+4 10100 200\n+5 10100 80\n-5 10100\n-3 10000\n-4 10100\n");
}

/* A pool that is a part is an object; it takes its own with it. */
static void a_pool_within_an_allocation(void **state)
{
    (void)state;
    begin();
    rec_annotate_pool("pool", BLOCK + 1024, 1024, "half");
    rec_annotate_alloc("alloc", BLOCK + 1024, 1024, "all of it", 0);
    rec_annotate_pool_end("pool_end", BLOCK + 1024);
    expect(
        "call 1 pool kind 0 of 3\nobject 3 in 1 at 10400 1024 bytes kind 2 call 1\ntag 3 half 0\n"
        "call 2 alloc kind 0 of 4\nobject 4 in 3 at 10400 1024 bytes kind 2 call 2\n"
        "tag 4 all of it 0\n"
        "call 3 pool_end kind 1 of 3\nfree 4 call 3 how 1\nfree 3 call 3 how 1\n",
        "+3 10400 400\n+4 10400 400\n-4 10400\n-3 10400\n");
}

static void parts_end_with_their_memory(void **state)
{
    (void)state;
    begin();
    rec_annotate_alloc("alloc", BLOCK, 512, NULL, 0);
    rec_annotate_alloc("alloc", BLOCK + 64, 64, NULL, 0);
    rec_annotate_alloc("alloc", OTHER, 64, NULL, 0);
    freed(block);
    expect("call 1 alloc kind 0 of 3\nobject 3 in 1 at 10000 512 bytes kind 2 call 1\n"
           "call 2 alloc kind 0 of 4\nobject 4 in 3 at 10040 64 bytes kind 2 call 2\n"
           "call 3 alloc kind 0 of 5\nobject 5 in 2 at 20000 64 bytes kind 2 call 3\n"
           "free 4 call 0 how 4\nfree 3 call 0 how 4\nfree 1 call 0 how 4\n",
           "+3 10000 200\n+4 10040 40\n+5 20000 40\n-4 10040\n-3 10000\n");
}

/* What the program did not take back, but gave out again in other pieces. */
static void what_was_not_taken_back_goes(void **state)
{
    (void)state;
    begin();
    rec_annotate_alloc("alloc", BLOCK, 256, NULL, 0);
    rec_annotate_alloc("alloc", BLOCK + 256, 256, NULL, 0);
    rec_annotate_alloc("alloc", BLOCK + 128, 256, NULL, 0);
    expect("call 1 alloc kind 0 of 3\nobject 3 in 1 at 10000 256 bytes kind 2 call 1\n"
           "call 2 alloc kind 0 of 4\nobject 4 in 1 at 10100 256 bytes kind 2 call 2\n"
           "free 4 call 0 how 5\nfree 3 call 0 how 5\n"
           "call 3 alloc kind 0 of 5\nobject 5 in 1 at 10080 256 bytes kind 2 call 3\n",
           "+3 10000 100\n+4 10100 100\n-4 10100\n-3 10000\n+5 10080 100\n");
}

static void copies_find_their_part(void **state)
{
    uint64_t base = 7;
    (void)state;
    begin();
    rec_annotate_alloc("alloc", BLOCK + 256, 256, NULL, 0);
    rec_annotate_alloc("alloc", BLOCK + 320, 64, NULL, 0);
    assert_int_equal(rec_part_of(BLOCK, 16, &base), 0);
    assert_int_equal(base, 7);
    assert_int_equal(rec_part_of(BLOCK + 320, 64, &base), 4);
    assert_int_equal(base, BLOCK + 320);
    assert_int_equal(rec_part_of(BLOCK + 320, 65, &base), 3); /* it goes on in what lies around */
    assert_int_equal(base, BLOCK + 256);
    assert_int_equal(rec_part_of(BLOCK + 320, 256, &base), 0);
    rec_process_ends();
    rec_parts_forget();
    free(recorded(folder));
}

/* Told once a kind; last, since what was told stays so. */
static void what_cannot_be_placed_is_told(void **state)
{
    (void)state;
    begin();
    rec_annotate_alloc("alloc", 0x500, 16, "x", 0);
    rec_annotate_alloc("alloc", 0, 16, "x", 0);
    rec_annotate_alloc("alloc", BLOCK + 16, BYTES, "x", 0);
    rec_annotate_pool("pool", BLOCK, 1024, NULL);
    rec_annotate_alloc("alloc", BLOCK + 1000, 100, "x", 0);
    rec_annotate_free("free", BLOCK + 8);
    rec_annotate_free("free", 0);
    expect("message alloc at address 0x500 was left out: CUDA knows of no memory there. Others of "
           "this kind are left out without a message.\n"
           "message alloc at address 0x10010 was left out: it reaches beyond the allocation that "
           "it begins in. Others of this kind are left out without a message.\n"
           "call 1 pool kind 0 of 3\nobject 3 in 1 at 10000 1024 bytes kind 2 call 1\n"
           "message alloc at address 0x103e8 was left out: it crosses the border of a pool. Others "
           "of this kind are left out without a message.\n"
           "message free at address 0x10008 was left out: nothing that was announced begins "
           "there. Others of this kind are left out without a message.\n",
           "+3 10000 400\n");
}

static int set_up(void **state)
{
    static const rec_collector collector = {.name = "test"};
    static const rec_part_hooks hooks = {.find = find_memory, .begins = begins, .ends = ends};
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/wl_parts_XXXXXX");
    if (!mkdtemp(folder) || setenv("WARPLENS_CAPTURE_DIR", folder, 1) != 0)
        return -1;
    rec_annotate_alloc("alloc", BLOCK, 16, NULL, 0); /* before there is anything: nothing happens */
    rec_parts_start(&hooks);
    rec_process_begins(&collector);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_with_tensors),
        cmocka_unit_test(a_pool_within_an_allocation),
        cmocka_unit_test(parts_end_with_their_memory),
        cmocka_unit_test(what_was_not_taken_back_goes),
        cmocka_unit_test(copies_find_their_part),
        cmocka_unit_test(what_cannot_be_placed_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
