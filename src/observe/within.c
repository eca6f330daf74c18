#include "observe/within.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames ---- */

obs_frame *obs_frame_new(const obs_read_plan *plan, uint32_t warps)
{
    obs_frame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return NULL;
    frame->epoch = 1;
    if (!plan->fills || (frame->reads = obs_reads_new(plan, warps)))
        return frame;
    free(frame);
    return NULL;
}

static uint64_t nstamp_pages(const obs_part *part)
{
    return (part->elements + OBS_STAMPS - 1) / OBS_STAMPS;
}

static void free_stamps(obs_stamps *page)
{
    for (obs_stamps *next; page; page = next) {
        next = page->next;
        free(page);
    }
}

static void part_free(obs_part *part)
{
    if (part) {
        free_stamps(part->linked);
        free(part->stamps);
        free(part->accesses);
        free(part->origins);
    }
    free(part);
}

void obs_frame_free(obs_frame *frame)
{
    for (uint32_t i = 0; i < frame->count; i++)
        part_free(frame->parts[i]);
    free_stamps(frame->spare);
    obs_reads_free(frame->reads);
    free(frame->parts);
    free(frame->touched);
    free(frame);
}

static bool make_room_for_part(obs_frame *frame, uint32_t table)
{
    uint32_t count = frame->count ? frame->count : 16;
    if (table < frame->count)
        return true;
    while (count <= table)
        count *= 2;
    obs_part **parts = realloc(frame->parts, count * sizeof(obs_part *));
    if (!parts)
        return false;
    frame->parts = parts;
    uint32_t *touched = realloc(frame->touched, count * sizeof *touched);
    if (!touched)
        return false;
    frame->touched = touched;
    memset(parts + frame->count, 0, (count - frame->count) * sizeof(obs_part *));
    frame->count = count;
    return true;
}

static obs_part *new_part(obs_frame *frame, uint64_t elements, bool array, obs_within *sums)
{
    obs_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    *part = (obs_part){.frame = frame, .sums = sums, .array = array, .elements = elements};
    if (!array)
        return part;
    part->low = elements;
    part->accesses = calloc(elements + 1, sizeof *part->accesses);
    part->origins = calloc(elements + 1, 1);
    if (part->accesses && part->origins)
        return part;
    part_free(part);
    return NULL;
}

obs_part *obs_frame_part(obs_frame *frame, uint32_t table, uint64_t elements, bool array,
                         obs_within *sums)
{
    if (!make_room_for_part(frame, table))
        return NULL;
    obs_part **part = &frame->parts[table];
    if (!*part && !(*part = new_part(frame, elements, array, sums)))
        return NULL;
    if ((*part)->epoch != frame->epoch)
        frame->touched[frame->ntouched++] = table;
    (*part)->epoch = frame->epoch;
    return *part;
}

/* ---- live ranges ---- */

static uint32_t class_of_range(uint32_t accesses)
{
    if (accesses < OBS_LIVE_EXACT)
        return accesses;
    return OBS_LIVE_EXACT + 27 - (uint32_t)__builtin_clz(accesses);
}

/* The ranges of words that had the same accesses and began alike end. */
static void end_ranges(obs_within *sums, uint8_t origin, uint32_t accesses, uint64_t words)
{
    if (!origin) {
        sums->unfilled += words * accesses;
        return;
    }
    sums->ranges[origin - 1] += words;
    sums->range_accesses[origin - 1] += words * accesses;
    sums->live[origin - 1][class_of_range(accesses)] += words;
}

static void end_words(obs_part *part, uint64_t first, uint64_t end)
{
    for (uint64_t from = first, to; from < end; from = to) {
        uint8_t origin = part->origins[from];
        uint32_t accesses = part->accesses[from];
        for (to = from + 1;
             to < end && part->origins[to] == origin && part->accesses[to] == accesses;)
            to++;
        end_ranges(part->sums, origin, accesses, to - from);
    }
}

static void widen_touched(obs_part *part, uint64_t first, uint64_t end)
{
    part->low = first < part->low ? first : part->low;
    part->high = end > part->high ? end : part->high;
}

void obs_part_access(obs_part *part, uint64_t first, uint64_t end, uint32_t times)
{
    uint32_t *accesses = part->accesses;
    widen_touched(part, first, end);
    part->adds += (end - first) * times;
    for (uint64_t w = first; w < end; w++)
        accesses[w] += times;
}

void obs_part_begin(obs_part *part, uint64_t first, uint64_t end, obs_origin origin)
{
    widen_touched(part, first, end);
    end_words(part, first, end);
    part->adds += end - first;
    memset(part->accesses + first, 0, (end - first) * sizeof *part->accesses);
    memset(part->origins + first, (int)origin + 1, end - first);
}

