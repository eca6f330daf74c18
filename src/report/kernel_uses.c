/* How often each kernel accesses the elements of each object, and where in it: rows of the HTML
 * report's data. */
#include "report/impl.h"
#include "report/keys.h"

static void put_page_reuse(json_t *row, const ana_reuse *r)
{
    if (r->ranges_known) {
        rep_put_count(row, K(page_use, ranges), r->ranges[0] + r->ranges[1] + r->ranges[2]);
        rep_put_seconds(row, K(page_use, accesses_per_range), r->accesses_per_range);
    }
    if (r->ranges_known && r->nlive)
        rep_put(row, K(page_use, live_ranges), rep_live_ranges_json(r));
    if (r->blocks_known)
        rep_put_seconds(row, K(page_use, accesses_per_block_element), r->accesses_per_block_word);
}

static void put_page_counts(json_t *row, const ana_use *use)
{
    rep_put_count(row, K(page_use, elements), use->elements);
    if (!use->unknown)
        rep_put_count(row, K(page_use, touched), use->touched);
    if (use->counted) {
        rep_put_count(row, K(page_use, loads), use->times[WL_LOADS]);
        rep_put_count(row, K(page_use, stores), use->times[WL_STORES]);
        rep_put_count(row, K(page_use, atomics), use->times[WL_ATOMICS]);
        rep_put_number(row, K(page_use, mean), use->mean);
        rep_put_count(row, K(page_use, most), use->most);
    }
    if (use->partial)
        rep_put(row, K(page_use, partial), json_true());
    if (use->estimated)
        rep_put(row, K(page_use, estimated), json_true());
}

static const ana_strip *strip_of(const ana_strips *strips, const ana_use *use)
{
    for (uint32_t i = 0; i < strips->count; i++)
        if (strips->rows[i].object == use->object && strips->rows[i].kernel == use->kernel)
            return &strips->rows[i];
    return NULL;
}

static json_t *strip_json(const ana_strip *s)
{
    json_t *row = json_object(), *touched = json_array(), *accesses = json_array();
    for (uint32_t i = 0; i < s->nbins; i++) {
        json_array_append_new(touched, json_integer((json_int_t)s->bins[i].touched));
        json_array_append_new(accesses, json_integer((json_int_t)s->bins[i].accesses));
    }
    rep_put_count(row, K(page_strip, launch), s->launch);
    rep_put_count(row, K(page_strip, width), s->width);
    rep_put(row, K(page_strip, touched), touched);
    if (s->measured) {
        rep_put(row, K(page_strip, accesses), accesses);
        rep_put(row, K(page_strip, frequency), rep_frequency_json(&s->frequency));
    } else {
        json_decref(accesses);
    }
    return row;
}

json_t *rep_page_use_json(const rep_data *data, const ana_use *use)
{
    const ana_strip *strip = strip_of(&data->strips, use);
    json_t *row = json_object();
    rep_put_count(row, K(page_use, kernel), use->kernel);
    rep_put_count(row, K(page_use, object), use->object);
    put_page_counts(row, use);
    put_page_reuse(row, &use->reuse);
    if (strip)
        rep_put(row, K(page_use, strip), strip_json(strip));
    return row;
}
