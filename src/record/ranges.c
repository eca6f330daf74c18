/* Ranges that the program opens and closes, and which of them are open. */
#include "record/ranges.h"

#include "program/options.h"
#include "program/range_name.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PUSHED = 1024, MOST_TOLD = 64 }; /* of a thread; in one list */

/* ---- what is open ---- */

/* What has been found out of the ranges that are open up to one. */
typedef struct known {
    bool done, asked;
    uint32_t changes; /* of started ranges: as of then */
    uint32_t list;    /* number of RANGES; 0: none are open */
} known;

typedef struct range {
    char *text; /* the domain, its end, the name; the memory stays for the next one here */
    size_t room, name;
    uint64_t order;  /* of opening, over all threads */
    uint32_t number; /* of its RANGE; 0: not written */
    known known;     /* of a pushed one */
} range;

typedef struct pushed { /* of a thread */
    range *ranges;
    uint32_t count, room;
    uint32_t beyond; /* pushed after MOST_PUSHED, not known */
    known none;      /* where nothing is pushed */
} pushed;

typedef struct started {
    struct started *next;
    range range;
} started;

static __thread pushed *mine;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static started *all_started; /* behind started_lock, in the order of starting */
static pthread_mutex_t started_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t changes; /* of all_started; atomic */
static uint64_t opened;  /* atomic */
static uint32_t nranges, nlists;

static void free_pushed(void *memory)
{
    pushed *p = memory;
    mine = NULL;
    for (uint32_t i = 0; i < p->room; i++)
        free(p->ranges[i].text);
    free(p->ranges);
    free(p);
}

static void make_key(void)
{
    pthread_key_create(&key, free_pushed);
}

/* NULL without memory. */
static pushed *make_mine(void)
{
    pthread_once(&key_once, make_key);
    mine = calloc(1, sizeof *mine);
    if (mine)
        pthread_setspecific(key, mine);
    return mine;
}

static bool name_range(range *r, const char *domain, const char *name)
{
    size_t before = domain ? strlen(domain) + 1 : 1, length = name ? strlen(name) + 1 : 1;
    if (!r->text || before + length > r->room) {
        char *text = realloc(r->text, 2 * (before + length));
        if (!text)
            return false;
        r->text = text;
        r->room = 2 * (before + length);
    }
    memcpy(r->text, domain ? domain : "", before);
    memcpy(r->text + before, name ? name : "", length);
    r->name = before;
    r->order = __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    r->number = 0;
    r->known.done = false;
    return true;
}

/* ---- pushed ranges ---- */

static bool grow_pushed(pushed *p)
{
    uint32_t room = p->room ? 2 * p->room : 16;
    range *ranges = realloc(p->ranges, room * sizeof *ranges);
    if (!ranges)
        return false;
    memset(ranges + p->room, 0, (room - p->room) * sizeof *ranges);
    p->ranges = ranges;
    p->room = room;
    return true;
}

static bool is_of(const range *r, const char *domain)
{
    return strcmp(r->text, domain ? domain : "") == 0;
}

static int level_of(const pushed *p, const char *domain)
{
    int level = 0;
    for (uint32_t i = 0; i < p->count; i++)
        level += is_of(&p->ranges[i], domain);
    return level;
}

int rec_range_push(const char *domain, const char *name)
{
    pushed *p = mine ? mine : make_mine();
    if (!p || p->count == MOST_PUSHED) {
        if (p)
            p->beyond++;
        return p ? MOST_PUSHED : -1;
    }
    if ((p->count == p->room && !grow_pushed(p)) || !name_range(&p->ranges[p->count], domain, name))
        return -1;
    int level = level_of(p, domain);
    p->count++;
    return level;
}

/* Its memory goes behind those that stay. */
static void remove_pushed(pushed *p, uint32_t at)
{
    range gone = p->ranges[at];
    for (uint32_t i = at; i + 1 < p->count; i++) {
        p->ranges[i] = p->ranges[i + 1];
        p->ranges[i].known.done = false;
    }
    p->ranges[--p->count] = gone;
}

int rec_range_pop(const char *domain)
{
    pushed *p = mine;
    if (p && p->beyond) {
        p->beyond--;
        return MOST_PUSHED;
    }
    for (uint32_t at = p ? p->count : 0; at-- > 0;) {
        if (!is_of(&p->ranges[at], domain))
            continue;
        remove_pushed(p, at);
        return level_of(p, domain);
    }
    return -1;
}

