/* Reading what reporters wrote. */
#include "unpack.h"
#include "support/test.h"

#include <string.h>
#include <zlib.h>

uint8_t *unpacked(const rep_part *part, size_t *size)
{
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    z_stream z = {
        .next_in = part->data, .avail_in = (uInt)part->size, .next_out = bytes, .avail_out = MOST};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    *size = z.total_out;
    return bytes;
}

json_t *payload_json(const rep_data *data, rep_parts *parts)
{
    assert_int_equal(rep_payload_parts(data, 1, parts, NULL), WL_OK);
    size_t size;
    uint8_t *text = unpacked(&parts->rows[0], &size);
    json_t *json = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

void assert_keys(json_t *object, const char *keys)
{
    char found[512] = "";
    const char *key;
    json_t *value;
    assert_non_null(object);
    json_object_foreach(object, key, value)
    {
        strcat(found, *found ? " " : "");
        strcat(found, key);
    }
    assert_string_equal(found, keys);
}
