/* Reads and writes whole files. */
#include "support/file.h"

#include <stdlib.h>

char *file_rest(FILE *file, size_t *length)
{
    size_t capacity = 1 << 16, used = 0, got;
    char *data = malloc(capacity);
    while (data && (got = fread(data + used, 1, capacity - used - 1, file)) > 0) {
        used += got;
        if (capacity - used > 1)
            continue;
        char *larger = realloc(data, capacity *= 2);
        if (!larger)
            free(data);
        data = larger;
    }
    if (data && ferror(file)) {
        free(data);
        data = NULL;
    }
    if (data)
        data[used] = '\0';
    if (length)
        *length = data ? used : 0;
    return data;
}

char *file_read(const char *path, size_t *length)
{
    if (length)
        *length = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *data = file_rest(file, length);
    fclose(file);
    return data;
}

bool file_write(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fwrite(data, 1, length, file) == length;
    return fclose(file) == 0 && written;
}
