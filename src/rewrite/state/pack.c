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

static rewrite_run run_at(const void *packed, uint64_t number)
{
    rewrite_run run;
    memcpy(&run, (const char *)packed + HEAD + number * sizeof run, sizeof run);
    return run;
}

static bool is_run_narrow(const rewrite_run *run)
{
    return run->bytes & REWRITE_NARROW;
}

/* In the state. */
static uint64_t whole_bytes(const rewrite_run *run)
{
    return run->bytes & ~REWRITE_NARROW;
}

/* As they are kept. */
static uint64_t kept_bytes(const rewrite_run *run)
{
    return is_run_narrow(run) ? whole_bytes(run) / sizeof(uint32_t) : run->bytes;
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
        rewrite_run run = run_at(packed, i);
        if (kept_bytes(&run) > left)
            return false;
        left -= kept_bytes(&run);
    }
    return left == 0;
}

uint64_t rewrite_packed_runs(const void *packed, uint64_t length, rewrite_run *out)
{
    uint64_t nruns = length < HEAD ? 0 : number_at(packed, 8);
    if (nruns > (length - HEAD) / sizeof *out)
        return 0;
    for (uint64_t i = 0; out && i < nruns; i++) {
        rewrite_run run = run_at(packed, i);
        out[i] = (rewrite_run){run.at, whole_bytes(&run)};
    }
    return nruns;
}

/* What of a run lies in [from, from + size): how much, and where it is in the run and in `size`
 * bytes. */
static uint64_t find_part(const rewrite_run *run, uint64_t from, uint64_t size, uint64_t *in_run,
                          uint64_t *in_bytes)
{
    uint64_t run_end = run->at + whole_bytes(run);
    uint64_t first = run->at > from ? run->at : from;
    uint64_t end = run_end < from + size ? run_end : from + size;
    *in_run = first - run->at;
    *in_bytes = first - from;
    return first < end ? end - first : 0;
}

/* The run, whose bytes begin at `at`, which becomes where they end. False where there is none, or it
 * is damaged. */
static bool next_packed_run(const void *packed, uint64_t length, uint64_t number, uint64_t *at,
                            rewrite_run *run)
{
    if (number >= rewrite_packed_runs(packed, length, NULL))
        return false;
    *run = run_at(packed, number);
    if (kept_bytes(run) > length - *at || run->at > UINT64_MAX - whole_bytes(run) ||
        (is_run_narrow(run) && whole_bytes(run) % sizeof(uint32_t)))
        return false;
    *at += kept_bytes(run);
    return true;
}

static uint64_t begin_of_runs(const void *packed, uint64_t length)
{
    return HEAD + rewrite_packed_runs(packed, length, NULL) * sizeof(rewrite_run);
}

/* `n` bytes from `from` on of the numbers that the bytes stand for, into zeros. */
static void widen_run(const uint8_t *bytes, uint64_t from, uint64_t n, char *out)
{
    const uint64_t each = sizeof(uint32_t);
    uint64_t first = (from + each - 1) / each, end = (from + n) / each;
    for (uint64_t i = first; i < end; i++) {
        uint32_t number = bytes[i];
        memcpy(out + (i * each - from), &number, sizeof number);
    }
    if (end >= first && end * each < from + n)
        out[end * each - from] = (char)bytes[end];
}

void rewrite_unpack(const void *packed, uint64_t length, uint64_t from, void *out, uint64_t size)
{
    uint64_t end = begin_of_runs(packed, length), in_run, in_bytes;
    rewrite_run run;
    for (uint64_t i = 0; next_packed_run(packed, length, i, &end, &run); i++) {
        const char *bytes = (const char *)packed + (end - kept_bytes(&run));
        uint64_t n = find_part(&run, from, size, &in_run, &in_bytes);
        if (n && is_run_narrow(&run))
            widen_run((const uint8_t *)bytes, in_run, n, (char *)out + in_bytes);
        else if (n)
            memcpy((char *)out + in_bytes, bytes + in_run, n);
    }
}

void rewrite_repack(void *packed, uint64_t length, uint64_t from, const void *bytes, uint64_t size)
{
    uint64_t end = begin_of_runs(packed, length), in_run, in_bytes;
    rewrite_run run;
    for (uint64_t i = 0; next_packed_run(packed, length, i, &end, &run); i++) {
        char *out = (char *)packed + (end - kept_bytes(&run));
        uint64_t n = find_part(&run, from, size, &in_run, &in_bytes);
        if (n && !is_run_narrow(&run))
            memcpy(out + in_run, (const char *)bytes + in_bytes, n);
    }
}

/* ---- small numbers ---- */

static bool are_small(const char *bytes, uint64_t count)
{
    uint32_t all = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, bytes + i * sizeof number, sizeof number);
        all |= number;
    }
    return all <= UINT8_MAX;
}

/* `out` may be where the numbers begin, or before. */
static void keep_low_bytes(const char *bytes, uint64_t count, char *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = bytes[i * sizeof(uint32_t)];
}

uint64_t rewrite_narrow(void *packed, uint64_t length)
{
    uint64_t end = begin_of_runs(packed, length), to = end;
    rewrite_run run;
    for (uint64_t i = 0; next_packed_run(packed, length, i, &end, &run); i++) {
        const char *bytes = (const char *)packed + (end - kept_bytes(&run));
        uint64_t count = run.bytes / sizeof(uint32_t);
        if (!is_run_narrow(&run) && run.bytes % sizeof(uint32_t) == 0 && are_small(bytes, count)) {
            keep_low_bytes(bytes, count, (char *)packed + to);
            run.bytes |= REWRITE_NARROW;
            memcpy((char *)packed + HEAD + i * sizeof run, &run, sizeof run);
        } else {
            memmove((char *)packed + to, bytes, kept_bytes(&run));
        }
        to += kept_bytes(&run);
    }
    return to;
}
