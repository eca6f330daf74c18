/* What a process did to its data objects, one operation after another: allocations, frees, copies,
 * sets and launches, and what orders them. load.c makes a trace of a profile, tests make
 * theirs by hand; docs/objects.md says what follows from it.
 *
 * Operations stand in program order: one waits only for such as come before it. A trace belongs to
 * an arena but for its arrays, which obj_trace_free() gives back. */
#ifndef WL_ANALYSIS_OBJECTS_TRACE_H
#define WL_ANALYSIS_OBJECTS_TRACE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJ_NONE = UINT32_MAX /* no operation, object, or event */ };

typedef enum obj_op_kind {
    OBJ_ALLOCATE,
    OBJ_FREE,
    OBJ_COPY,
    OBJ_SET,
    OBJ_LAUNCH,
    /* These order others, and are no calls that wait for anything by themselves. */
    OBJ_RECORD, /* an event in a stream */
    OBJ_WAIT,   /* of a stream for an event */
    OBJ_SYNC_EVENT,
    OBJ_SYNC_STREAM, /* of the host */
    OBJ_SYNC_CONTEXT
} obj_op_kind;

static inline bool obj_is_work(obj_op_kind kind)
{
    return kind <= OBJ_LAUNCH;
}

/* What runs on the device, and accesses objects. */
static inline bool obj_accesses_objects(obj_op_kind kind)
{
    return kind >= OBJ_COPY && kind <= OBJ_LAUNCH;
}

typedef enum obj_queue_kind {                   /* how a queue waits for others of its context */
                              OBJ_QUEUE_THREAD, /* what a host thread does itself */
                              OBJ_QUEUE_LEGACY, /* the legacy default stream: it and blocking ones wait for each other */
                              OBJ_QUEUE_BLOCKING,
                              OBJ_QUEUE_FREE /* a stream that does not wait for the legacy stream */
} obj_queue_kind;

typedef struct obj_queue { /* its operations run one after another: a stream, or a host thread */
    uint32_t kind;         /* obj_queue_kind */
    uint32_t context;      /* below obj_trace.ncontexts; of streams */
    uint32_t number;       /* of the stream, or the thread, in the profile */
} obj_queue;

enum { OBJ_READ = 1, OBJ_WRITE = 2 }; /* obj_access.how; a set of these */

typedef struct obj_range { /* of an object, that a copy or set accesses */
    uint64_t offset, bytes;
    uint32_t shape; /* equal where rows of equal width and pitch are */
    bool apart;     /* rows with gaps between them: bytes is not all that lies between the ends */
} obj_range;

typedef struct obj_access {
    uint32_t object;
    uint32_t how : 2;
    uint32_t possible : 1; /* of a part: what holds it was accessed, and it is not known where */
    /* Of copies and sets: index in obj_trace.ranges; of a launch: equal where it accesses the same
     * elements of the object, 0 where they are not known. */
    uint32_t part : 29;
} obj_access;

/* There are many: small fields share a word, and what only some have is of two kinds. */
typedef struct obj_op {
    uint32_t kind : 4;    /* obj_op_kind */
    uint32_t waits : 1;   /* the host waits for it: what its thread does next follows it */
    uint32_t unknown : 1; /* it may have accessed more than its accesses name: any live object */
    uint32_t thread : 26; /* queue of the host thread that called; below OBJ_MOST_QUEUES */
    uint32_t queue;       /* that it runs in; OBJ_SYNC_STREAM: that it waits for */
    union {
        uint32_t about;    /* ALLOCATE, FREE: the object; RECORD, WAIT, SYNC_EVENT: the event;
                              SYNC_CONTEXT: the context */
        uint32_t accesses; /* COPY, SET, LAUNCH: index in obj_trace.sets; operations that do the
                              same share one */
    };
    uint32_t call, launch; /* prof_call; prof_launch, the first of its kind; 0: none */
    float seconds;         /* on the device; negative: not measured */
} obj_op;

enum { OBJ_MOST_QUEUES = 1 << 26 /* the last number stands for none */ };

typedef struct obj_node { /* an operation that a launch of a graph ran */
    uint32_t op;
    uint32_t run; /* equal for nodes of one launch of a graph that come one after another */
} obj_node;

typedef struct obj_edge { /* the operation `to` waits for `from` */
    uint32_t from, to;
} obj_edge;

typedef enum obj_ended {                 /* how an object's life ended */
                         OBJ_FREED,      /* by the program, at its free */
                         OBJ_GIVEN_BACK, /* with its context or module */
                         OBJ_LEAKED,     /* with the process: nothing freed it */
                         OBJ_UNTOLD      /* nobody knows */
} obj_ended;

