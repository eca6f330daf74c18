/* objects: which memory instructions ran.
 *
 * Needs: the guard of the site. Keeps: everything. Buffers: a bit a site. A site sets its bit in a register; what the copy
 * knows by then is published once, when the thread leaves, and only what was not known when it came. Which object an
 * instruction accessed follows from its parameter (rewrite_site.param); where that is not known, from the ranges (ranges.c). */
#include "rewrite/internal.h"

/* Sites beyond the registers publish at once. */
enum { MAX_WORDS = 8 };

static uint32_t words(const rw_body *b)
{
    uint32_t n = (b->plan->nsites + 31) / 32;
    return n < MAX_WORDS ? n : MAX_WORDS;
}

/* Does the copy's function have sites in the word? */
static bool uses(const rw_body *b, uint32_t word)
{
    uint32_t first = b->plan->site_first[b->f->first_pc],
             end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    return first < end && first / 32 <= word && word <= (end - 1) / 32;
}

static void declare(rw_body *b)
{
    for (uint32_t w = 0; w < words(b); w++)
        if (uses(b, w))
            rw_line(b, ".reg .b32 __wl_seen%u, __wl_known%u;", w, w);
}

static void enter(rw_body *b)
{
    for (uint32_t w = 0; w < words(b); w++)
        if (uses(b, w)) {
            rw_line(b, "mov.u32 __wl_seen%u, 0;", w);
            rw_line(b, "ld.global.u32 __wl_known%u, [__wl_state+%u];", w,
                    b->plan->out->bits_at + 4 * w);
        }
}

static void see(rw_body *b, uint32_t site)
{
    uint32_t word = site / 32, bit = 1u << site % 32, at = b->plan->out->bits_at + 4 * word;
    const char *guard = b->guard.text;
    if (word < MAX_WORDS) {
        rw_line(b, "%s%s%sor.b32 __wl_seen%u, __wl_seen%u, %u;", *guard ? "@" : "", guard,
                *guard ? " " : "", word, word, bit);
        return;
    }
    rw_line(b, "ld.global.u32 __wl_t, [__wl_state+%u];", at);
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", bit);
    rw_line(b, "setp.eq%s.u32 __wl_p, __wl_t, 0%s%s;", *guard ? ".and" : "", *guard ? ", " : "",
            guard);
    rw_line(b, "@__wl_p red.global.or.b32 [__wl_state+%u], %u;", at, bit);
}

/* The lanes that leave together publish together where the architecture can reduce over them. */
static void publish(rw_body *b, uint32_t word)
{
    rw_line(b, "not.b32 __wl_t, __wl_known%u;", word);
    rw_line(b, "and.b32 __wl_t, __wl_t, __wl_seen%u;", word);
    if (rw_can_reduce(b->plan->module))
        rw_line(b, "redux.sync.or.b32 __wl_t, __wl_t, __wl_active;");
    rw_line(b, "setp.ne%s.u32 __wl_p, __wl_t, 0%s;", rw_can_reduce(b->plan->module) ? ".and" : "",
            rw_can_reduce(b->plan->module) ? ", __wl_leads" : "");
    rw_line(b, "@__wl_p red.global.or.b32 [__wl_state+%u], __wl_t;",
            b->plan->out->bits_at + 4 * word);
}

static void leave(rw_body *b)
{
    const rw_guard none = {""};
    if (rw_can_reduce(b->plan->module))
        rw_group(b, &none);
    for (uint32_t w = 0; w < words(b); w++)
        if (uses(b, w))
            publish(b, w);
}

const rw_pass rw_objects_pass = {.probes = 1u << REWRITE_OBJECTS,
                                 .declare = declare,
                                 .enter = enter,
                                 .access = see,
                                 .leave = leave};
