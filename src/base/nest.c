#include "base/nest.h"

#include <string.h>

static uint64_t end_of_item(const wl_nested *item)
{
    return item->base + item->bytes;
}

/* The number of items that begin at the address or before it. */
static size_t items_up_to(const wl_nest *nest, uint64_t address)
{
    size_t low = 0, high = nest->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nest->items.data[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

wl_nested *wl_nest_at(const wl_nest *nest, uint64_t address, uint64_t *low, uint64_t *high)
{
    size_t n = items_up_to(nest, address);
    wl_nested *item = n ? nest->items.data[n - 1] : NULL;
    uint64_t from = item ? item->base : 0;
    while (item && address >= end_of_item(item)) { /* it ends before the address */
        from = end_of_item(item);
        item = item->around;
    }
    *low = from > *low ? from : *low;
    if (n < nest->items.count && nest->items.data[n]->base < *high)
        *high = nest->items.data[n]->base;
    if (item && end_of_item(item) < *high)
        *high = end_of_item(item);
    return item;
}

wl_nested *wl_nest_within(const wl_nest *nest, uint64_t base, uint64_t bytes)
{
    size_t n = items_up_to(nest, base + bytes - 1);
    wl_nested *last = n ? nest->items.data[n - 1] : NULL;
    return last && last->base >= base ? last : NULL;
}

wl_nested *wl_nest_in_the_way(const wl_nest *nest, uint64_t base, uint64_t bytes)
{
    uint64_t end = base + bytes;
    for (size_t n = items_up_to(nest, end - 1); n > 0; n--) {
        wl_nested *item = nest->items.data[n - 1];
        bool around = item->base <= base && end_of_item(item) >= end;
        if (!around && end_of_item(item) > base)
            return item;
        if (item->base <= base)
            break;
    }
    uint64_t low = 0, high = UINT64_MAX;
    wl_nested *item = wl_nest_at(nest, base, &low, &high);
    return item && end_of_item(item) < end ? item : NULL;
}

bool wl_nest_add(wl_nest *nest, wl_nested *item)
{
    uint64_t low = 0, high = UINT64_MAX;
    size_t at = items_up_to(nest, item->base);
    item->around = wl_nest_at(nest, item->base, &low, &high);
    if (!wl_push(&nest->items, item))
        return false;
    wl_nested **data = nest->items.data;
    memmove(data + at + 1, data + at, (nest->items.count - 1 - at) * sizeof(wl_nested *));
    data[at] = item;
    return true;
}

void wl_nest_remove(wl_nest *nest, wl_nested *item)
{
    wl_nested **data = nest->items.data;
    size_t at = items_up_to(nest, item->base);
    while (at > 0 && data[at - 1] != item)
        at--;
    if (at == 0)
        return;
    for (size_t i = at; i < nest->items.count && data[i]->base < end_of_item(item); i++)
        if (data[i]->around == item)
            data[i]->around = item->around;
    nest->items.count--;
    memmove(data + at - 1, data + at, (nest->items.count - (at - 1)) * sizeof(wl_nested *));
}

void wl_nest_free(wl_nest *nest)
{
    wl_vec_free(&nest->items);
}
