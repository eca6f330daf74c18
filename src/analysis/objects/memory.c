/* Blocks of places, and a tree over the blocks: ranges are added to, the root has the peak. */
#include "analysis/objects/memory.h"

#include <stdlib.h>

enum { WORD = 64, BLOCK = 32 };

/* ---- places ---- */

bool obj_memory_init(obj_memory *m, uint32_t end)
{
    *m = (obj_memory){.words = end / WORD + 1};
    m->marks = calloc(m->words, sizeof *m->marks);
    m->before = calloc(m->words, sizeof *m->before);
    return m->marks && m->before;
}

void obj_memory_mark(obj_memory *m, uint32_t moment)
{
    if (moment / WORD < m->words)
        m->marks[moment / WORD] |= UINT64_C(1) << moment % WORD;
}

bool obj_memory_begin(obj_memory *m)
{
    for (uint32_t i = 0; i < m->words; i++) {
        m->before[i] = m->count;
        m->count += (uint32_t)__builtin_popcountll(m->marks[i]);
    }
    for (m->leaves = 1; m->leaves < (m->count + BLOCK - 1) / BLOCK;)
        m->leaves *= 2;
    m->bytes = calloc((size_t)m->leaves * BLOCK, sizeof *m->bytes);
    m->add = calloc(2 * (size_t)m->leaves, sizeof *m->add);
    m->most = calloc(2 * (size_t)m->leaves, sizeof *m->most);
    return m->bytes && m->add && m->most;
}

void obj_memory_free(obj_memory *m)
{
    free(m->marks);
    free(m->before);
    free(m->bytes);
    free(m->add);
    free(m->most);
    *m = (obj_memory){0};
}

uint32_t obj_memory_place(const obj_memory *m, uint32_t moment)
{
    uint32_t word = moment / WORD;
    if (word >= m->words)
        return m->count;
    uint64_t below = (UINT64_C(1) << moment % WORD) - 1;
    return m->before[word] + (uint32_t)__builtin_popcountll(m->marks[word] & below);
}

