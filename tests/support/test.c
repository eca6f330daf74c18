/* What many tests do. */
#include "support/test.h"

#include "support/file.h"

#include <string.h>

char *test_read(const char *path, size_t *length)
{
    char *data = file_read(path, length);
    if (!data)
        fail_msg("%s cannot be read", path);
    return data;
}

char *test_read_source(const char *path)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/%s", WL_SOURCE_DIR, path);
    return test_read(whole, NULL);
}

void test_write(const char *path, const void *data, size_t length)
{
    if (!file_write(path, data, length))
        fail_msg("%s cannot be written", path);
}

void test_write_text(const char *path, const char *text)
{
    test_write(path, text, strlen(text));
}
