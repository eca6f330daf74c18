/* A tree over moments: ranges are added to, the root has the peak. */
#include "analysis/objects/memory.h"

#include <stdlib.h>

static int by_moment(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t keep_each_once(uint32_t *moments, size_t count)
{
    uint32_t n = 0;
    if (count)
        qsort(moments, count, sizeof *moments, by_moment);
    for (size_t i = 0; i < count; i++)
        if (n == 0 || moments[n - 1] != moments[i])
            moments[n++] = moments[i];
    return n;
}

bool obj_memory_init(obj_memory *m, uint32_t *moments, size_t count)
{
    *m = (obj_memory){.moments = moments, .leaves = 1};
    m->count = keep_each_once(moments, count);
    while (m->leaves < m->count)
        m->leaves *= 2;
    m->add = calloc(2 * (size_t)m->leaves, sizeof *m->add);
    m->most = calloc(2 * (size_t)m->leaves, sizeof *m->most);
    return m->add && m->most;
}

void obj_memory_free(obj_memory *m)
{
    free(m->add);
    free(m->most);
    *m = (obj_memory){0};
}

/* The first moment that is not before. */
static uint32_t place_of_moment(const obj_memory *m, uint32_t moment)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->moments[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void update_node(obj_memory *m, uint32_t node)
{
    int64_t left = m->most[2 * node], right = m->most[2 * node + 1];
    m->most[node] = m->add[node] + (left > right ? left : right);
}

static void add_to_node(obj_memory *m, uint32_t node, int64_t bytes)
{
    m->add[node] += bytes;
    m->most[node] += bytes;
}

static void update_above(obj_memory *m, uint32_t node)
{
    for (node /= 2; node; node /= 2)
        update_node(m, node);
}

void obj_memory_add(obj_memory *m, uint32_t from, uint32_t to, int64_t bytes)
{
    uint32_t low = place_of_moment(m, from) + m->leaves, high = place_of_moment(m, to) + m->leaves;
    uint32_t first = low, last = high - 1;
    if (low >= high)
        return;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            add_to_node(m, low++, bytes);
        if (high & 1)
            add_to_node(m, --high, bytes);
    }
    update_above(m, first);
    update_above(m, last);
}

int64_t obj_memory_peak(const obj_memory *m)
{
    return m->most[1];
}

uint32_t obj_memory_peak_moment(const obj_memory *m)
{
    uint32_t node = 1;
    if (m->count == 0 || m->most[1] <= 0)
        return UINT32_MAX;
    while (node < m->leaves)
        node = 2 * node + (m->most[2 * node] < m->most[2 * node + 1]);
    return m->moments[node - m->leaves];
}
