/* What the model says of a launch, as JSON. */
#include "report/impl.h"
#include "report/keys.h"

/* ---- what it does not know ---- */

void rep_put_unsure(json_t *row, const char *key, const ana_model *m,
                    const char *(*text)(model_unsure what))
{
    json_t *list = json_array();
    for (uint32_t u = 0; u < MODEL_UNSURE_COUNT; u++)
        if (m->unsure >> u & 1)
            json_array_append_new(list, json_string(text(u)));
    if (m->unsure)
        rep_put(row, key, list);
    else
        json_decref(list);
}

/* ---- the roofline ---- */

static double rate_of(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

static json_t *arithmetic_json(model_arithmetic a, const model_roof *roof)
{
    json_t *row = json_object();
    rep_put_text(row, K(arithmetic, name), model_resource_name(model_arithmetic_resource(a)));
    rep_put_text(row, K(arithmetic, words), model_arithmetic_words(a));
    rep_put_number(row, K(arithmetic, operations), roof->amount);
    rep_put_number(row, K(arithmetic, ceiling), rate_of(roof->amount, roof->seconds));
    return row;
}

static json_t *level_json(const ana_model *m, model_level level)
{
    const model_roof *roof = &m->roofline.levels[level];
    model_resource resource = model_level_resource(level);
    json_t *row = json_object();
    rep_put_text(row, K(level_bytes, name), model_resource_name(resource));
    rep_put_text(row, K(level_bytes, words), model_level_words(level));
    rep_put_number(row, K(level_bytes, bytes), roof->amount);
    rep_put_number(row, K(level_bytes, ceiling), rate_of(roof->amount, roof->seconds));
    rep_put_number(row, K(level_bytes, reachable), rate_of(roof->amount, m->resources[resource]));
    return row;
}

json_t *rep_roofline_json(const ana_model *m)
{
    json_t *row = json_object(), *arithmetic = json_array(), *levels = json_array();
    for (uint32_t a = 0; a < MODEL_ARITHMETICS; a++)
        if (model_counts_arithmetic(&m->roofline, a))
            json_array_append_new(arithmetic, arithmetic_json(a, &m->roofline.arithmetic[a]));
    for (uint32_t l = 0; l < MODEL_LEVELS; l++)
        if (m->roofline.levels[l].amount > 0)
            json_array_append_new(levels, level_json(m, l));
    rep_put(row, K(roofline, arithmetic), arithmetic);
    rep_put(row, K(roofline, levels), levels);
    return row;
}

/* ---- occupancy ---- */

static json_t *limits_json(uint32_t limits)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < MODEL_LIMITS; i++) {
        if (!(limits >> i & 1))
            continue;
        json_t *row = json_object();
        rep_put_text(row, K(limit, name), model_limit_name(i));
        rep_put_text(row, K(limit, words), model_limit_words(i));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *step_json(const model_step *s)
{
    json_t *row = json_object();
    rep_put_text(row, K(step, of), model_limit_name(s->of));
    rep_put_count(row, K(step, now), s->now);
    rep_put_count(row, K(step, wanted), s->wanted);
    rep_put_count(row, K(step, blocks), s->blocks);
    rep_put_count(row, K(step, warps), s->warps);
    return row;
}

json_t *rep_occupancy_json(const model_occupancy *o)
{
    if (!o->most)
        return NULL;
    json_t *row = json_object();
    rep_put_count(row, K(occupancy, warps), o->warps);
    rep_put_count(row, K(occupancy, most), o->most);
    rep_put_count(row, K(occupancy, blocks), o->blocks);
    rep_put_count(row, K(occupancy, used), o->used);
    rep_put_count(row, K(occupancy, sms), o->sms);
    rep_put(row, K(occupancy, limits), limits_json(o->limits));
    if (o->estimated)
        rep_put(row, K(occupancy, estimated), json_true());
    if (o->has_step)
        rep_put(row, K(occupancy, step), step_json(&o->step));
    return row;
}
