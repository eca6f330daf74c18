/* The course of device memory: for each process its operations, its objects with what accesses them,
 * and the changes that findings ask for. What the report's view of memory is drawn from; it can be
 * replayed with any of the changes made. Pure functions; everything lies in the caller's arena. */
#ifndef WL_ANALYSIS_TABLES_COURSE_H
#define WL_ANALYSIS_TABLES_COURSE_H

#include "analysis/finding.h"
#include "analysis/objects/trace.h"

typedef enum ana_effect {
#define X(id, name) ANA_EFFECT_##id,
#include "analysis/tables/effects.def"
#undef X
    ANA_EFFECT_COUNT
} ana_effect;

const char *ana_effect_name(ana_effect effect); /* "left-out" */

/* Rows are numbered from 0; OBJ_NONE stands for none, and for a moment after the last. */

typedef struct ana_course_op {
    uint8_t kind;           /* obj_op_kind */
    bool waits, unknown;    /* as obj_op's */
    uint32_t count;         /* launches side by side that do the same are one row */
    uint32_t level;         /* T of the first */
    uint32_t queue, thread; /* in `queues` */
    uint32_t about;         /* as obj_op's */
    uint32_t accesses;      /* in `sets` */
    uint32_t kernel;        /* prof_kernel; 0: of no launch, or not known */
    uint32_t site;          /* in `sites` */
    int64_t start_ns;       /* of the first call, since the process's start; negative: not known */
    double seconds;         /* on the device, of all of them; negative: not measured */
} ana_course_op;

typedef struct ana_course_access {
    uint32_t object;
    uint32_t how; /* OBJ_READ, OBJ_WRITE, or both; 0: it is not known that it is accessed */
} ana_course_access;

typedef struct ana_course_object {
    uint32_t id;     /* prof_object */
    uint32_t device; /* in `devices` */
    uint64_t bytes;
    uint32_t allocate, free; /* operations; OBJ_NONE: no call of the program's */
    uint32_t begin, end;     /* in use from this operation on, up to that one */
    uint32_t first, last;    /* operations that access it, certainly or possibly */
    uint32_t accesses;       /* certain ones */
    uint32_t idle_calls;     /* in the longest time between two accesses; 0: there is none */
    double idle_seconds;     /* of what ran then; negative: not measured */
    uint32_t ended;          /* obj_ended */
    bool possibly, counted, fixed, seen_by_host, pooled; /* as obj_life's and obj_object's */
} ana_course_object;

typedef struct ana_course_hit { /* a pattern on an object; the operations as in obj_hit */
    uint32_t object, other, from, to;
    uint32_t calls; /* in between */
    uint32_t step;  /* of the plan, from 1; 0: not in it */
    uint64_t bytes; /* of the object; SMALLER: that are enough; of a write: in vain */
    uint64_t adds;  /* of a step: how much higher the plan's peak is without it */
} ana_course_hit;

typedef struct ana_course_set { /* of `accesses` */
    uint32_t first, count;
} ana_course_set;

typedef struct
    ana_course_change { /* what one change in the source does: hits that stand together */
    ana_pattern pattern;
    ana_effect effect;
    bool possible;         /* what was not seen may rule it out */
    uint32_t first, count; /* of `hits` */
    uint64_t saves;        /* at the peak of the device, by itself */
    uint32_t number;       /* of the finding; 0: it is none */
} ana_course_change;

typedef struct ana_course_refusal { /* an allocation that failed for want of memory */
    uint32_t at;          /* operations before this one were over; the number of all: all were */
    uint32_t device;      /* in `devices` */
    uint32_t call;        /* prof_call */
    uint64_t bytes;       /* that it asked for */
    uint64_t free, total; /* bytes of the device */
} ana_course_refusal;

typedef struct ana_course_device {
    uint32_t ordinal;
    uint32_t pool; /* 0: the device itself; else the first prof_object of a pool of the program's */
    uint64_t peak, peak_after; /* as it is; with the plan */
    uint32_t moment;           /* the first operation at the peak */
} ana_course_device;

typedef struct ana_course {
    uint32_t process;
    uint32_t left_out; /* rows of operations, beside `ops` */
    uint32_t nops, nsets, naccesses, nobjects, nqueues, ndevices, nhits, nchanges, nrefusals;
    ana_course_op *ops;
    ana_course_set *sets;
    ana_course_access *accesses;
    ana_course_object *objects;
    obj_queue *queues;
    ana_course_device *devices;
    ana_course_hit *hits; /* change after change */
    ana_course_change *changes;
    ana_course_refusal *refusals; /* in the order of calls */
    prof_call_site_rows sites;
    prof_frame_rows frames; /* by stack */
} ana_course;

typedef struct ana_courses {
    uint32_t count;
    ana_course *rows; /* of the processes that had an object, by process */
} ana_courses;

/* With the numbers of `findings`, and by the thresholds by which these were judged. Where a process has
 * more than `most` rows of operations, only those are in its course at which something begins, ends
 * or was found: it can be replayed as before. */
wl_status ana_course_table(prof_db *profile, const ana_findings *findings, uint32_t most,
                           wl_arena *arena, ana_courses *out, wl_error *err);

#endif