typedef struct obj_object {
    uint64_t bytes;
    uint32_t id; /* prof_object */
    uint32_t context;
    uint32_t allocate, free; /* operations; OBJ_NONE: no call of the program's */
    uint32_t begin, end;     /* from which operation on it is there, and is not any more */
    uint32_t site;  /* equal for objects that are allocated at one place; below their number */
    uint32_t whole; /* of a part: the object that it lies in */
    uint32_t device : 24;      /* below obj_trace.ndevices; of a part its pool's */
    uint32_t ended : 2;        /* obj_ended */
    uint32_t part : 1;         /* the program's own allocator carves it out of another object */
    uint32_t counted : 1;      /* takes device memory of its own, or of its pool; the others are
                                   followed for their order only */
    uint32_t fixed : 1;        /* no call of the program's makes it: a module's variable */
    uint32_t seen_by_host : 1; /* managed: the host may access it unseen */
    uint32_t pooled : 1;  /* of stream-ordered allocation: its pool reuses the memory by itself */
    uint32_t divided : 1; /* the program divides it into parts, which have elements of their own */
    uint32_t by_data : 1; /* data that is loaded decides which of its elements are accessed */
} obj_object;

enum { OBJ_MOST_DEVICES = 1 << 24 };

typedef struct obj_refusal { /* an allocation that failed for want of memory */
    uint32_t at;             /* operations before this one were over, as the host saw it */
    uint32_t device, call;   /* device: below obj_trace.ndevices; call: prof_call */
    uint64_t bytes;          /* that it asked for */
    uint64_t free, total;    /* bytes of the device */
} obj_refusal;

enum { OBJ_RECENT_RANGES = 256 };

typedef struct obj_trace {
    wl_vec(obj_op) ops;
    wl_vec(uint32_t) sets;              /* where each ends in `accesses`; the first is empty */
    wl_vec(obj_access) accesses;        /* of one set after another */
    wl_vec(obj_range) ranges;           /* the first is empty */
    uint32_t recent[OBJ_RECENT_RANGES]; /* 1 + index of the last one with such a hash; 0: none */
    wl_vec(obj_node) nodes;             /* ascend by `op` */
    wl_vec(obj_edge) edges;             /* between nodes of graphs; ascend by `to` */
    wl_vec(obj_object) objects;
    wl_vec(obj_queue) queues;
    wl_vec(obj_refusal) refusals; /* in the order of calls */
    /* What the program divides is a device by itself, on which its parts are counted: the last
     * devices, of each the first object that is divided. */
    wl_vec(uint32_t) pools;
    uint32_t nevents, ncontexts, ndevices;
} obj_trace;

/* False when memory is exhausted; obj_trace_free() is due all the same. */
bool obj_trace_init(obj_trace *trace);
void obj_trace_free(obj_trace *trace);

/* Appends a set of accesses, OBJ_NONE when memory is exhausted. */
uint32_t obj_trace_add_set(obj_trace *trace, const obj_access *accesses, uint32_t count);

/* The index of a range that is equal, which is added where none was lately; OBJ_NONE when memory is
 * exhausted. */
uint32_t obj_trace_add_range(obj_trace *trace, const obj_range *range);

static inline const obj_access *obj_accesses(const obj_trace *trace, const obj_op *op,
                                             uint32_t *count)
{
    const uint32_t *sets = trace->sets.data;
    uint32_t set = obj_accesses_objects(op->kind) ? op->accesses : 0,
             first = set ? sets[set - 1] : 0;
    *count = sets[set] - first;
    return *count ? &trace->accesses.data[first] : NULL;
}

/* Does the program's own allocator hand something out, or take it back? */
static inline bool obj_concerns_part(const obj_trace *trace, const obj_op *op)
{
    return op->kind <= OBJ_FREE && trace->objects.data[op->about].part;
}

/* The first object of the pool that stands for the device; OBJ_NONE: it is a device of the machine's. */
static inline uint32_t obj_pool_of(const obj_trace *trace, uint32_t device)
{
    uint32_t machine = trace->ndevices - (uint32_t)trace->pools.count;
    return device < machine ? OBJ_NONE : trace->pools.data[device - machine];
}

/* The object that CUDA gave, and the part lies in; the object itself where it is none. */
static inline uint32_t obj_outermost(const obj_trace *trace, uint32_t object)
{
    while (trace->objects.data[object].part)
        object = trace->objects.data[object].whole;
    return object;
}

/* Is it between the host and the device, or a set? Else it reads one object and writes another. */
static inline bool obj_is_one_way(const obj_access *accesses, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (accesses[i].how != accesses[0].how)
            return false;
    return count > 0;
}

#endif
