#define ZLIB_CONST
#include "report/impl.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MARK "@PAYLOAD@" /* once in the page; viewer/build.mjs sees to that */

bool rep_html_available(void)
{
    size_t size;
    return rep_page(&size) != NULL;
}

/* gzip, because that is what a browser decodes by itself. Caller frees. */
static uint8_t *compress_gzip(const uint8_t *data, size_t size, size_t *out_size)
{
    enum { GZIP = 16 };
    z_stream z = {0};
    if (size > UINT32_MAX || deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP,
                                          MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    uLong bound = deflateBound(&z, (uLong)size);
    uint8_t *out = bound <= UINT32_MAX ? malloc(bound) : NULL;
    z.next_in = data;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)bound;
    if (out && deflate(&z, Z_FINISH) != Z_STREAM_END) {
        free(out);
        out = NULL;
    }
    *out_size = z.total_out;
    deflateEnd(&z);
    return out;
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

wl_status rep_html(const rep_data *data, FILE *out, wl_error *err)
{
    size_t page_size, size, packed_size;
    const char *page = rep_page(&page_size);
    const char *mark = page ? memmem(page, page_size, MARK, strlen(MARK)) : NULL;
    if (!mark)
        return wl_fail(err, WL_UNSUPPORTED,
                       "this warplens was built without the page of its HTML report: run "
                       "tools/bootstrap.sh build, which installs the page's npm packages, and "
                       "build again");
    uint8_t *bytes;
    wl_status status = rep_payload_bytes(data, &bytes, &size, err);
    if (status != WL_OK)
        return status;
    uint8_t *packed = compress_gzip(bytes, size, &packed_size);
    free(bytes);
    if (!packed)
        return wl_fail(err, WL_NOMEM, "not enough memory to compress the report's data");
    fwrite(page, 1, (size_t)(mark - page), out);
    write_base64(packed, packed_size, out);
    mark += strlen(MARK);
    fwrite(mark, 1, page_size - (size_t)(mark - page), out);
    free(packed);
    return rep_done(out, false, err);
}
