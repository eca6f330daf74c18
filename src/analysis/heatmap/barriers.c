#include "analysis/heatmap/barriers.h"

#include "analysis/shared/order.h"

#include <string.h>

/* "bar.sync", "barrier.sync.aligned", but not "bar.warp.sync". */
static bool is_barrier(const char *op)
{
    static const char *const names[] = {"bar.", "barrier."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(op, names[i], strlen(names[i])) == 0)
            return strncmp(op + strlen(names[i]), "warp", 4) != 0;
    return false;
}

static bool has_barriers(const ana_input *input)
{
    for (uint32_t i = 0; i < input->code.count; i++)
        if (is_barrier(input->code.rows[i].op))
            return true;
    return input->code.count == 0; /* not known */
}

barriers_order barriers_of(const ana_input *input)
{
    order_barriers all;
    wl_error err;
    footprint_order most = FOOTPRINT_APART, least = FOOTPRINT_BLOCK;
    if (!has_barriers(input))
        return BARRIERS_NONE;
    if (order_of(input, &all, &err) != WL_OK || !all.known || !all.count)
        return BARRIERS_MAY_ORDER;
    for (uint32_t i = 0; i < all.count; i++)
        most = all.rows[i].needs > most ? all.rows[i].needs : most;
    for (uint32_t i = 0; i < all.count; i++)
        least = all.rows[i].needs < least ? all.rows[i].needs : least;
    return least < FOOTPRINT_BLOCK && most == FOOTPRINT_BLOCK ? BARRIERS_SOME_ORDER
           : most == FOOTPRINT_APART                          ? BARRIERS_ORDER_NOTHING
           : most == FOOTPRINT_WARPS                          ? BARRIERS_ORDER_WARPS
                                                              : BARRIERS_MAY_ORDER;
}