/* Words whose accesses were more than a counter holds cannot be told. */
static void end_array(obs_part *part)
{
    uint64_t words = 0;
    for (uint64_t w = part->low; w < part->high; w++)
        words += (part->origins[w] | part->accesses[w]) != 0;
    part->words = words;
    part->sums->lost_ranges |= part->adds > UINT32_MAX;
    part->sums->lost_words |= part->adds > UINT32_MAX;
    if (part->high <= part->low)
        return;
    end_words(part, part->low, part->high);
    memset(part->accesses + part->low, 0, (part->high - part->low) * sizeof *part->accesses);
    memset(part->origins + part->low, 0, part->high - part->low);
    part->low = part->elements;
    part->high = 0;
}

/* ---- objects ---- */

/* A page that no block has at the moment; NULL: there is no room for one more. */
static obs_stamps *take_stamps(obs_frame *frame, obs_stamp_room room)
{
    obs_stamps *page = frame->spare;
    if (page) {
        frame->spare = page->next;
        return page;
    }
    return __atomic_add_fetch(room.used, sizeof *page, __ATOMIC_RELAXED) <= room.most
               ? calloc(1, sizeof *page)
               : NULL;
}

static obs_stamps *stamp_page(obs_part *part, uint64_t number, obs_stamp_room room)
{
    uint64_t bytes = nstamp_pages(part) * sizeof(obs_stamps *);
    if (part->stamps && part->stamps[number])
        return part->stamps[number];
    if (!part->stamps && (__atomic_add_fetch(room.used, bytes, __ATOMIC_RELAXED) > room.most ||
                          !(part->stamps = calloc(nstamp_pages(part), sizeof(obs_stamps *)))))
        return NULL;
    obs_stamps *page = take_stamps(part->frame, room);
    if (!page)
        return NULL;
    page->page = number;
    page->next = part->linked;
    part->linked = page;
    return part->stamps[number] = page;
}

static uint32_t stamp_elements(uint16_t *stamps, uint64_t count, uint16_t epoch)
{
    uint32_t fresh = 0;
    for (uint64_t i = 0; i < count; i++) {
        fresh += stamps[i] != epoch;
        stamps[i] = epoch;
    }
    return fresh;
}

static void stamp(obs_part *part, uint64_t first, uint64_t end, obs_stamp_room room)
{
    for (uint64_t from = first, to; from < end; from = to) {
        obs_stamps *page = stamp_page(part, from / OBS_STAMPS, room);
        to = (from / OBS_STAMPS + 1) * OBS_STAMPS;
        to = to < end ? to : end;
        if (page)
            part->words += stamp_elements(page->of + from % OBS_STAMPS, to - from, part->epoch);
        part->sums->lost_words |= !page;
    }
}

/* The block's pages are the next one's, wherever that accesses something. */
static void give_stamps_back(obs_part *part)
{
    obs_frame *frame = part->frame;
    for (obs_stamps *page; (page = part->linked);) {
        part->stamps[page->page] = NULL;
        part->linked = page->next;
        page->next = frame->spare;
        frame->spare = page;
    }
}

void obs_part_touch(obs_part *part, uint64_t first, uint64_t end, uint32_t times,
                    obs_stamp_room room)
{
    part->adds += (end - first) * times;
    if (first >= part->seen && end <= part->seen_end)
        return;
    part->seen = first;
    part->seen_end = end;
    if (!part->sums->lost_words)
        stamp(part, first, end, room);
}

/* ---- the block's end ---- */

static void end_block_part(obs_part *part)
{
    obs_within *sums = part->sums;
    if (part->array)
        end_array(part);
    give_stamps_back(part);
    sums->words += part->words;
    sums->words_most = part->words > sums->words_most ? part->words : sums->words_most;
    sums->accesses += part->adds;
    part->words = part->adds = part->seen = part->seen_end = 0;
}

/* The epochs have run out: no stamp may look like one of the next. No block has a page. */
static void clear_stamps(obs_frame *frame)
{
    for (obs_stamps *page = frame->spare; page; page = page->next)
        memset(page->of, 0, sizeof page->of);
    for (uint32_t i = 0; i < frame->count; i++)
        if (frame->parts[i])
            frame->parts[i]->epoch = 0;
}

void obs_frame_end(obs_frame *frame)
{
    for (uint32_t i = 0; i < frame->ntouched; i++)
        end_block_part(frame->parts[frame->touched[i]]);
    frame->ntouched = 0;
    if (frame->reads)
        obs_reads_clear(frame->reads);
    if (++frame->epoch == 0) {
        clear_stamps(frame);
        frame->epoch = 1;
    }
}
