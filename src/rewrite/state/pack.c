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

/* What of a run lies in [from, from + size). */
static void copy_part(const rewrite_run *run, const char *bytes, uint64_t from, char *out,
                      uint64_t size)
{
    uint64_t first = run->at > from ? run->at : from;
    uint64_t end = run->at + run->bytes < from + size ? run->at + run->bytes : from + size;
    if (first < end)
        memcpy(out + (first - from), bytes + (first - run->at), end - first);
}

void rewrite_unpack(const void *packed, uint64_t length, uint64_t from, void *out, uint64_t size)
{
    uint64_t nruns = rewrite_packed_runs(packed, length, NULL),
             at = HEAD + nruns * sizeof(rewrite_run);
    for (uint64_t i = 0; i < nruns; i++) {
        rewrite_run run;
        memcpy(&run, (const char *)packed + HEAD + i * sizeof run, sizeof run);
        if (run.bytes > length - at || run.at > UINT64_MAX - run.bytes)
            return;
        copy_part(&run, (const char *)packed + at, from, out, size);
        at += run.bytes;
    }
}
