#include "inject/stack_path.h"

#include <pthread.h>
#include <stdlib.h>

enum { SET_BITS = 7, SETS = 1 << SET_BITS, WAYS = 8 };

typedef struct table {       /* a thread's */
    uint64_t forgotten;      /* `forgets` when it was filled */
    uint64_t sp[SETS][WAYS]; /* of the paths; 0: free */
    uint8_t next[SETS];      /* to be replaced */
    stack_path paths[SETS][WAYS];
} table;

static uint64_t forgets;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees the table with its thread */
static bool has_key;
static __thread table *mine;

static void release_table(void *memory)
{
    mine = NULL;
    free(memory);
}

static void make_table_key(void)
{
    has_key = pthread_key_create(&key, release_table) == 0;
}

static void clear_table(table *t, uint64_t now)
{
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t way = 0; way < WAYS; way++)
            t->sp[set][way] = 0;
    t->forgotten = now;
}

/* NULL without memory. */
static table *table_of_thread(void)
{
    uint64_t now = __atomic_load_n(&forgets, __ATOMIC_RELAXED);
    if (mine) {
        if (mine->forgotten != now)
            clear_table(mine, now);
        return mine;
    }
    pthread_once(&once, make_table_key);
    table *t = has_key ? calloc(1, sizeof *t) : NULL; /* of which the system gives what is used */
    if (!t || pthread_setspecific(key, t) != 0) {
        free(t);
        return NULL;
    }
    t->forgotten = now;
    return mine = t;
}

static uint32_t set_of(uint64_t sp)
{
    return (uint32_t)(sp * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SET_BITS));
}

static __attribute__((no_sanitize("address"))) bool holds(uint64_t sp, const uint16_t *at,
                                                          const uint64_t *value, uint32_t count)
{
    const uint64_t *stack = (const uint64_t *)(uintptr_t)sp;
    for (uint32_t i = 0; i < count; i++)
        if (stack[at[i]] != value[i])
            return false;
    return true;
}

const stack_path *stack_path_find(uint64_t sp, uint64_t bp, uint32_t limit)
{
    table *t = table_of_thread();
    uint32_t set = set_of(sp);
    for (uint32_t way = 0; t && way < WAYS; way++) {
        const stack_path *p = &t->paths[set][way];
        if (t->sp[set][way] == sp && p->limit == limit && (!p->bp_counts || p->bp == bp) &&
            holds(sp, p->return_at, p->returns, p->nreturns) &&
            holds(sp, p->other_at, p->others, p->nothers))
            return p;
    }
    return NULL;
}

void stack_path_keep(const stack_path *path)
{
    table *t = path->failed ? NULL : table_of_thread();
    if (!t)
        return;
    uint32_t set = set_of(path->sp), way = t->next[set];
    t->next[set] = (uint8_t)((way + 1) % WAYS);
    t->sp[set][way] = path->sp;
    t->paths[set][way] = *path;
}

void stack_path_forget(void)
{
    __atomic_add_fetch(&forgets, 1, __ATOMIC_RELAXED);
}

void stack_path_begin(stack_path *path, uint64_t sp, uint64_t bp, uint32_t limit)
{
    path->sp = sp;
    path->bp = bp;
    path->limit = limit;
    path->nreturns = path->nothers = path->own = 0;
    path->bp_counts = path->failed = false;
}

static void add_path_word(stack_path *path, uint64_t address, uint64_t value, uint16_t *at,
                          uint64_t *values, uint16_t *count, uint32_t most)
{
    uint64_t words = (address - path->sp) / sizeof value;
    if (*count == most || words > UINT16_MAX) {
        path->failed = true;
        return;
    }
    at[*count] = (uint16_t)words;
    values[(*count)++] = value;
}

void stack_path_return(stack_path *path, uint64_t address, uint64_t value)
{
    add_path_word(path, address, value, path->return_at, path->returns, &path->nreturns,
                  STACK_PATH_RETURNS);
}

void stack_path_other(stack_path *path, uint64_t address, uint64_t value)
{
    add_path_word(path, address, value, path->other_at, path->others, &path->nothers,
                  STACK_PATH_OTHERS);
}
