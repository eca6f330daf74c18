/* Kernels' code in the HTML report's data: what was measured, and the other forms that are listed. */
#include "report/impl.h"
#include "report/keys.h"

#include <stdlib.h>
#include <string.h>

uint32_t rep_first_code_of(const rep_data *d, uint32_t kernel)
{
    uint32_t low = 0, high = d->code.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->code.rows[middle].kernel < kernel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const prof_block *rep_first_block_of(const rep_data *d, uint32_t kernel)
{
    if (rep_has_gaps(d, kernel))
        return NULL;
    for (uint32_t i = 0; i < d->blocks.count; i++)
        if (d->blocks.rows[i].kernel == kernel)
            return &d->blocks.rows[i];
    return NULL;
}

const prof_block *rep_block_at(const rep_data *d, const prof_block **at, uint32_t kernel,
                               uint32_t pc)
{
    const prof_block *end = d->blocks.rows + d->blocks.count;
    while (*at && *at < end && (*at)->kernel == kernel && (*at)->first_pc + (*at)->ninsns <= pc)
        (*at)++;
    bool found = *at && *at < end && (*at)->kernel == kernel && (*at)->first_pc <= pc;
    return found ? *at : NULL;
}

static json_t *code_row_json(uint32_t pc, const char *text, uint32_t file, uint32_t line,
                             uint32_t ptx_line)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_code, pc), pc);
    rep_put_text(row, K(page_code, text), text);
    if (file && line) {
        rep_put_count(row, K(page_code, file), file);
        rep_put_count(row, K(page_code, line), line);
    }
    if (ptx_line)
        rep_put_count(row, K(page_code, ptx_line), ptx_line);
    return row;
}

static json_t *measured_code_json(const rep_data *d, uint32_t kernel)
{
    json_t *code = json_array();
    const prof_block *at = rep_first_block_of(d, kernel);
    for (uint32_t i = rep_first_code_of(d, kernel);
         i < d->code.count && d->code.rows[i].kernel == kernel; i++) {
        const prof_code *c = &d->code.rows[i];
        json_t *row = code_row_json(c->pc, c->text, c->file, c->line, c->ptx_line);
        const prof_block *block = rep_block_at(d, &at, kernel, c->pc);
        if (block)
            rep_put_count(row, K(page_code, executions), block->executions);
        json_array_append_new(code, row);
    }
    return code;
}

static json_t *listed_code_json(const prof_listing *l)
{
    json_t *code = json_array();
    for (uint32_t i = 0; l->insns && i < l->ninsns; i++) {
        const prof_listed *c = &l->insns[i];
        json_array_append_new(code, code_row_json(i, c->text, c->file, c->line, c->ptx_line));
    }
    return code;
}

/* The code becomes a part, as long as there is room, which `key` of the row names. Takes the code. */
static bool put_code_part(json_t *row, const char *key, json_t *code, uint64_t *room,
                          rep_parts *parts)
{
    char *text = json_array_size(code) ? json_dumps(code, JSON_COMPACT) : NULL;
    rep_part part = {0};
    bool fits = text && rep_gzip(text, strlen(text), &part) && part.size <= *room;
    if (fits) {
        rep_put_count(row, key, parts->count);
        *room -= part.size;
        rep_add_part(parts, part);
    } else {
        free(part.data);
    }
    free(text);
    json_decref(code);
    return fits;
}

static const char *form_of(uint32_t kind)
{
    return kind == CAP_MODULE_CUBIN ? "sass" : "ptx";
}

static json_t *listing_json(const prof_listing *l, rep_parts *parts)
{
    json_t *row = json_object();
    rep_put_text(row, K(page_listing, form), form_of(l->kind));
    if (l->sm)
        rep_put_count(row, K(page_listing, sm), l->sm);
    if (l->device_sm)
        rep_put_count(row, K(page_listing, device_sm), l->device_sm);
    if (l->ninsns)
        rep_put_count(row, K(page_listing, instructions), l->ninsns);
    bool put = put_code_part(row, K(page_listing, code), listed_code_json(l), &parts->listing_room,
                             parts);
    if (l->missing[0])
        rep_put_text(row, K(page_listing, missing), l->missing);
    else if (!put)
        rep_put_text(row, K(page_listing, missing), "the report has no room for it");
    if (l->apart[0])
        rep_put_text(row, K(page_listing, apart), l->apart);
    return row;
}

static void put_listings(json_t *row, const rep_data *d, uint32_t kernel, rep_parts *parts)
{
    json_t *listings = json_array();
    for (uint32_t i = 0; i < d->listings.count; i++)
        if (d->listings.rows[i].kernel == kernel)
            json_array_append_new(listings, listing_json(&d->listings.rows[i], parts));
    if (json_array_size(listings))
        rep_put(row, K(page_kernel, listings), listings);
    else
        json_decref(listings);
}

void rep_put_code(json_t *row, const rep_data *d, uint32_t kernel, rep_parts *parts)
{
    const prof_kernel *k = prof_find_kernel(&d->kernels, kernel);
    if (k && k->ncode)
        rep_put_text(row, K(page_kernel, code_form), form_of(k->module_kind));
    put_code_part(row, K(page_kernel, code), measured_code_json(d, kernel), &parts->code_room,
                  parts);
    put_listings(row, d, kernel, parts);
}
