/* NVTX's ranges (its modules CORE and CORE2), told to the collector. Marks, categories, resources and
 * names of threads stay what they are without a tool: nothing.
 *
 * Handles of domains and of registered strings are the texts themselves, each kept once and for
 * good, since programs use handles as long as they like. */
#include "nvtx/ranges.h"

#include "warplens/annotate.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- as NVTX lays it out ---- */

enum { TABLE_CALLBACKS = 1 };               /* NVTX_ETID_... */
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 }; /* NVTX_CB_MODULE_... */
enum {                                      /* NVTX_CBID_CORE_... */
       CORE_START_EX = 4,
       CORE_START_A,
       CORE_START_W,
       CORE_END,
       CORE_PUSH_EX,
       CORE_PUSH_A,
       CORE_PUSH_W,
       CORE_POP
};
enum { /* NVTX_CBID_CORE2_... */
       CORE2_START_EX = 2,
       CORE2_END,
       CORE2_PUSH_EX,
       CORE2_POP,
       CORE2_STRING_A = 10,
       CORE2_STRING_W,
       CORE2_DOMAIN_A,
       CORE2_DOMAIN_W
};
enum { IN_ASCII = 1, IN_WIDE, REGISTERED }; /* NVTX_MESSAGE_TYPE_... */

typedef void function(void);

typedef struct callbacks {
    size_t bytes;
    int (*module_table)(int module, function ****table, unsigned *count);
} callbacks;

typedef const callbacks *get_table(uint32_t id);

typedef struct event {
    uint16_t version, bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t name_type;
    const void *name;
} event;

static const warplens_collector *collector;

/* ---- texts ---- */

typedef struct kept {
    struct kept *next;
    char text[];
} kept;

enum { KEPT_LISTS = 1024 };

static kept *kept_lists[KEPT_LISTS];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static kept **list_of(const char *text)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619;
    return &kept_lists[hash % KEPT_LISTS];
}

static kept *add_kept(kept **list, const char *text)
{
    size_t bytes = strlen(text) + 1;
    kept *k = malloc(sizeof *k + bytes);
    if (!k)
        return NULL;
    memcpy(k->text, text, bytes);
    k->next = *list;
    *list = k;
    return k;
}

/* NULL without memory, as for NULL. */
static const char *keep_text(const char *text)
{
    if (!text)
        return NULL;
    kept **list = list_of(text);
    pthread_mutex_lock(&kept_lock);
    kept *k = *list;
    while (k && strcmp(k->text, text) != 0)
        k = k->next;
    if (!k)
        k = add_kept(list, text);
    pthread_mutex_unlock(&kept_lock);
    return k ? k->text : NULL;
}

enum { WIDE_BYTES = 1024 };

static char *put_code_point(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | (c >> 18 & 7));
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* In UTF-8, whatever the program's locale is; what is longer is cut. */
static const char *narrow_text(const wchar_t *wide, char text[WIDE_BYTES])
{
    char *to = text;
    for (; wide && *wide && to < text + WIDE_BYTES - 4; wide++)
        to = put_code_point(to, (uint32_t)*wide);
    *to = '\0';
    return text;
}

/* `own`: memory for a wide one. */
static const char *name_of(const event *e, char own[WIDE_BYTES])
{
    if (!e || e->bytes < sizeof *e)
        return NULL;
    switch (e->name_type) {
    case IN_ASCII:
    case REGISTERED: return e->name;
    case IN_WIDE: return narrow_text(e->name, own);
    default: return NULL;
    }
}

/* ---- ranges ---- */

static int domain_push_ex(const char *domain, const event *e)
{
    char own[WIDE_BYTES];
    return collector->range_push(domain, name_of(e, own));
}

static int push_ex(const event *e)
{
    return domain_push_ex(NULL, e);
}

static int push_a(const char *name)
{
    return collector->range_push(NULL, name);
}

static int push_w(const wchar_t *name)
{
    char own[WIDE_BYTES];
    return collector->range_push(NULL, narrow_text(name, own));
}

static int pop_range(void)
{
    return collector->range_pop(NULL);
}

static int domain_pop(const char *domain)
{
    return collector->range_pop(domain);
}

static uint64_t domain_start_ex(const char *domain, const event *e)
{
    char own[WIDE_BYTES];
    return collector->range_start(domain, name_of(e, own));
}

static uint64_t start_ex(const event *e)
{
    return domain_start_ex(NULL, e);
}

static uint64_t start_a(const char *name)
{
    return collector->range_start(NULL, name);
}

static uint64_t start_w(const wchar_t *name)
{
    char own[WIDE_BYTES];
    return collector->range_start(NULL, narrow_text(name, own));
}

static void end_started(uint64_t started)
{
    collector->range_end(started);
}

static void domain_end(const char *domain, uint64_t started)
{
    (void)domain;
    collector->range_end(started);
}

/* ---- handles ---- */

static const char *domain_a(const char *name)
{
    return keep_text(name);
}

static const char *domain_w(const wchar_t *name)
{
    char own[WIDE_BYTES];
    return keep_text(narrow_text(name, own));
}

static const char *string_a(const char *domain, const char *text)
{
    (void)domain;
    return keep_text(text);
}

static const char *string_w(const char *domain, const wchar_t *text)
{
    (void)domain;
    return domain_w(text);
}

/* ---- what NVTX gets ---- */

typedef struct serving {
    unsigned id;
    function *serve;
} serving;

#define SERVE(id, f) {id, (function *)(f)}

static const serving core[] = {SERVE(CORE_START_EX, start_ex), SERVE(CORE_START_A, start_a),
                               SERVE(CORE_START_W, start_w),   SERVE(CORE_END, end_started),
                               SERVE(CORE_PUSH_EX, push_ex),   SERVE(CORE_PUSH_A, push_a),
                               SERVE(CORE_PUSH_W, push_w),     SERVE(CORE_POP, pop_range)};

static const serving core2[] = {
    SERVE(CORE2_START_EX, domain_start_ex), SERVE(CORE2_END, domain_end),
    SERVE(CORE2_PUSH_EX, domain_push_ex),   SERVE(CORE2_POP, domain_pop),
    SERVE(CORE2_STRING_A, string_a),        SERVE(CORE2_STRING_W, string_w),
    SERVE(CORE2_DOMAIN_A, domain_a),        SERVE(CORE2_DOMAIN_W, domain_w)};

/* The table has, of each function, where its pointer is. */
static bool serve_module(const callbacks *c, int module, const serving *list, size_t count)
{
    function ***table = NULL;
    unsigned size = 0;
    if (!c->module_table(module, &table, &size) || !table)
        return false;
    for (size_t i = 0; i < count; i++)
        if (list[i].id < size && table[list[i].id])
            *table[list[i].id] = list[i].serve;
    return true;
}

static bool has_ranges(const warplens_collector *c)
{
    return c && c->bytes >= offsetof(warplens_collector, range_end) + sizeof c->range_end;
}

bool nvtx_serve_ranges(const void *get_export_table)
{
    get_table *get = (get_table *)get_export_table;
    const callbacks *c = get ? get(TABLE_CALLBACKS) : NULL;
    collector = warplens_find_collector();
    if (!c || c->bytes < sizeof *c || !has_ranges(collector))
        return false;
    return serve_module(c, MODULE_CORE, core, sizeof core / sizeof *core) &&
           serve_module(c, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
}
