/* What there was when an allocation failed, as JSON. */
#include "report/impl.h"
#include "report/keys.h"

static json_t *held_json(const rep_data *d, const ana_held *h)
{
    json_t *row = json_object();
    rep_put_count(row, K(held, object), h->object);
    rep_put_text(row, K(held, name), rep_object_name(d, h->object));
    rep_put_count(row, K(held, count), h->count);
    rep_put_count(row, K(held, bytes), h->bytes);
    if (h->rest)
        rep_put(row, K(held, rest), json_true());
    return row;
}

static json_t *room_json(const rep_data *d, const ana_room *r)
{
    json_t *row = json_object();
    rep_put_text(row, K(room, pattern), ana_pattern_get(r->pattern)->name);
    rep_put_count(row, K(room, object), r->object);
    rep_put_text(row, K(room, name), rep_object_name(d, r->object));
    rep_put_count(row, K(room, bytes), r->bytes);
    return row;
}

json_t *rep_refusal_json(const rep_data *d, const ana_refusal *r)
{
    json_t *row = json_object(), *held = json_array(), *room = json_array();
    for (uint32_t i = 0; i < r->nheld; i++)
        json_array_append_new(held, held_json(d, &r->held[i]));
    for (uint32_t i = 0; i < r->nrooms; i++)
        json_array_append_new(room, room_json(d, &r->rooms[i]));
    rep_put_count(row, K(refusal, requested), r->requested);
    rep_put_count(row, K(refusal, free), r->free);
    rep_put_count(row, K(refusal, total), r->total);
    rep_put_count(row, K(refusal, in_use), r->in_use);
    rep_put(row, K(refusal, held), held);
    rep_put(row, K(refusal, room), room);
    return row;
}
