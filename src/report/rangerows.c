/* The program's own ranges as rows of JSON, those of a launch among them. */
#include "report/impl.h"
#include "report/keys.h"

#include <stdlib.h>

double rep_share_of_launches(const rep_data *d, const ana_launch_sums *s)
{
    const ana_launch_sums *all = &d->ranges.all;
    double whole = (double)(all->sectors + all->wavefronts);
    if (all->device_seconds > 0 && s->device_seconds >= 0)
        return s->device_seconds / all->device_seconds;
    return whole > 0 ? (double)(s->sectors + s->wavefronts) / whole : -1;
}

static json_t *range_json(const rep_data *d, const ana_range *r)
{
    const ana_launch_sums *s = &r->sums;
    json_t *row = json_object();
    rep_put_text(row, K(range, name), r->name);
    if (*r->domain)
        rep_put_text(row, K(range, domain), r->domain);
    if (r->parent)
        rep_put_count(row, K(range, parent), r->parent - 1);
    rep_put_count(row, K(range, times), r->times);
    rep_put_count(row, K(range, launches), s->launches);
    rep_put_seconds(row, K(range, host_seconds), s->host_seconds);
    rep_put_seconds(row, K(range, device_seconds), s->device_seconds);
    rep_put_seconds(row, K(range, share), rep_share_of_launches(d, s));
    rep_put_count(row, K(range, requests), s->requests);
    rep_put_count(row, K(range, sectors), s->sectors);
    rep_put_count(row, K(range, sectors_min), s->sectors_min);
    rep_put_count(row, K(range, wavefronts), s->wavefronts);
    rep_put_count(row, K(range, wavefronts_min), s->wavefronts_min);
    rep_put_count(row, K(range, findings), r->nfindings);
    return row;
}

json_t *rep_ranges_json(const rep_data *d)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < d->ranges.count; i++)
        json_array_append_new(rows, range_json(d, &d->ranges.rows[i]));
    return rows;
}

/* ---- of a launch ---- */

static int by_launch_of_list(const void *key, const void *row)
{
    uint32_t launch = *(const uint32_t *)key, other = ((const prof_launch_list *)row)->launch;
    return (launch > other) - (launch < other);
}

static int by_list(const void *key, const void *row)
{
    uint32_t list = *(const uint32_t *)key, other = ((const prof_range_member *)row)->list;
    return (list > other) - (list < other);
}

static int by_range_id(const void *key, const void *row)
{
    uint32_t id = *(const uint32_t *)key, other = ((const prof_range *)row)->id;
    return (id > other) - (id < other);
}

#define FIND(key, table, by) \
    ((table).count ? bsearch((key), (table).rows, (table).count, sizeof *(table).rows, (by)) : NULL)

static json_t *range_text(const prof_range *r)
{
    json_t *text = NULL;
    wl_arena *arena = *r->domain ? wl_arena_new() : NULL;
    const char *both = arena ? wl_arena_printf(arena, "%s@%s", r->domain, r->name) : NULL;
    text = rep_text_json(both ? both : r->name);
    wl_arena_free(arena);
    return text;
}

json_t *rep_launch_ranges_json(const rep_data *d, const prof_launch *launch)
{
    const prof_launch_list *list = FIND(&launch->id, d->launch_lists, by_launch_of_list);
    const prof_range_member *m = list ? FIND(&list->ranges, d->range_lists, by_list) : NULL;
    if (!m)
        return NULL;
    const prof_range_member *end = d->range_lists.rows + d->range_lists.count;
    json_t *names = json_array();
    while (m > d->range_lists.rows && m[-1].list == list->ranges)
        m--;
    for (; m < end && m->list == list->ranges; m++) {
        const prof_range *range = FIND(&m->range, d->opened, by_range_id);
        if (range)
            json_array_append_new(names, range_text(range));
    }
    return names;
}
