/* Columns of the HTML report's bulk data: docs/report-payload.md. */
#include "report/impl.h"

#include <stdlib.h>

bool rep_columns_init(rep_columns *c, size_t most)
{
    *c = (rep_columns){.places = json_object(), .data = malloc(most + 1)};
    return c->places && c->data;
}

void rep_put_element(rep_columns *c, size_t count, size_t width, size_t i, uint64_t value)
{
    for (size_t byte = 0; byte < width; byte++)
        c->data[c->size + byte * count + i] = (uint8_t)(value >> (8 * byte));
}

void rep_end_column(rep_columns *c, const char *name, size_t count, size_t width)
{
    rep_put(c->places, name, json_pack("[I,I]", (json_int_t)c->size, (json_int_t)count));
    c->size += count * width;
}

json_t *rep_pack_columns(rep_columns *c, rep_part *part)
{
    json_t *places = c->places;
    if (!c->data || !rep_gzip(c->data, c->size, part)) {
        json_decref(places);
        places = NULL;
    }
    free(c->data);
    *c = (rep_columns){0};
    return places;
}
