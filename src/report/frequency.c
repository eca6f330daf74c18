/* How unevenly elements are accessed, as JSON and as a line of a finding. */
#include "report/impl.h"
#include "report/keys.h"

static uint64_t least_of_bin(uint32_t bin)
{
    return UINT64_C(1) << bin;
}

static uint64_t most_of_bin(const ana_frequency *f, uint32_t bin)
{
    uint64_t most = 2 * least_of_bin(bin) - 1;
    return most < f->most ? most : f->most;
}

static json_t *frequency_bin_json(const ana_frequency *f, uint32_t bin)
{
    json_t *row = json_object();
    rep_put_count(row, K(frequency_bin, least), least_of_bin(bin));
    rep_put_count(row, K(frequency_bin, most), most_of_bin(f, bin));
    rep_put_count(row, K(frequency_bin, elements), f->bins[bin].elements);
    rep_put_count(row, K(frequency_bin, accesses), f->bins[bin].accesses);
    return row;
}

static double hot_share_of(const ana_frequency *f)
{
    double hot = 0;
    for (int c = 0; c < WL_CLASSES; c++)
        hot += (double)f->hot[c];
    return f->accesses ? hot / (double)f->accesses : 0;
}

json_t *rep_frequency_json(const ana_frequency *f)
{
    json_t *row = json_object(), *bins = json_array();
    for (uint32_t i = 0; i < sizeof f->bins / sizeof *f->bins; i++)
        if (f->bins[i].elements)
            json_array_append_new(bins, frequency_bin_json(f, i));
    rep_put_count(row, K(frequency, launch), f->launch);
    rep_put_count(row, K(frequency, elements), f->elements);
    rep_put_number(row, K(frequency, mean), f->mean);
    rep_put_number(row, K(frequency, variation), f->variation);
    rep_put_count(row, K(frequency, most), f->most);
    rep_put_count(row, K(frequency, hot_offset), f->first * OBS_WORD_BYTES);
    rep_put_count(row, K(frequency, hot_bytes), f->count * OBS_WORD_BYTES);
    rep_put_number(row, K(frequency, hot_share), hot_share_of(f));
    rep_put(row, K(frequency, histogram), bins);
    return row;
}

/* "1 time: 3,000; 2 to 3 times: 512" */
const char *rep_frequency_text(wl_arena *arena, const ana_frequency *f)
{
    const char *text = "";
    for (uint32_t i = 0; text && i < sizeof f->bins / sizeof *f->bins; i++) {
        uint64_t least = least_of_bin(i), most = most_of_bin(f, i);
        if (!f->bins[i].elements)
            continue;
        const char *upto = most > least ? wl_arena_printf(arena, " to %s", rep_count(arena, most))
                                        : "";
        text = wl_arena_printf(arena, "%s%s%s%s time%s: %s", text, *text ? "; " : "",
                               rep_count(arena, least), upto, most == 1 ? "" : "s",
                               rep_count(arena, f->bins[i].elements));
    }
    return text;
}
