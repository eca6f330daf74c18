/* A hash table from 64-bit keys to 32-bit values other than 0. Entries are never removed. */
#ifndef WL_OBSERVE_TABLE_H
#define WL_OBSERVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct obs_slot {
    uint64_t key;
    uint32_t value; /* 0: empty */
} obs_slot;

typedef struct obs_table { /* all zero: empty */
    obs_slot *slots;
    uint32_t capacity, count; /* capacity is 0 or a power of two */
} obs_table;

static inline uint32_t obs_table_at(const obs_table *table, uint64_t key)
{
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (table->capacity - 1);
    while (table->slots[at].value && table->slots[at].key != key)
        at = (at + 1) & (table->capacity - 1);
    return at;
}

/* 0 where the key is not there. */
static inline uint32_t obs_table_get(const obs_table *table, uint64_t key)
{
    return table->capacity ? table->slots[obs_table_at(table, key)].value : 0;
}

static inline bool obs_table_grow(obs_table *table)
{
    uint32_t capacity = table->capacity ? table->capacity * 2 : 64;
    obs_table larger = {.slots = capacity ? calloc(capacity, sizeof(obs_slot)) : NULL,
                        .capacity = capacity,
                        .count = table->count};
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].value)
            larger.slots[obs_table_at(&larger, table->slots[i].key)] = table->slots[i];
    free(table->slots);
    *table = larger;
    return true;
}

/* The key must not be there. False (and unchanged) when memory is exhausted. */
static inline bool obs_table_put(obs_table *table, uint64_t key, uint32_t value)
{
    if (table->count >= table->capacity / 2 && !obs_table_grow(table))
        return false;
    table->slots[obs_table_at(table, key)] = (obs_slot){key, value};
    table->count++;
    return true;
}

static inline void obs_table_free(obs_table *table)
{
    free(table->slots);
    *table = (obs_table){0};
}

#endif
