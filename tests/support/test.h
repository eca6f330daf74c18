/* What every cmocka program includes: cmocka with the headers that it wants before it, and what
 * many tests do. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

/* cmocka.h asks for these, in this order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

/* cmocka's assert_float_equal takes infinity for any number. */
#define assert_within(value, expected, tolerance)                           \
    do {                                                                    \
        double is_ = (value), should_ = (expected);                         \
        if (!(fabs(is_ - should_) <= (tolerance)))                          \
            fail_msg("%s is %.17g instead of %.17g", #value, is_, should_); \
    } while (0)

/* The file at `path`, with a NUL after it; to be freed. Fails the test where it cannot be read.
 * `length` may be NULL. */
char *test_read(const char *path, size_t *length);

/* As test_read; `path` begins at the project's root. */
char *test_read_source(const char *path);

/* Makes or overwrites the file; fails the test where that does not go. */
void test_write(const char *path, const void *data, size_t length);
void test_write_text(const char *path, const char *text);

#endif
