/* The types of options: which texts they allow, and what these mean. */
#include "program/values.h"

#include "program/kernel_name.h"
#include "program/range_name.h"
#include "rewrite/rewrite.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA's largest grid. */
enum { MOST_X = INT32_MAX, MOST_YZ = 65535 };

/* ---- plain values ---- */

static bool equal(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Digits, and nothing else, up to `stop`; false where there are none or the number is too large. */
static bool digits(const char *text, const char **stop, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    *stop = end;
    return errno == 0;
}

static wl_status refuse_text(wl_error *why)
{
    wl_fail(why, WL_ARG, "%s", "");
    return WL_ARG;
}

static wl_status read_text(const prog_option *row, const char *text, wl_arena *arena,
                           prog_type_text *out, wl_error *why)
{
    (void)row, (void)arena, (void)why;
    *out = text;
    return WL_OK;
}

static wl_status read_number(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_number *out, wl_error *why)
{
    (void)arena;
    uint64_t number = row->absent;
    const char *end = text;
    if (*text &&
        (!digits(text, &end, &number) || *end || number < row->least || number > row->most))
        return refuse_text(why);
    *out = number;
    return WL_OK;
}

static wl_status read_flag(const prog_option *row, const char *text, wl_arena *arena,
                           prog_type_flag *out, wl_error *why)
{
    (void)row, (void)arena;
    if (*text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return refuse_text(why);
    *out = *text == '1';
    return WL_OK;
}

static wl_status read_choice(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_choice *out, wl_error *why)
{
    (void)arena;
    for (const char *at = row->choices;; at++) {
        size_t length = strcspn(at, "|");
        if (equal(at, length, text)) {
            *out = text;
            return WL_OK;
        }
        at += length;
        if (!*at)
            return refuse_text(why);
    }
}

static wl_status read_pattern(const prog_option *row, const char *text, wl_arena *arena,
                              prog_type_pattern *out, wl_error *why)
{
    (void)row, (void)arena;
    wl_status status = prog_pattern_check(text, why);
    if (status == WL_OK)
        *out = text;
    return status;
}

static wl_status read_ranges(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_ranges *out, wl_error *why)
{
    (void)row, (void)arena;
    prog_range_patterns patterns;
    wl_status status = prog_ranges_read(text, &patterns, why);
    prog_ranges_clear(&patterns);
    if (status == WL_OK)
        *out = text;
    return status;
}

/* Whether they exist is asked where that is worth a look at files: given.c, and where they are
 * opened. */
static wl_status read_devices(const prog_option *row, const char *text, wl_arena *arena,
                              prog_type_devices *out, wl_error *why)
{
    return read_text(row, text, arena, out, why);
}

static wl_status read_probes(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_probes *out, wl_error *why)
{
    (void)row, (void)arena;
    uint32_t probes = 0;
    if (*text && strcmp(text, "none") != 0 && !rewrite_probes_parse(text, &probes))
        return refuse_text(why);
    *out = probes;
    return WL_OK;
}

/* ---- blocks ---- */

static bool read_index(const char **text, uint64_t most, uint32_t *out)
{
    uint64_t number;
    if (!digits(*text, text, &number) || number >= most)
        return false;
    *out = (uint32_t)number;
    return true;
}

/* After a comma; 0 where there is none. */
static bool read_next_index(const char **text, uint32_t *out)
{
    *out = 0;
    if (**text != ',')
        return true;
    ++*text;
    return read_index(text, MOST_YZ, out);
}

/* "x", "x,y" or "x,y,z" up to a semicolon or the end. */
static bool read_block_index(const char **text, prog_block *block)
{
    return read_index(text, MOST_X, &block->x) && read_next_index(text, &block->y) &&
           read_next_index(text, &block->z) && (**text == ';' || **text == '\0');
}

static wl_status read_block_list(const char *text, wl_arena *arena, prog_blocks *blocks,
                                 wl_error *why)
{
    prog_block *list = wl_new_array(arena, prog_block, strlen(text) / 2 + 1);
    if (!list)
        return wl_fail(why, WL_NOMEM, "out of memory");
    bool words = strpbrk(text, "a");
    for (;; text++) {
        if (!read_block_index(&text, &list[blocks->count++]))
            return words ? wl_fail(why, WL_ARG, "each of auto and all stands alone")
                         : refuse_text(why);
        if (!*text)
            break;
    }
    blocks->list = list;
    return WL_OK;
}

static wl_status read_blocks(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_blocks *out, wl_error *why)
{
    (void)row;
    prog_blocks blocks = {.automatic = strcmp(text, "auto") == 0, .all = strcmp(text, "all") == 0};
    bool listed = *text && !blocks.automatic && !blocks.all;
    wl_status status = listed ? read_block_list(text, arena, &blocks, why) : WL_OK;
    if (status == WL_OK)
        *out = blocks;
    return status;
}

/* ---- budgets ---- */

static bool seconds_unit(char unit, double *scale)
{
    *scale = unit == 'h' ? 3600 : unit == 'm' ? 60 : 1;
    return unit == '\0' || unit == 's' || unit == 'm' || unit == 'h';
}

static bool bytes_unit(char unit, double *scale)
{
    *scale = unit == 'G' ? 1 << 30 : 1 << 20;
    return unit == 'G' || unit == 'M';
}

/* A number and a unit of time or memory. Beyond 1e9 of any unit nobody means it. */
static bool read_part_of_budget(const char *text, size_t length, prog_budget *out)
{
    char part[64], *end;
    double scale;
    if (length == 0 || length >= sizeof part)
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    double number = strtod(part, &end);
    if (!isdigit((unsigned char)*part) || strpbrk(part, "xXpPeE") || number <= 0 || number > 1e9 ||
        (*end && end[1]))
        return false;
    if (bytes_unit(*end, &scale) && !out->bytes)
        out->bytes = (uint64_t)(number * scale);
    else if (seconds_unit(*end, &scale) && out->seconds <= 0 && !out->by_run)
        out->seconds = number * scale;
    else
        return false;
    return true;
}

static bool read_part(const char *text, size_t length, prog_budget *out)
{
    static const char by_run[] = "auto";
    if (length != strlen(by_run) || strncmp(text, by_run, length) != 0)
        return read_part_of_budget(text, length, out);
    bool given = out->seconds > 0 || out->by_run;
    out->by_run = true;
    return !given;
}

static wl_status read_budget(const prog_option *row, const char *text, wl_arena *arena,
                             prog_type_budget *out, wl_error *why)
{
    (void)row, (void)arena;
    prog_budget budget = {0};
    const char *comma = strchr(text, ',');
    size_t first = comma ? (size_t)(comma - text) : strlen(text);
    if (*text && strcmp(text, "none") != 0 &&
        (!read_part(text, first, &budget) ||
         (comma && !read_part(comma + 1, strlen(comma + 1), &budget))))
        return refuse_text(why);
    *out = budget;
    return WL_OK;
}

/* ---- any of them ---- */

wl_status prog_value_read(prog_option_id id, const char *text, prog_options *o, wl_error *why)
{
    const prog_option *row = &prog_option_table[id];
    switch (id) {
#define X(field, type, ...) \
    case PROG_OPTION_##field: return read_##type(row, text, o->arena, &o->field, why);
#include "program/options.def"
#undef X
    case PROG_OPTIONS: break;
    }
    return wl_fail(why, WL_ARG, "there is no option of number %d", (int)id);
}

/* Bytes of sequences of the sampled blocks alone. */
enum { SAMPLED_SEQUENCES = 4 << 20 };

void prog_options_settle(prog_options *o)
{
    bool ranges = o->probes & 1u << REWRITE_SHARED && strcmp(o->set, "basic") != 0;
    if (strcmp(o->set, "sequences") != 0 && o->sequence_limit > SAMPLED_SEQUENCES)
        o->sequence_limit = SAMPLED_SEQUENCES;
    if (strcmp(o->set, "sequences") != 0 && !ranges)
        o->sequence_limit = 0;
    if (strcmp(o->set, "basic") == 0)
        o->blocks = (prog_blocks){0};
}

/* ---- what is allowed ---- */

/* "auto, all or none" of "auto|all|none". */
static void list_choices(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (const char *at = choices; used < size; at++) {
        size_t length = strcspn(at, "|");
        const char *separator = at == choices ? "" : at[length] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", separator, (int)length, at);
        at += length;
        if (!*at)
            break;
    }
}

static void list_probes(char *text, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < REWRITE_PROBE_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 rewrite_probe_name(i));
    if (used < size)
        snprintf(text + used, size - used, ", separated by commas, all or none");
}

void prog_option_allowed(const prog_option *row, char *text, size_t size)
{
    static const char *const fixed[] = {
        [PROG_TYPE_text] = "any text",
        [PROG_TYPE_flag] = "1 or 0",
        [PROG_TYPE_pattern] = "a kernel's name, or regex: and an extended regular expression",
        [PROG_TYPE_ranges] = "range, regex:EXPRESSION or outer/inner/, each as DOMAIN@... too",
        [PROG_TYPE_devices] = "what 'warplens devices' lists, or the file of a description",
        [PROG_TYPE_blocks] = "x,y,z of a grid (at most 2147483646,65534,65534), auto or all",
        [PROG_TYPE_budget] = "a time and memory, as in 90s,2G, auto for the time, or none"};
    if (row->type == PROG_TYPE_number)
        snprintf(text, size, "a number from %" PRIu64 " to %" PRIu64, row->least, row->most);
    else if (row->type == PROG_TYPE_choice)
        list_choices(row->choices, text, size);
    else if (row->type == PROG_TYPE_probes)
        list_probes(text, size);
    else
        snprintf(text, size, "%s", fixed[row->type]);
}