uint32_t obj_memory_moment(const obj_memory *m, uint32_t place)
{
    uint32_t low = 0, high = m->words;
    if (place >= m->count)
        return UINT32_MAX;
    while (high - low > 1) { /* the last word with no more than `place` before it */
        uint32_t middle = low + (high - low) / 2;
        if (m->before[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    uint64_t marks = m->marks[low];
    for (uint32_t i = m->before[low]; i < place; i++)
        marks &= marks - 1;
    return low * WORD + (uint32_t)__builtin_ctzll(marks);
}

/* ---- the tree ---- */

static void update_leaf(obj_memory *m, uint32_t leaf)
{
    const int64_t *bytes = &m->bytes[(size_t)leaf * BLOCK];
    int64_t most = bytes[0];
    for (uint32_t i = 1; i < BLOCK; i++)
        most = bytes[i] > most ? bytes[i] : most;
    m->most[m->leaves + leaf] = m->add[m->leaves + leaf] + most;
}

static void update_node(obj_memory *m, uint32_t node)
{
    int64_t left = m->most[2 * node], right = m->most[2 * node + 1];
    m->most[node] = m->add[node] + (left > right ? left : right);
}

static void update_above(obj_memory *m, uint32_t node)
{
    for (node /= 2; node; node /= 2)
        update_node(m, node);
}

static void add_to_node(obj_memory *m, uint32_t node, int64_t bytes)
{
    m->add[node] += bytes;
    m->most[node] += bytes;
}

static void add_to_blocks(obj_memory *m, uint32_t first, uint32_t end, int64_t bytes)
{
    for (first += m->leaves, end += m->leaves; first < end; first /= 2, end /= 2) {
        if (first & 1)
            add_to_node(m, first++, bytes);
        if (end & 1)
            add_to_node(m, --end, bytes);
    }
}

static void add_in_block(obj_memory *m, uint32_t from, uint32_t to, int64_t bytes)
{
    for (uint32_t i = from; i < to; i++)
        m->bytes[i] += bytes;
    if (from < to)
        update_leaf(m, from / BLOCK);
}

void obj_memory_add(obj_memory *m, uint32_t from, uint32_t to, int64_t bytes)
{
    uint32_t first = (from + BLOCK - 1) / BLOCK, end = to / BLOCK;
    if (from >= to || bytes == 0)
        return;
    if (first > end) {
        add_in_block(m, from, to, bytes);
    } else {
        add_in_block(m, from, first * BLOCK, bytes);
        add_in_block(m, end * BLOCK, to, bytes);
        add_to_blocks(m, first, end, bytes);
    }
    update_above(m, m->leaves + from / BLOCK);
    if (from / BLOCK != (to - 1) / BLOCK)
        update_above(m, m->leaves + (to - 1) / BLOCK);
}

/* ---- what is in use at first ---- */

void obj_memory_clear(obj_memory *m)
{
    for (size_t i = 0; i < (size_t)m->leaves * BLOCK; i++)
        m->bytes[i] = 0;
    for (size_t i = 0; i < 2 * (size_t)m->leaves; i++)
        m->add[i] = 0;
}

/* Until they are summed up, bytes are differences from one place to the next. */
void obj_memory_put(obj_memory *m, uint32_t from, uint32_t to, int64_t bytes)
{
    if (from >= to)
        return;
    m->bytes[from] += bytes;
    if (to < m->count)
        m->bytes[to] -= bytes;
}

void obj_memory_sum(obj_memory *m)
{
    for (uint32_t i = 1; i < m->count; i++)
        m->bytes[i] += m->bytes[i - 1];
    for (uint32_t i = 0; i < m->leaves; i++)
        update_leaf(m, i);
    for (uint32_t node = m->leaves - 1; node; node--)
        update_node(m, node);
}

/* ---- questions ---- */

/* Of a leaf's places that lie in a range; without what nodes above it add. */
static int64_t most_in_leaf(const obj_memory *m, uint32_t leaf, uint32_t from, uint32_t to)
{
    uint32_t begin = leaf * BLOCK, end = begin + BLOCK;
    int64_t most = INT64_MIN;
    if (from <= begin && to >= end)
        return m->most[m->leaves + leaf];
    from = from > begin ? from : begin;
    to = to < end ? to : end;
    for (uint32_t i = from; i < to; i++)
        most = m->bytes[i] > most ? m->bytes[i] : most;
    return most + m->add[m->leaves + leaf];
}

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Up from both ends, until they meet; what lies between them is taken by whole nodes. */
int64_t obj_memory_most(const obj_memory *m, uint32_t from, uint32_t to)
{
    if (from >= to)
        return INT64_MIN;
    uint32_t left = from / BLOCK, right = (to - 1) / BLOCK;
    int64_t most = most_in_leaf(m, left, from, to),
            other = left == right ? most : most_in_leaf(m, right, from, to);
    left += m->leaves;
    right += m->leaves;
    for (; left / 2 != right / 2; left /= 2, right /= 2) {
        most = left & 1 ? most : larger_of(most, m->most[left + 1]);
        other = right & 1 ? larger_of(other, m->most[right - 1]) : other;
        most += m->add[left / 2];
        other += m->add[right / 2];
    }
    most = larger_of(most, other);
    for (left /= 2; left; left /= 2)
        most += m->add[left];
    return most;
}

int64_t obj_memory_peak(const obj_memory *m)
{
    return m->most[1];
}

uint32_t obj_memory_peak_place(const obj_memory *m)
{
    uint32_t node = 1;
    if (m->count == 0 || m->most[1] <= 0)
        return UINT32_MAX;
    while (node < m->leaves)
        node = 2 * node + (m->most[2 * node] < m->most[2 * node + 1]);
    uint32_t place = (node - m->leaves) * BLOCK;
    int64_t most = m->most[node] - m->add[node];
    while (m->bytes[place] < most)
        place++;
    return place;
}

/* The first place above a limit, or the last, which there are; `last` is 0 or 1. */
static uint32_t extreme_above(const obj_memory *m, int64_t limit, uint32_t last)
{
    uint32_t node = 1;
    while (node < m->leaves) {
        limit -= m->add[node];
        node = 2 * node + last;
        node ^= m->most[node] <= limit;
    }
    limit -= m->add[node];
    uint32_t place = (node - m->leaves) * BLOCK + last * (BLOCK - 1);
    while (m->bytes[place] <= limit)
        place += last ? UINT32_MAX : 1;
    return place;
}

void obj_memory_above(const obj_memory *m, int64_t limit, uint32_t *first, uint32_t *end)
{
    *first = *end = 0;
    if (m->count == 0 || m->most[1] <= limit)
        return;
    *first = extreme_above(m, limit, 0);
    *end = extreme_above(m, limit, 1) + 1;
}
