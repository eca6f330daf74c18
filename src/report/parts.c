/* The parts of the HTML report's data: compressed, and written as base64. */
#define ZLIB_CONST
#include "report/impl.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

bool rep_gzip(const void *data, size_t size, rep_part *out)
{
    enum { GZIP = 16, LEVEL = 3 }; /* a tenth larger than the default, in a third of the time */
    *out = (rep_part){0};
    z_stream z = {0};
    if (size > UINT32_MAX || deflateInit2(&z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MAX_MEM_LEVEL,
                                          Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    uLong bound = deflateBound(&z, (uLong)size);
    uint8_t *to = bound <= UINT32_MAX ? malloc(bound) : NULL;
    z.next_in = data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)bound;
    bool done = to && deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (done)
        *out = (rep_part){to, z.total_out};
    else
        free(to);
    deflateEnd(&z);
    return done;
}

void rep_add_part(rep_parts *parts, rep_part part)
{
    if (parts->count == parts->capacity) {
        uint32_t capacity = parts->capacity ? parts->capacity * 2 : 16;
        rep_part *rows = realloc(parts->rows, capacity * sizeof *rows);
        if (!rows) {
            parts->failed = true;
            free(part.data);
            return;
        }
        parts->rows = rows;
        parts->capacity = capacity;
    }
    parts->rows[parts->count++] = part;
}

void rep_free_parts(rep_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        free(parts->rows[i].data);
    free(parts->rows);
    *parts = (rep_parts){0};
}

static void write_base64(const uint8_t *data, size_t size, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { LINE = 4096 };
    char line[LINE];
    size_t at = 0;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)data[i] << 16;
        bits |= i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0;
        bits |= i + 2 < size ? data[i + 2] : 0;
        line[at++] = digits[bits >> 18];
        line[at++] = digits[bits >> 12 & 63];
        line[at++] = i + 1 < size ? digits[bits >> 6 & 63] : '=';
        line[at++] = i + 2 < size ? digits[bits & 63] : '=';
        if (at == LINE) {
            fwrite(line, 1, at, out);
            at = 0;
        }
    }
    fwrite(line, 1, at, out);
}

void rep_write_parts(const rep_parts *parts, FILE *out)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        if (i > 0)
            fputc('.', out);
        write_base64(parts->rows[i].data, parts->rows[i].size, out);
    }
}