/* ---- started ranges ---- */

uint64_t rec_range_start(const char *domain, const char *name)
{
    started *s = calloc(1, sizeof *s);
    if (!s || !name_range(&s->range, domain, name)) {
        free(s);
        return 0;
    }
    uint64_t order = s->range.order;
    pthread_mutex_lock(&started_lock);
    started **at = &all_started;
    while (*at)
        at = &(*at)->next;
    *at = s;
    __atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&started_lock);
    return order;
}

void rec_range_end(uint64_t order)
{
    pthread_mutex_lock(&started_lock);
    started **at = &all_started;
    while (*at && (*at)->range.order != order)
        at = &(*at)->next;
    started *s = *at;
    if (s) {
        *at = s->next;
        __atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&started_lock);
    if (s)
        free(s->range.text);
    free(s);
}

void rec_ranges_after_fork(void)
{
    pthread_mutex_init(&started_lock, NULL);
}

/* ---- what a call is made in ---- */

typedef struct open_list { /* outermost first */
    uint32_t count;
    range *ranges[MOST_TOLD];
    bool pushed[MOST_TOLD];
} open_list;

static void add_open(open_list *open, range *r, bool is_pushed)
{
    if (open->count == MOST_TOLD)
        return;
    uint32_t at = open->count++;
    for (; at && open->ranges[at - 1]->order > r->order; at--) {
        open->ranges[at] = open->ranges[at - 1];
        open->pushed[at] = open->pushed[at - 1];
    }
    open->ranges[at] = r;
    open->pushed[at] = is_pushed;
}

/* With started_lock held as long as the list is used. */
static void list_open(open_list *open)
{
    open->count = 0;
    for (uint32_t i = 0; mine && i < mine->count; i++)
        add_open(open, &mine->ranges[i], true);
    for (started *s = all_started; s; s = s->next)
        add_open(open, &s->range, false);
}

static void write_range(range *r, bool is_pushed)
{
    const cap_range record = {.id = ++nranges,
                              .kind = is_pushed ? CAP_RANGE_PUSHED : CAP_RANGE_STARTED,
                              .thread = is_pushed ? rec_thread() : 0,
                              .domain = r->text,
                              .name = r->text + r->name};
    r->number = record.id;
    REC_WRITE(range, &record);
}

static uint32_t write_list(const open_list *open)
{
    uint32_t numbers[MOST_TOLD];
    if (!open->count || !rec_g.writer)
        return 0;
    for (uint32_t i = 0; i < open->count; i++) {
        if (!open->ranges[i]->number)
            write_range(open->ranges[i], open->pushed[i]);
        numbers[i] = open->ranges[i]->number;
    }
    const cap_ranges record = {.id = ++nlists, .count = open->count, .ranges = numbers};
    REC_WRITE(ranges, &record);
    return record.id;
}

static prog_range_patterns wanted, unwanted; /* with rec_g.lock held; they stay for good */

/* What cannot be read was refused when the options were. */
static void read_patterns(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    (void)prog_ranges_read(prog_options_get()->nvtx_include, &wanted, NULL);
    (void)prog_ranges_read(prog_options_get()->nvtx_exclude, &unwanted, NULL);
}

static bool are_asked(const open_list *open)
{
    prog_range ranges[MOST_TOLD];
    read_patterns();
    for (uint32_t i = 0; i < open->count; i++) {
        const range *r = open->ranges[i];
        ranges[i] = (prog_range){r->text, r->text + r->name, open->pushed[i]};
    }
    return (!wanted.first || prog_ranges_fit(&wanted, ranges, open->count)) &&
           !prog_ranges_fit(&unwanted, ranges, open->count);
}

static void find_out(known *k, uint32_t now)
{
    open_list open;
    pthread_mutex_lock(&started_lock);
    list_open(&open);
    k->list = write_list(&open);
    k->asked = are_asked(&open);
    pthread_mutex_unlock(&started_lock);
    k->changes = now;
    k->done = rec_g.writer != NULL;
}

static known known_here(void)
{
    static known nobody; /* of threads that never pushed; with the lock held */
    uint32_t now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    known *k = !mine ? &nobody : mine->count ? &mine->ranges[mine->count - 1].known : &mine->none;
    if (!k->done || k->changes != now)
        find_out(k, now);
    return *k;
}

uint32_t rec_ranges(void)
{
    return known_here().list;
}

bool rec_ranges_asked(void)
{
    return known_here().asked;
}
