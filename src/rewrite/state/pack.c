/* States without the pages that hold nothing. */
#include "rewrite/layout.h"

#include <string.h>

enum { HEAD = 16 }; /* u64 size of the state, u64 number of runs */

static uint64_t number_at(const void *packed, uint64_t at)
{
    uint64_t value;
    memcpy(&value, (const char *)packed + at, sizeof value);
    return value;
}

uint64_t rewrite_pack_head(const rewrite_run *runs, uint64_t nruns, uint64_t size, void *out)
{
    uint64_t head[] = {size, nruns};
    if (out) {
        memcpy(out, head, HEAD);
        memcpy((char *)out + HEAD, runs, nruns * sizeof *runs);
    }
    return HEAD + nruns * sizeof *runs;
}

uint64_t rewrite_packed_size(const void *packed, uint64_t length)
{
    return length < HEAD ? 0 : number_at(packed, 0);
}

bool rewrite_is_packed(const void *packed, uint64_t length)
{
    uint64_t nruns = length < HEAD ? UINT64_MAX : number_at(packed, 8);
    if (length < HEAD || nruns > (length - HEAD) / sizeof(rewrite_run))
        return false;
    uint64_t left = length - HEAD - nruns * sizeof(rewrite_run);
    for (uint64_t i = 0; i < nruns; i++) {
        rewrite_run run;
        memcpy(&run, (const char *)packed + HEAD + i * sizeof run, sizeof run);
        if (run.bytes > left)
            return false;
        left -= run.bytes;
    }
    return left == 0;
}

uint64_t rewrite_packed_runs(const void *packed, uint64_t length, rewrite_run *out)
{
    uint64_t nruns = length < HEAD ? 0 : number_at(packed, 8);
    if (nruns > (length - HEAD) / sizeof *out)
        return 0;
    if (out && nruns)
        memcpy(out, (const char *)packed + HEAD, nruns * sizeof *out);
    return nruns;
}

/* What of a run lies in [from, from + size): how much, and where it is in the run and in `size`
 * bytes. */
static uint64_t find_part(const rewrite_run *run, uint64_t from, uint64_t size, uint64_t *in_run,
                          uint64_t *in_bytes)
{
    uint64_t first = run->at > from ? run->at : from;
    uint64_t end = run->at + run->bytes < from + size ? run->at + run->bytes : from + size;
    *in_run = first - run->at;
    *in_bytes = first - from;
    return first < end ? end - first : 0;
}

/* Where the next run's bytes are: `at`, which becomes that of the one after it. False where there
 * is none, or it is damaged. */
static bool next_run(const void *packed, uint64_t length, uint64_t number, uint64_t *at,
                     rewrite_run *run)
{
    if (number >= rewrite_packed_runs(packed, length, NULL))
        return false;
    memcpy(run, (const char *)packed + HEAD + number * sizeof *run, sizeof *run);
    if (run->bytes > length - *at || run->at > UINT64_MAX - run->bytes)
        return false;
    *at += run->bytes;
    return true;
}

static uint64_t begin_of_runs(const void *packed, uint64_t length)
{
    return HEAD + rewrite_packed_runs(packed, length, NULL) * sizeof(rewrite_run);
}

void rewrite_unpack(const void *packed, uint64_t length, uint64_t from, void *out, uint64_t size)
{
    uint64_t end = begin_of_runs(packed, length), in_run, in_bytes;
    rewrite_run run;
    for (uint64_t i = 0; next_run(packed, length, i, &end, &run); i++) {
        const char *bytes = (const char *)packed + (end - run.bytes);
        uint64_t n = find_part(&run, from, size, &in_run, &in_bytes);
        if (n)
            memcpy((char *)out + in_bytes, bytes + in_run, n);
    }
}

void rewrite_repack(void *packed, uint64_t length, uint64_t from, const void *bytes, uint64_t size)
{
    uint64_t end = begin_of_runs(packed, length), in_run, in_bytes;
    rewrite_run run;
    for (uint64_t i = 0; next_run(packed, length, i, &end, &run); i++) {
        char *out = (char *)packed + (end - run.bytes);
        uint64_t n = find_part(&run, from, size, &in_run, &in_bytes);
        if (n)
            memcpy(out + in_run, (const char *)bytes + in_bytes, n);
    }
}
