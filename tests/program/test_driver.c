/* Where NVIDIA's driver is looked for. */
#include "program/driver_path.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/warplens-driver-XXXXXX";

/* Whether LD_LIBRARY_PATH leads to the libcuda.so.1 of the current folder. */
static bool finds_it(const char *folders)
{
    char path[PATH_MAX], real[PATH_MAX];
    setenv("LD_LIBRARY_PATH", folders, 1);
    return prog_find_driver(path, sizeof path) && realpath(path, real) &&
           strncmp(real, folder, strlen(folder)) == 0;
}

static void absolute_folders_only(void **state)
{
    char both[PATH_MAX];
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    test_write("libcuda.so.1", "", 0);
    assert_true(finds_it(folder));
    snprintf(both, sizeof both, "/no/such:%s", folder);
    assert_true(finds_it(both));
    assert_false(finds_it("."));
    assert_false(finds_it(""));
    assert_false(finds_it(":"));
    assert_false(finds_it("../"));
    unlink("libcuda.so.1");
    rmdir(folder);
}

/* As where the folder of the library before the driver is among those of LD_LIBRARY_PATH. */
static void never_itself(void **state)
{
    char own[PATH_MAX], path[PATH_MAX], link[PATH_MAX];
    char shadow[] = "/tmp/warplens-shadow-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(shadow));
    snprintf(link, sizeof link, "%s/libcuda.so.1", shadow);
    assert_non_null(realpath("/proc/self/exe", own));
    assert_int_equal(symlink(own, link), 0);
    setenv("LD_LIBRARY_PATH", shadow, 1);
    bool found = prog_find_driver(path, sizeof path);
    assert_true(!found || strncmp(path, shadow, strlen(shadow)) != 0);
    unlink(link);
    test_write(link, "", 0);
    assert_true(prog_find_driver(path, sizeof path) && !strcmp(path, link));
    unlink(link);
    rmdir(shadow);
}

/* ---- the cache of the dynamic linker, as glibc 2.2 and later write it ---- */

typedef struct entry {
    int flags;
    const char *name, *path;
} entry;

typedef struct cache {
    char data[4096];
    size_t size;
} cache;

static void put(cache *c, size_t at, const void *value, size_t bytes)
{
    memcpy(c->data + at, value, bytes);
    if (at + bytes > c->size)
        c->size = at + bytes;
}

static uint32_t put_text(cache *c, const char *text)
{
    uint32_t at = (uint32_t)c->size;
    put(c, at, text, strlen(text) + 1);
    return at;
}

/* Header of 48 bytes, entries of 24, then the texts that they name by their offset. */
static void fill_cache(cache *c, const entry *entries, uint32_t count)
{
    *c = (cache){.size = 48 + 24 * (size_t)count};
    memcpy(c->data, "glibc-ld.so.cache1.1", 20);
    memcpy(c->data + 20, &count, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = put_text(c, entries[i].name), path = put_text(c, entries[i].path);
        put(c, 48 + 24 * (size_t)i, &entries[i].flags, 4);
        put(c, 52 + 24 * (size_t)i, &name, 4);
        put(c, 56 + 24 * (size_t)i, &path, 4);
    }
}

static char cache_file[] = "/tmp/warplens-cache-XXXXXX/ld.so.cache";

/* Whether a cache of the first `size` bytes of this leads to a driver. */
static bool leads_to_driver(const cache *c, size_t size, char *path)
{
    test_write(cache_file, c->data, size);
    return prog_driver_in_cache(cache_file, path, PATH_MAX);
}

static void the_cache_is_searched(void **state)
{
    enum { HERE = 0x0303, ELSEWHERE = 0x0003 }; /* x86-64; 32 bits */
    char *slash = strrchr(cache_file, '/'), driver[PATH_MAX], path[PATH_MAX];
    cache c;
    (void)state;
    *slash = '\0';
    assert_non_null(mkdtemp(cache_file));
    snprintf(driver, sizeof driver, "%s/libcuda.so.1", cache_file);
    *slash = '/';
    test_write(driver, "", 0);
    const entry list[] = {{HERE, "libc.so.6", "/lib/libc.so.6"},
                          {ELSEWHERE, "libcuda.so.1", "/lib32/libcuda.so.1"},
                          {HERE, "libcuda.so.1", "/no/such/libcuda.so.1"},
                          {HERE, "libcuda.so.1", driver}};
    assert_false(prog_driver_in_cache(cache_file, path, sizeof path)); /* there is none yet */
    fill_cache(&c, list, 4);
    assert_true(leads_to_driver(&c, c.size, path));
    assert_string_equal(path, driver);
    memmove(c.data + 100, c.data, c.size); /* after the part for older linkers */
    memset(c.data, 'x', 100);
    assert_true(leads_to_driver(&c, c.size + 100, path));
    fill_cache(&c, list, 3);
    assert_false(leads_to_driver(&c, c.size, path));
    const entry other[] = {{ELSEWHERE, "libcuda.so.1", driver}, {HERE, "libcuda.so", driver}};
    fill_cache(&c, other, 2);
    assert_false(leads_to_driver(&c, c.size, path));
    fill_cache(&c, list + 3, 1);
    for (size_t size = 0; size < c.size; size++) /* cut off anywhere */
        assert_false(leads_to_driver(&c, size, path));
    unlink(driver);
    unlink(cache_file);
    *slash = '\0';
    rmdir(cache_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_itself), /* before what changes the folder */
        cmocka_unit_test(absolute_folders_only),
        cmocka_unit_test(the_cache_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
