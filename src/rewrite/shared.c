/* shared: how often each element of shared memory was loaded, stored, updated.
 *
 * Needs: counts.c. Keeps: everything. Buffers: a u32 for each class and element, by address. */
#include "rewrite/internal.h"

#include <stddef.h>

static void declare_shared(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_shared;\n\t.reg .b32 __wl_limit;\n");
}

static void enter_shared(rw_body *b)
{
    rw_line(b, "ld.global.u64 __wl_shared, [__wl_state+%zu];", offsetof(rewrite_state, shared));
    rw_line(b, "ld.global.u32 __wl_limit, [__wl_state+%zu];",
            offsetof(rewrite_state, shared_bytes));
}

/* __wl_counted: the lane accesses shared memory, and where it is counted. __wl_lo: the address. */
static void find_counted(rw_body *b, const rewrite_site *s)
{
    const char *shared = b->guard.text;
    rw_line(b, "cvt.u32.u64 __wl_lo, __wl_a;");
    if (s->flags & REWRITE_GENERIC) {
        rw_line(b, "shr.u64 __wl_x, __wl_a, 62;");
        rw_line(b, "setp.eq%s.u64 __wl_q, __wl_x, 1%s%s;", *shared ? ".and" : "",
                *shared ? ", " : "", shared);
        shared = "__wl_q";
    }
    const char *and = *shared ? ".and" : "", *comma = *shared ? ", " : "";
    rw_line(b, "setp.ge%s.u32 __wl_p, __wl_lo, __wl_limit%s%s;", and, comma, shared);
    rw_line(b, "setp.lt%s.u32 __wl_counted, __wl_lo, __wl_limit%s%s;", and, comma, shared);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_state+%zu], 1;", offsetof(rewrite_state, missed));
}

static void count_shared(rw_body *b, uint32_t site)
{
    const rewrite_site *s = &b->plan->sites[site];
    if (s->space != PTX_SPACE_SHARED && s->space != PTX_SPACE_GENERIC)
        return;
    find_counted(b, s);
    rw_text(b, "\tand.b32 __wl_lo, __wl_lo, -4;\n"
               "\tcvt.u64.u32 __wl_x, __wl_lo;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_shared;\n");
    if (rewrite_class(s))
        rw_line(b, "mad.wide.u32 __wl_x, __wl_limit, %u, __wl_x;", rewrite_class(s));
    rw_count(b, site);
}

const rw_pass rw_shared_pass = {.probes = 1u << REWRITE_SHARED,
                                .declare = declare_shared,
                                .enter = enter_shared,
                                .access = count_shared};
