/* Rows of JSON, written as they come. */
#include "report/impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rep_put(json_t *row, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(row, key, value);
}

json_t *rep_text_json(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    wl_arena *arena = wl_arena_new(); /* bytes that are no UTF-8 */
    char *clean = arena ? rep_clean(arena, text, false) : NULL;
    value = clean ? json_string(clean) : NULL;
    wl_arena_free(arena);
    return value;
}

void rep_put_text(json_t *row, const char *key, const char *text)
{
    if (text)
        rep_put(row, key, rep_text_json(text));
}

void rep_put_count(json_t *row, const char *key, uint64_t value)
{
    rep_put(row, key,
            value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

void rep_put_number(json_t *row, const char *key, double value)
{
    if (!isfinite(value))
        return;
    bool whole = value == floor(value) && fabs(value) < 9e15;
    rep_put(row, key, whole ? json_integer((json_int_t)value) : json_real(value));
}

void rep_put_seconds(json_t *row, const char *key, double value)
{
    if (value >= 0 && isfinite(value))
        rep_put(row, key, json_real(value));
}

void rep_put_dim(json_t *row, const char *key, const uint32_t dim[3])
{
    rep_put(row, key, json_pack("[i,i,i]", (int)dim[0], (int)dim[1], (int)dim[2]));
}

static void dump(rep_json_out *j, json_t *value)
{
    if (!value ||
        json_dumpf(value, j->out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(j->digits)))
        j->failed = true;
    json_decref(value);
}

static void put_member_name(rep_json_out *j, const char *key)
{
    fprintf(j->out, "%s\n\"%s\": ", j->first_key ? "" : ",", key);
    j->first_key = false;
}

void rep_json_begin(rep_json_out *j, FILE *out)
{
    *j = (rep_json_out){.out = out, .first_key = true, .digits = 10};
    fputc('{', out);
}

void rep_json_value(rep_json_out *j, const char *key, json_t *value)
{
    put_member_name(j, key);
    dump(j, value);
}

void rep_json_array(rep_json_out *j, const char *key)
{
    put_member_name(j, key);
    fputc('[', j->out);
    j->first_row = true;
}

void rep_json_row(rep_json_out *j, json_t *row)
{
    fputs(j->first_row ? "\n" : ",\n", j->out);
    j->first_row = false;
    dump(j, row);
}

void rep_json_array_end(rep_json_out *j)
{
    fputs(j->first_row ? "]" : "\n]", j->out);
}

void rep_json_end(rep_json_out *j)
{
    fputs("\n}\n", j->out);
}

wl_status rep_done(FILE *out, bool failed, wl_error *err)
{
    if (fflush(out) != 0)
        return wl_fail_errno(err, "cannot write the output");
    if (ferror(out)) /* earlier: what went wrong is forgotten */
        return wl_fail(err, WL_IO, "cannot write the output; is there room for it?");
    return failed ? wl_fail(err, WL_NOMEM, "not enough memory to write the output") : WL_OK;
}
