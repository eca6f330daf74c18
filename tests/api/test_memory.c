/* Memory as CUDA's functions give it: pools, managed and registered memory, mappings; and what the
 * capture says of each call: objects, offsets, bytes, shapes, events. Two devices are emulated. */
#include "answers.h"
#include "capture/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TO_DEVICE = 1, TO_HOST = 2, ANY_WAY = 4 };
enum { REUSE = 1, THRESHOLD = 4, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

#define MALLOC(...) CALL(cudaMalloc, (void **, size_t), __VA_ARGS__)
#define FREE(...) CALL(cudaFree, (void *), __VA_ARGS__)
#define MALLOC_ASYNC(...) CALL(cudaMallocAsync, (void **, size_t, cudaStream_t), __VA_ARGS__)
#define MALLOC_FROM(...) \
    CALL(cudaMallocFromPoolAsync, (void **, size_t, cudaMemPool_t, cudaStream_t), __VA_ARGS__)
#define FREE_ASYNC(...) CALL(cudaFreeAsync, (void *, cudaStream_t), __VA_ARGS__)
#define COPY(...) CALL(cudaMemcpy, (void *, const void *, size_t, int), __VA_ARGS__)

/* ---- the capture so far ---- */

static char capture[4096];

typedef struct found {
    cap_call call; /* the last one of that name; shape is that of `rows` */
    cap_shape rows;
    cap_object object;    /* that it made */
    cap_free freed;       /* by it */
    cap_pool pool;        /* of the object */
    cap_pool_state state; /* after it */
} found;

static void keep_record(const cap_record *r, const char *api, found *f)
{
    if (r->type == CAP_CALL && strcmp(r->call.api, api) == 0) {
        *f = (found){.call = r->call, .pool = f->pool};
        if (r->call.nshapes)
            f->rows = r->call.shape[0];
    } else if (r->type == CAP_OBJECT && r->object.call == f->call.id) {
        f->object = r->object;
    } else if (r->type == CAP_FREE && r->free.call == f->call.id) {
        f->freed = r->free;
    } else if (r->type == CAP_POOL_STATE &&
               (!r->pool_state.call || r->pool_state.call == f->call.id)) {
        f->state = r->pool_state;
    } else if (r->type == CAP_POOL) {
        f->pool = r->pool; /* written before its first object */
    }
}

/* What the capture says of the last call of this function. */
static found last_call(const char *api)
{
    cap_reader *reader;
    cap_record record;
    wl_error err;
    bool end = false;
    found f = {0};
    OK(CALL(cudaDeviceSynchronize, (void))); /* writes what is held */
    assert_int_equal(cap_open(capture, &reader, &err), WL_OK);
    while (cap_read(reader, &record, &end, &err) == WL_OK && !end)
        keep_record(&record, api, &f);
    cap_reader_free(reader);
    if (!f.call.id)
        fail_msg("%s is not in the capture", api);
    return f;
}

static uint32_t object_of(const char *api)
{
    found f = last_call(api);
    assert_int_equal(f.object.id, f.call.target_object);
    assert_int_not_equal(f.object.id, 0);
    return f.object.id;
}

/* ---- records ---- */

static void allocations_are_recorded(void **state)
{
    static const struct {
        const char *take, *give;
        uint32_t kind;
    } ways[] = {{"cudaMalloc", "cudaFree", CAP_OBJECT_DEVICE},
                {"cudaHostAlloc", "cudaFreeHost", CAP_OBJECT_PINNED},
                {"cudaMallocManaged", "cudaFree", CAP_OBJECT_MANAGED},
                {"cudaHostRegister", "cudaHostUnregister", CAP_OBJECT_REGISTERED}};
    void *own = aligned_alloc(4096, 4096), *p = own;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        size_t bytes = i == 3 ? 4096 : 1000 + i;
        switch (i) {
        case 0: OK(MALLOC(&p, bytes)); break;
        case 1: OK(CALL(cudaHostAlloc, (void **, size_t, unsigned), &p, bytes, 0)); break;
        case 2: OK(CALL(cudaMallocManaged, (void **, size_t, unsigned), &p, bytes, 1)); break;
        default: OK(CALL(cudaHostRegister, (void *, size_t, unsigned), p = own, bytes, 0));
        }
        found taken = last_call(ways[i].take);
        assert_int_equal(taken.call.kind, CAP_CALL_ALLOC);
        assert_int_equal(taken.call.bytes, bytes);
        assert_int_equal(taken.call.result, 0);
        assert_int_equal(taken.object.id, taken.call.target_object);
        assert_int_equal(taken.object.bytes, bytes);
        assert_int_equal(taken.object.base, (uint64_t)p);
        assert_int_equal(taken.object.kind, ways[i].kind);
        assert_int_equal(taken.object.pool, 0);
        switch (i) {
        case 1: OK(CALL(cudaFreeHost, (void *), p)); break;
        case 3: OK(CALL(cudaHostUnregister, (void *), p)); break;
        default: OK(FREE(p));
        }
        found given = last_call(ways[i].give);
        assert_int_equal(given.call.kind, CAP_CALL_FREE);
        assert_int_equal(given.call.source_object, taken.object.id);
        assert_int_equal(given.call.bytes, bytes);
        assert_int_equal(given.freed.object, taken.object.id);
        assert_int_equal(given.freed.how, CAP_FREED_PROGRAM);
    }
    EXPECT(2, MALLOC(&p, (size_t)1 << 50)); /* what failed tells what was asked for */
    found failed = last_call("cudaMalloc");
    assert_int_equal(failed.call.result, 2);
    assert_int_equal(failed.call.bytes, (size_t)1 << 50);
    assert_int_equal(failed.call.target_object, 0);
    free(own);
}

static void blocks_of_pools_are_recorded(void **state)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    cudaMemPool_t pool;
    cudaStream_t stream;
    void *p;
    (void)state;
    OK(CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &stream, 1));
    OK(MALLOC_ASYNC(&p, 1234, stream));
    found taken = last_call("cudaMallocAsync");
    assert_int_equal(taken.call.bytes, 1234);
    assert_int_not_equal(taken.call.stream, 0);
    assert_true(taken.call.flags & CAP_CALL_ASYNC);
    assert_int_equal(taken.object.bytes, 1234);
    assert_int_equal(taken.object.device, 0);
    assert_int_equal(taken.object.pool, taken.pool.id);
    assert_int_equal(taken.pool.kind, CAP_POOL_DEFAULT);
    assert_int_equal(taken.pool.device, 0);
    assert_int_equal(taken.state.pool, taken.pool.id);
    assert_int_equal(taken.state.used, 1234);
    assert_true(taken.state.reserved >= 1234);
    OK(FREE_ASYNC(p, stream));
    found given = last_call("cudaFreeAsync");
    assert_int_equal(given.state.pool, taken.pool.id);
    assert_int_equal(given.state.used, 0);
    assert_int_equal(given.state.reserved, taken.state.reserved);
    assert_int_equal(given.call.source_object, taken.object.id);
    assert_int_equal(given.call.bytes, 1234);
    assert_int_equal(given.call.stream, taken.call.stream);
    assert_true(given.call.flags & CAP_CALL_ASYNC);
    assert_int_equal(given.freed.object, taken.object.id);
    assert_int_equal(given.freed.how, CAP_FREED_PROGRAM);
    OK(CALL(cudaMemPoolCreate, (cudaMemPool_t *, const CUmemPoolProps *), &pool, &props));
    OK(MALLOC_FROM(&p, 77, pool, stream));
    taken = last_call("cudaMallocFromPoolAsync");
    assert_int_equal(taken.object.pool, taken.pool.id);
    assert_int_equal(taken.object.device, 1);
    assert_int_equal(taken.pool.kind, CAP_POOL_CREATED);
    assert_int_equal(taken.pool.device, 1);
    OK(FREE(p)); /* a pool's block may be freed so, too */
    given = last_call("cudaFree");
    assert_int_equal(given.call.source_object, taken.object.id);
    assert_int_equal(given.call.bytes, 77);
    OK(CALL(cudaMemPoolDestroy, (cudaMemPool_t), pool));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), stream));
}

static void copies_are_recorded(void **state)
{
    char *a, *b, host[1024] = {0};
    (void)state;
    OK(MALLOC((void **)&a, 1024));
    uint32_t first = object_of("cudaMalloc");
    OK(CALL(cudaSetDevice, (int), 1));
    OK(MALLOC((void **)&b, 1024));
    OK(CALL(cudaSetDevice, (int), 0));
    uint32_t second = object_of("cudaMalloc");
    assert_int_equal(last_call("cudaMalloc").object.device, 1);
    OK(COPY(a + 8, host, 100, TO_DEVICE));
    cap_call c = last_call("cudaMemcpy").call;
    assert_int_equal(c.kind, CAP_CALL_COPY);
    assert_int_equal(c.source_object, 0);
    assert_int_equal(c.target_object, first);
    assert_int_equal(c.target_offset, 8);
    assert_int_equal(c.bytes, 100);
    assert_int_equal(c.nshapes, 0);
    assert_false(c.flags & CAP_CALL_ASYNC);
    OK(CALL(cudaMemcpyPeerAsync, (void *, int, const void *, int, size_t, cudaStream_t), b + 16, 1,
            a + 32, 0, 64, NULL));
    c = last_call("cudaMemcpyPeerAsync").call;
    assert_int_equal(c.source_object, first);
    assert_int_equal(c.source_offset, 32);
    assert_int_equal(c.target_object, second);
    assert_int_equal(c.target_offset, 16);
    assert_int_equal(c.bytes, 64);
    assert_true(c.flags & CAP_CALL_ASYNC);
    struct cudaMemcpy3DParms p = {.srcPtr = {a, 32, 32, 5},
                                  .srcPos = {4, 1, 1},
                                  .dstPtr = {b, 16, 16, 6},
                                  .extent = {8, 3, 2},
                                  .kind = cudaMemcpyDeviceToDevice};
    OK(CALL(cudaMemcpy3D, (const struct cudaMemcpy3DParms *), &p));
    found f = last_call("cudaMemcpy3D");
    assert_int_equal(f.call.source_offset, 4 + 32 + 5 * 32);
    assert_int_equal(f.call.target_offset, 0);
    assert_int_equal(f.call.bytes, 8 * 3 * 2);
    assert_int_equal(f.call.nshapes, 1);
    cap_shape expected = {8, 3, 2, 32, 5, 16, 6};
    assert_memory_equal(&f.rows, &expected, sizeof expected);
    OK(FREE(a));
    OK(FREE(b));
}

static void sets_are_recorded(void **state)
{
    char *a;
    (void)state;
    OK(MALLOC((void **)&a, 1024));
    uint32_t object = object_of("cudaMalloc");
    OK(CALL(cudaMemset, (void *, int, size_t), a + 10, 1, 100));
    cap_call c = last_call("cudaMemset").call;
    assert_int_equal(c.kind, CAP_CALL_SET);
    assert_int_equal(c.target_object, object);
    assert_int_equal(c.target_offset, 10);
    assert_int_equal(c.source_object, 0);
    assert_int_equal(c.bytes, 100);
    OK(DRIVER(cuMemsetD2D32_v2, (CUdeviceptr, size_t, unsigned, size_t, size_t),
              (CUdeviceptr)a + 64, 32, 5, 3, 4));
    found f = last_call("cuMemsetD2D32_v2");
    assert_int_equal(f.call.target_offset, 64);
    assert_int_equal(f.call.bytes, 3 * 4 * 4);
    cap_shape rows = {.width = 12, .rows = 4, .slices = 1, .target_pitch = 32, .target_rows = 4};
    assert_memory_equal(&f.rows, &rows, sizeof rows);
    OK(CALL(cudaMemset3D, (struct cudaPitchedPtr, int, struct cudaExtent),
            (struct cudaPitchedPtr){a, 16, 16, 6}, 2, (struct cudaExtent){8, 4, 3}));
    f = last_call("cudaMemset3D");
    assert_int_equal(f.call.bytes, 8 * 4 * 3);
    cap_shape slices = {.width = 8, .rows = 4, .slices = 3, .target_pitch = 16, .target_rows = 6};
    assert_memory_equal(&f.rows, &slices, sizeof slices);
    OK(FREE(a));
}

static void arrays_and_mappings_are_recorded(void **state)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 100, .Height = 3, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    enum { UNIT = 2 << 20 };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    CUarray array;
    (void)state;
    OK(DRIVER(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &array, &d));
    found taken = last_call("cuArrayCreate_v2");
    assert_int_equal(taken.object.kind, CAP_OBJECT_ARRAY);
    assert_int_equal(taken.object.bytes, 128 * 3); /* rows begin at multiples of 64 bytes */
    assert_int_equal(taken.call.bytes, 128 * 3);
    OK(DRIVER(cuArrayDestroy, (CUarray), array));
    found given = last_call("cuArrayDestroy");
    assert_int_equal(given.call.source_object, taken.object.id);
    assert_int_equal(given.call.bytes, 128 * 3);
    assert_int_equal(given.freed.object, taken.object.id);
    OK(DRIVER(cuMemCreate,
              (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
               unsigned long long),
              &handle, UNIT, &prop, 0));
    OK(DRIVER(cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long),
              &at, UNIT, 0, 0, 0));
    OK(DRIVER(cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, uint64_t), at,
              UNIT, 0, handle, 0));
    taken = last_call("cuMemMap");
    assert_int_equal(taken.object.base, at);
    assert_int_equal(taken.object.bytes, UNIT);
    OK(DRIVER(cuMemUnmap, (CUdeviceptr, size_t), at, UNIT));
    given = last_call("cuMemUnmap");
    assert_int_equal(given.call.source_object, taken.object.id);
    assert_int_equal(given.call.bytes, UNIT);
    assert_int_equal(given.freed.object, taken.object.id);
    OK(DRIVER(cuMemRelease, (CUmemGenericAllocationHandle), handle));
    OK(DRIVER(cuMemAddressFree, (CUdeviceptr, size_t), at, UNIT));
}

/* Each event has a number, and a version that grows as it is recorded: waits tell which they wait
 * for. In a capture of the stream it has none: the graph's launches record it. */
static void events_are_recorded(void **state)
{
    cudaEvent_t event[2];
    cudaStream_t stream;
    cudaGraph_t graph;
    found got[2];
    (void)state;
#define RECORD(...) CALL(cudaEventRecord, (cudaEvent_t, cudaStream_t), __VA_ARGS__)
#define WAIT(...) CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), __VA_ARGS__)
    OK(CALL(cudaStreamCreate, (cudaStream_t *), &stream));
    for (int i = 0; i < 2; i++)
        OK(CALL(cudaEventCreate, (cudaEvent_t *), &event[i]));
    OK(RECORD(event[1], stream));
    for (uint64_t version = 1; version <= 2; version++) {
        for (int i = 0; i < 2; i++) {
            OK(RECORD(event[i], stream));
            got[i] = last_call("cudaEventRecord");
            assert_int_equal(got[i].call.version, version + (uint64_t)i);
        }
        assert_int_not_equal(got[0].call.event, 0);
        assert_int_not_equal(got[0].call.event, got[1].call.event);
        OK(WAIT(stream, event[1], 0));
        found waits = last_call("cudaStreamWaitEvent");
        assert_int_equal(waits.call.event, got[1].call.event);
        assert_int_equal(waits.call.version, version + 1);
        OK(CALL(cudaEventSynchronize, (cudaEvent_t), event[0]));
        waits = last_call("cudaEventSynchronize");
        assert_int_equal(waits.call.event, got[0].call.event);
        assert_int_equal(waits.call.version, version);
    }
    OK(CALL(cudaStreamBeginCapture, (cudaStream_t, int), stream, 2));
    OK(RECORD(event[0], stream));
    OK(CALL(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *), stream, &graph));
    found captured = last_call("cudaEventRecord");
    assert_int_equal(captured.call.event, got[0].call.event);
    assert_int_equal(captured.call.version, 0);
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), graph));
    for (int i = 0; i < 2; i++)
        OK(CALL(cudaEventDestroy, (cudaEvent_t), event[i]));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), stream));
}

/* ---- pools ---- */

static uint64_t counter_of(cudaMemPool_t pool, int attribute)
{
    uint64_t value = 77;
    OK(CALL(cudaMemPoolGetAttribute, (cudaMemPool_t, int, void *), pool, attribute, &value));
    return value;
}

static cudaMemPool_t new_pool(int device, size_t most)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
                            .maxSize = most};
    cudaMemPool_t pool;
    OK(CALL(cudaMemPoolCreate, (cudaMemPool_t *, const CUmemPoolProps *), &pool, &props));
    return pool;
}

static void end_pool(cudaMemPool_t pool)
{
    OK(CALL(cudaMemPoolDestroy, (cudaMemPool_t), pool));
}

static void pools_count(void **state)
{
    enum { MIB = 1 << 20, UNIT = 32 * MIB }; /* a pool reserves in such steps */
    cudaMemPool_t pool = new_pool(0, 0);
    uint64_t zero = 0, one = 1;
    void *p, *q;
    (void)state;
#define POOL_SET(...) CALL(cudaMemPoolSetAttribute, (cudaMemPool_t, int, const void *), __VA_ARGS__)
#define TRIM(...) CALL(cudaMemPoolTrimTo, (cudaMemPool_t, size_t), __VA_ARGS__)
    for (int attribute = RESERVED; attribute <= USED_HIGH; attribute++)
        assert_int_equal(counter_of(pool, attribute), 0);
    OK(MALLOC_FROM(&p, 20 * MIB, pool, NULL));
    OK(MALLOC_FROM(&q, 20 * MIB, pool, NULL));
    assert_int_equal(counter_of(pool, USED), 40 * MIB);
    assert_int_equal(counter_of(pool, RESERVED), 2 * UNIT);
    OK(FREE_ASYNC(q, NULL));
    assert_int_equal(counter_of(pool, USED), 20 * MIB);
    assert_int_equal(counter_of(pool, USED_HIGH), 40 * MIB);
    assert_int_equal(counter_of(pool, RESERVED), 2 * UNIT);
    OK(TRIM(pool, UNIT + MIB)); /* keeps that much */
    assert_int_equal(counter_of(pool, RESERVED), UNIT + MIB);
    OK(TRIM(pool, 0)); /* and what is in use */
    assert_int_equal(counter_of(pool, RESERVED), UNIT);
    assert_int_equal(counter_of(pool, RESERVED_HIGH), 2 * UNIT);
    EXPECT(1, POOL_SET(pool, USED_HIGH, &one));
    EXPECT(1, POOL_SET(pool, RESERVED_HIGH, &one));
    EXPECT(1, POOL_SET(pool, USED, &zero));
    EXPECT(1, POOL_SET(pool, RESERVED, &zero));
    OK(POOL_SET(pool, USED_HIGH, &zero));
    OK(POOL_SET(pool, RESERVED_HIGH, &zero));
    assert_int_equal(counter_of(pool, USED_HIGH), 20 * MIB);
    assert_int_equal(counter_of(pool, RESERVED_HIGH), UNIT);
    OK(FREE(p));
    assert_int_equal(counter_of(pool, USED), 0);
    end_pool(pool);
    EXPECT(1, TRIM(pool, 0));
    EXPECT(1, POOL_SET(pool, USED_HIGH, &zero));
    EXPECT(1, MALLOC_FROM(&p, 16, pool, NULL));
    assert_null(p);
}

static void pools_keep_settings(void **state)
{
    cudaMemPool_t pool = new_pool(0, 0);
    uint64_t wide = 12345, *none = NULL;
    int value;
    (void)state;
#define POOL_GET(...) CALL(cudaMemPoolGetAttribute, (cudaMemPool_t, int, void *), __VA_ARGS__)
    assert_int_equal(counter_of(pool, THRESHOLD), 0);
    OK(POOL_SET(pool, THRESHOLD, &wide));
    assert_int_equal(counter_of(pool, THRESHOLD), 12345);
    for (int attribute = REUSE; attribute < THRESHOLD; attribute++) {
        OK(POOL_GET(pool, attribute, &value));
        assert_int_equal(value, 1);
        value = 0;
        OK(POOL_SET(pool, attribute, &value));
        value = 7;
        OK(POOL_GET(pool, attribute, &value));
        assert_int_equal(value, 0);
    }
    OK(POOL_SET(pool, REUSE, &(int){5}));
    OK(POOL_GET(pool, REUSE, &value));
    assert_int_equal(value, 1);
    EXPECT(1, POOL_GET(pool, 0, &wide));
    EXPECT(1, POOL_GET(pool, 9, &wide));
    EXPECT(1, POOL_GET(pool, USED, none));
    EXPECT(1, POOL_SET(pool, 0, &wide));
    EXPECT(1, POOL_SET(pool, 9, &wide));
    EXPECT(1, POOL_SET(pool, THRESHOLD, none));
    end_pool(pool);
    EXPECT(1, POOL_GET(pool, USED, &wide));
}

static void pools_are_of_one_device(void **state)
{
    cudaMemPool_t pool = new_pool(1, 4096), got, plain;
    CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 3};
    int flags;
    void *p, *q;
    (void)state;
#define ACCESS(...) CALL(cudaMemPoolGetAccess, (int *, cudaMemPool_t, CUmemLocation *), __VA_ARGS__)
#define SET_ACCESS(...) \
    CALL(cudaMemPoolSetAccess, (cudaMemPool_t, const CUmemAccessDesc *, size_t), __VA_ARGS__)
#define DEVICE_POOL(...) CALL(cudaDeviceGetMemPool, (cudaMemPool_t *, int), __VA_ARGS__)
#define SET_DEVICE_POOL(...) CALL(cudaDeviceSetMemPool, (int, cudaMemPool_t), __VA_ARGS__)
    OK(ACCESS(&flags, pool, &where));
    assert_int_equal(flags, 0);
    OK(SET_ACCESS(pool, &access, 1));
    OK(ACCESS(&flags, pool, &where));
    assert_int_equal(flags, 3);
    where.id = access.location.id = 1;
    OK(ACCESS(&flags, pool, &where));
    assert_int_equal(flags, 3);
    OK(SET_ACCESS(pool, &access, 1));
    access.flags = 0; /* its own device always has access */
    EXPECT(1, SET_ACCESS(pool, &access, 1));
    where.id = access.location.id = 2;
    EXPECT(101, ACCESS(&flags, pool, &where));
    EXPECT(101, SET_ACCESS(pool, &access, 1));
    EXPECT(1, SET_ACCESS(pool, NULL, 1));
    EXPECT(1, ACCESS(NULL, pool, &where));
    EXPECT(1, ACCESS(&flags, pool, NULL));
    where.type = access.location.type = CU_MEM_LOCATION_TYPE_HOST;
    EXPECT(1, ACCESS(&flags, pool, &where));
    EXPECT(1, SET_ACCESS(pool, &access, 1));
    EXPECT(101, SET_DEVICE_POOL(0, pool));
    EXPECT(101, SET_DEVICE_POOL(2, pool));
    EXPECT(1, SET_DEVICE_POOL(1, NULL));
    OK(DEVICE_POOL(&plain, 1));
    OK(SET_DEVICE_POOL(1, pool));
    OK(DEVICE_POOL(&got, 1));
    assert_ptr_equal(got, pool);
    OK(CALL(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *, int), &got, 1));
    assert_ptr_equal(got, plain);
    EXPECT(1, DEVICE_POOL(NULL, 1));
    EXPECT(101, DEVICE_POOL(&got, 2));
    EXPECT(1, CALL(cudaMemPoolDestroy, (cudaMemPool_t), plain));
    OK(MALLOC_FROM(&p, 4000, pool, NULL));
    EXPECT(2, MALLOC_FROM(&q, 97, pool, NULL)); /* 4,096 bytes and no more */
    assert_null(q);
    OK(MALLOC_FROM(&q, 96, pool, NULL));
    OK(FREE_ASYNC(q, NULL));
    end_pool(pool);
    OK(DEVICE_POOL(&got, 1));
    assert_ptr_equal(got, plain); /* the default one again */
    OK(FREE_ASYNC(p, NULL));      /* its blocks live on */
}

static void pools_of_other_kinds_are_refused(void **state)
{
    CUmemPoolProps good = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                           .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                   p = good;
    cudaMemPool_t pool;
    (void)state;
#define CREATE(...) CALL(cudaMemPoolCreate, (cudaMemPool_t *, const CUmemPoolProps *), __VA_ARGS__)
    EXPECT(1, CREATE(NULL, &good));
    EXPECT(1, CREATE(&pool, NULL));
    p.allocType = 0;
    EXPECT(1, CREATE(&pool, &p));
    p = good;
    p.location.type = CU_MEM_LOCATION_TYPE_HOST;
    EXPECT(801, CREATE(&pool, &p));
    p = good;
    p.handleTypes = 1;
    EXPECT(801, CREATE(&pool, &p));
    p = good;
    p.location.id = 2;
    EXPECT(101, CREATE(&pool, &p));
}

static void stream_ordered_calls_are_checked(void **state)
{
    cudaStream_t gone;
    char *p, *pinned;
    void *q;
    (void)state;
    OK(CALL(cudaStreamCreate, (cudaStream_t *), &gone));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), gone));
    EXPECT(1, MALLOC_ASYNC(NULL, 16, NULL));
    EXPECT(400, MALLOC_ASYNC(&q, 16, gone));
    assert_null(q);
    OK(MALLOC_ASYNC(&q, 0, NULL));
    assert_null(q);
    EXPECT(1, MALLOC_FROM(&q, 16, NULL, NULL));
    OK(MALLOC((void **)&p, 64));
    OK(CALL(cudaMallocHost, (void **, size_t), (void **)&pinned, 64));
    EXPECT(400, FREE_ASYNC(p, gone));
    EXPECT(1, FREE_ASYNC(p + 1, NULL));
    EXPECT(1, FREE_ASYNC(pinned, NULL));
    OK(FREE_ASYNC(NULL, NULL));
    OK(FREE_ASYNC(p, NULL));
    EXPECT(1, FREE_ASYNC(p, NULL));
    OK(CALL(cudaFreeHost, (void *), pinned));
}

/* ---- what is known of addresses ---- */

static void pointers_are_told_apart(void **state)
{
    enum { UNREGISTERED, HOST, DEVICE, MANAGED };
    char *own = aligned_alloc(4096, 4096), *p[5];
    static const int types[] = {DEVICE, HOST, MANAGED, HOST, UNREGISTERED};
    static const int devices[] = {1, 0, 0, 0, -2};
    struct cudaPointerAttributes_v13 a;
    void *device;
    unsigned flags;
    (void)state;
    OK(CALL(cudaSetDevice, (int), 1));
    OK(MALLOC((void **)&p[0], 64));
    OK(CALL(cudaSetDevice, (int), 0));
    OK(CALL(cudaHostAlloc, (void **, size_t, unsigned), (void **)&p[1], 64, 4));
    OK(CALL(cudaMallocManaged, (void **, size_t, unsigned), (void **)&p[2], 64, 2));
    OK(CALL(cudaHostRegister, (void *, size_t, unsigned), p[3] = own, 4096, 0));
    p[4] = (char *)&a;
    for (int i = 0; i < 5; i++) {
        char *at = p[i] + 5;
        memset(&a, 0xff, sizeof a);
        OK(CALL(cudaPointerGetAttributes, (struct cudaPointerAttributes_v13 *, const void *), &a,
                at));
        assert_int_equal(a.type, types[i]);
        assert_int_equal(a.device, devices[i]);
        assert_ptr_equal(a.devicePointer, i == 4 ? NULL : at);
        assert_ptr_equal(a.hostPointer, i == 0 ? NULL : at);
        assert_int_equal(a.reserved[0], 0);
    }
    EXPECT(1, CALL(cudaPointerGetAttributes, (struct cudaPointerAttributes_v13 *, const void *),
                   NULL, p[0]));
#define DEVICE_POINTER(...) CALL(cudaHostGetDevicePointer, (void **, void *, unsigned), __VA_ARGS__)
#define HOST_FLAGS(...) CALL(cudaHostGetFlags, (unsigned *, void *), __VA_ARGS__)
    OK(DEVICE_POINTER(&device, p[1] + 3, 0));
    assert_ptr_equal(device, p[1] + 3);
    OK(DEVICE_POINTER(&device, p[3], 0));
    EXPECT(1, DEVICE_POINTER(&device, p[0], 0));
    EXPECT(1, DEVICE_POINTER(&device, p[2], 0));
    EXPECT(1, DEVICE_POINTER(&device, p[4], 0));
    EXPECT(1, DEVICE_POINTER(&device, p[1], 1));
    EXPECT(1, DEVICE_POINTER(NULL, p[1], 0));
    OK(HOST_FLAGS(&flags, p[1]));
    assert_int_equal(flags, 1 | 2 | 4); /* portable and mapped as all are; write-combined */
    EXPECT(1, HOST_FLAGS(&flags, p[0]));
    EXPECT(1, HOST_FLAGS(&flags, p[3]));
    EXPECT(1, HOST_FLAGS(&flags, p[4]));
    EXPECT(1, HOST_FLAGS(NULL, p[1]));
    EXPECT(1, CALL(cudaHostAlloc, (void **, size_t, unsigned), &device, 64, 8));
    EXPECT(1, CALL(cudaHostAlloc, (void **, size_t, unsigned), NULL, 64, 0));
    EXPECT(1, CALL(cudaHostRegister, (void *, size_t, unsigned), own, 4096, 16));
    EXPECT(712, CALL(cudaHostRegister, (void *, size_t, unsigned), own + 8, 8, 0));
    EXPECT(713, CALL(cudaHostUnregister, (void *), own + 8));
    EXPECT(1, CALL(cudaHostUnregister, (void *), NULL));
    OK(CALL(cudaHostUnregister, (void *), own));
    OK(FREE(p[0]));
    OK(CALL(cudaFreeHost, (void *), p[1]));
    OK(FREE(p[2]));
    free(own);
}

static void managed_memory_takes_advice(void **state)
{
    enum { LAST_ADVICE = 6 };
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 1}, no_device = {device.type, 2},
                  host = {CU_MEM_LOCATION_TYPE_HOST, 0}, nowhere = {99, 0};
    char *managed, *plain;
    (void)state;
    OK(CALL(cudaMallocManaged, (void **, size_t, unsigned), (void **)&managed, 256, 1));
    OK(MALLOC((void **)&plain, 256));
#define ADVISE(...) CALL(cudaMemAdvise, (const void *, size_t, int, CUmemLocation), __VA_ARGS__)
#define PREFETCH(...)                                                                         \
    CALL(cudaMemPrefetchAsync, (const void *, size_t, CUmemLocation, unsigned, cudaStream_t), \
         __VA_ARGS__)
    for (int advice = 1; advice <= LAST_ADVICE; advice++) {
        bool anywhere = advice == 1 || advice == 2 || advice == 4; /* the place is not looked at */
        OK(ADVISE(managed, 256, advice, device));
        OK(ADVISE(managed, 256, advice, host));
        EXPECT(anywhere ? 0 : 101, ADVISE(managed, 256, advice, no_device));
        EXPECT(anywhere ? 0 : 101, ADVISE(managed, 256, advice, nowhere));
    }
    EXPECT(1, ADVISE(managed, 256, 0, device));
    EXPECT(1, ADVISE(managed, 256, LAST_ADVICE + 1, device));
    EXPECT(1, ADVISE(managed, 257, 1, device));
    EXPECT(1, ADVISE(managed, 0, 1, device));
    EXPECT(1, ADVISE(plain, 256, 1, device));
    EXPECT(1, ADVISE(&device, 4, 1, device));
    OK(CALL_OF(12, cudaMemAdvise, (const void *, size_t, int, int), managed, 256, 3,
               -1)); /* host */
    OK(CALL_OF(12, cudaMemAdvise, (const void *, size_t, int, int), managed, 256, 3, 1));
    EXPECT(101, CALL_OF(12, cudaMemAdvise, (const void *, size_t, int, int), managed, 256, 3, 2));
    OK(PREFETCH(managed, 256, device, 0, NULL));
    OK(PREFETCH(managed + 8, 248, host, 0, NULL));
    EXPECT(101, PREFETCH(managed, 256, no_device, 0, NULL));
    EXPECT(1, PREFETCH(managed, 256, device, 1, NULL));
    EXPECT(1, PREFETCH(managed + 8, 249, device, 0, NULL));
    EXPECT(1, PREFETCH(plain, 8, device, 0, NULL));
    EXPECT(400, PREFETCH(managed, 8, device, 0, (cudaStream_t)plain));
#define ATTACH(...) \
    CALL(cudaStreamAttachMemAsync, (cudaStream_t, void *, size_t, unsigned), __VA_ARGS__)
    for (unsigned flags = 0; flags <= 5; flags++)
        EXPECT(flags != 1 && flags != 2 && flags != 4, ATTACH(NULL, managed, 0, flags));
    EXPECT(1, ATTACH(NULL, plain, 0, 1));
    EXPECT(400, ATTACH((cudaStream_t)plain, managed, 0, 1));
    EXPECT(1, CALL(cudaMallocManaged, (void **, size_t, unsigned), NULL, 16, 1));
    EXPECT(1, CALL(cudaMallocManaged, (void **, size_t, unsigned), (void **)&plain, 16, 3));
    OK(FREE(managed));
    OK(FREE(plain));
}

/* ---- sets ---- */

static void sets_write_elements(void **state)
{
    static const unsigned char rows[16] = {0, 0, 0x34, 0x12, 0x34, 0x12, 0, 0,
                                           0, 0, 0x34, 0x12, 0x34, 0x12, 0, 0};
    unsigned char host[64];
    CUdeviceptr d;
    (void)state;
#define D8(...) DRIVER(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), __VA_ARGS__)
#define D16(...) DRIVER(cuMemsetD16_v2, (CUdeviceptr, unsigned short, size_t), __VA_ARGS__)
#define D32(...) DRIVER(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), __VA_ARGS__)
#define D2D16(...) \
    DRIVER(cuMemsetD2D16_v2, (CUdeviceptr, size_t, unsigned short, size_t, size_t), __VA_ARGS__)
#define EXPECT_BYTES(bytes, count)          \
    OK(COPY(host, (void *)d, 64, TO_HOST)); \
    assert_memory_equal(host, bytes, count)
    OK(MALLOC((void **)&d, 64));
    OK(D8(d, 0, 64));
    OK(D2D16(d + 2, 8, 0x1234, 2, 2));
    EXPECT_BYTES(rows, 16);
    OK(D32(d + 4, 0x01020304, 2));
    EXPECT_BYTES("\0\0\x34\x12\4\3\2\1\4\3\2\1\x34\x12\0\0", 16);
    OK(D16(d, 0xabcd, 1));
    EXPECT_BYTES("\xcd\xab\x34\x12", 4);
    EXPECT(1, D16(d + 1, 1, 1));
    EXPECT(1, D32(d + 2, 1, 1));
    EXPECT(1, D2D16(d, 3, 1, 2, 2)); /* rows would overlap */
    OK(D2D16(d, 3, 1, 2, 1));        /* of one that says nothing */
    EXPECT(1, D8(d, 0, 65));
    OK(D8(d + 63, 0, 1));
    EXPECT(1, D8(d + 63, 0, 2));
    OK(FREE((void *)d));
    EXPECT(1, D8(d, 0, 1));
}

/* Every function of the driver that sets memory in the order of a stream. */
static void streams_set_elements(void **state)
{
    static const unsigned char expected[64] = {
        1,    1,    2,    3,    4,    5,    6, 7, /* D8Async, D16Async, D32Async */
        0xa8, 0xa8, 0,    0,    0xa8, 0xa8, 0, 0, /* D2D8Async */
        0x0a, 0x1b, 0,    0,    0,    0,    0, 0, 0x0a, 0x1b, 0, 0, 0, 0, 0, 0, /* D2D16Async */
        0x2c, 0x2d, 0x2e, 0x2f, 0,    0,    0, 0, 0,    0,    0, 0, 0, 0, 0, 0, /* D2D32Async */
        0x2c, 0x2d, 0x2e, 0x2f, 0,    0,    0, 0, 9,    0,    0, 0, 9}; /* D2D8, of no stream */
    unsigned char host[64];
    cudaStream_t made;
    CUdeviceptr d;
    (void)state;
    OK(CALL(cudaStreamCreate, (cudaStream_t *), &made));
    OK(MALLOC((void **)&d, 64));
    OK(D8(d, 0, 64));
    CUstream s = (CUstream)made;
    OK(DRIVER(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), d, 1, 2, s));
    OK(DRIVER(cuMemsetD16Async, (CUdeviceptr, unsigned short, size_t, CUstream), d + 2, 0x0302, 1,
              s));
    OK(DRIVER(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), d + 4, 0x07060504, 1,
              s));
    OK(DRIVER(cuMemsetD2D8Async, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream),
              d + 8, 4, 0xa8, 2, 2, s));
    OK(DRIVER(cuMemsetD2D16Async, (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream),
              d + 16, 8, 0x1b0a, 1, 2, s));
    OK(DRIVER(cuMemsetD2D32Async, (CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream), d + 32,
              16, 0x2f2e2d2c, 1, 2, s));
    OK(CALL(cudaStreamSynchronize, (cudaStream_t), made));
    OK(DRIVER(cuMemsetD2D8_v2, (CUdeviceptr, size_t, unsigned char, size_t, size_t), d + 56, 4, 9,
              1, 2));
    EXPECT_BYTES(expected, 64);
    EXPECT(1,
           DRIVER(cuMemsetD2D8Async, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream),
                  d, 3, 1, 4, 2, s));
    OK(FREE((void *)d));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), made));
}

/* ---- the driver's copies ---- */

/* Each function moves four bytes of `sent` a step on; the last one's end in `got`. */
static void the_driver_copies_any_way(void **state)
{
    static const char sent[] = "abcdefghijklmnop";
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    char got[24] = {0};
    CUdeviceptr p, q, none;
    CUarray a, b;
    (void)state;
    OK(MALLOC((void **)&p, 64));
    OK(MALLOC((void **)&q, 64));
    OK(DRIVER(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &a, &d));
    OK(DRIVER(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &b, &d));
#define H_TO_D(...) DRIVER(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), __VA_ARGS__)
#define D_TO_D(...) DRIVER(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t), __VA_ARGS__)
#define H_TO_A(...) DRIVER(cuMemcpyHtoA_v2, (CUarray, size_t, const void *, size_t), __VA_ARGS__)
#define A_TO_H(...) DRIVER(cuMemcpyAtoH_v2, (void *, CUarray, size_t, size_t), __VA_ARGS__)
#define A_TO_A(...) DRIVER(cuMemcpyAtoA_v2, (CUarray, size_t, CUarray, size_t, size_t), __VA_ARGS__)
#define D_TO_A(...) DRIVER(cuMemcpyDtoA_v2, (CUarray, size_t, CUdeviceptr, size_t), __VA_ARGS__)
#define A_TO_D(...) DRIVER(cuMemcpyAtoD_v2, (CUdeviceptr, CUarray, size_t, size_t), __VA_ARGS__)
    OK(H_TO_D(p, sent, 16));
    OK(DRIVER(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), p + 16, sent, 4,
              NULL));
    OK(D_TO_D(q + 3, p, 20));
    OK(DRIVER(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream), q, p + 16, 3,
              NULL));
    OK(DRIVER(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), got, q, 23, NULL));
    assert_string_equal(got, "abcabcdefghijklmnopabcd");
    OK(DRIVER(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream), (CUdeviceptr)got, q + 4,
              2, NULL));
    assert_memory_equal(got, "bcca", 4);
    OK(H_TO_A(a, 1, sent, 16));
    OK(DRIVER(cuMemcpyHtoAAsync_v2, (CUarray, size_t, const void *, size_t, CUstream), a, 17, sent,
              4, NULL));
    OK(A_TO_A(b, 2, a, 3, 18));
    OK(D_TO_A(b, 20, p + 8, 4));
    OK(A_TO_D(q + 1, b, 4, 19));
    memset(got, 0, sizeof got);
    OK(DRIVER(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), got, q + 1, 19));
    assert_string_equal(got, "efghijklmnopabcdijk");
    memset(got, 0, sizeof got);
    OK(A_TO_H(got, b, 20, 4));
    OK(DRIVER(cuMemcpyAtoHAsync_v2, (void *, CUarray, size_t, size_t, CUstream), got + 4, a, 1, 3,
              NULL));
    assert_string_equal(got, "ijklabc");
    EXPECT(1, H_TO_A(a, 61, sent, 4));
    OK(H_TO_A(a, 60, sent, 4));
    EXPECT(1, A_TO_A(a, 0, b, 61, 4));
    OK(DRIVER(cuArrayDestroy, (CUarray), a));
    EXPECT(400, H_TO_A(a, 0, sent, 4));
    EXPECT(400, A_TO_H(got, a, 0, 4));
    EXPECT(400, A_TO_A(a, 0, b, 0, 4));
    EXPECT(400, A_TO_A(b, 0, a, 0, 4));
    EXPECT(400, D_TO_A(a, 0, p, 4));
    EXPECT(400, A_TO_D(p, a, 0, 4));
    OK(DRIVER(cuArrayDestroy, (CUarray), b));
    EXPECT(1, DRIVER(cuMemAlloc_v2, (CUdeviceptr *, size_t), NULL, 16));
    EXPECT(1, DRIVER(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned), NULL, 16, 1));
    EXPECT(1, DRIVER(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), NULL, 16, NULL));
    OK(DRIVER(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &none, 16, NULL));
    OK(DRIVER(cuMemFreeAsync, (CUdeviceptr, CUstream), none, NULL));
    OK(FREE((void *)p));
    OK(FREE((void *)q));
}

static void places_of_the_driver_are_checked(void **state)
{
    char host[64] = "0123456789abcdef0123456789ABCDEF";
    CUdeviceptr p;
    (void)state;
    OK(MALLOC((void **)&p, 64));
    CUDA_MEMCPY3D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 8,
                          .srcHeight = 2,
                          .srcXInBytes = 2,
                          .srcY = 1,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 16,
                          .dstHeight = 2,
                          .dstXInBytes = 4,
                          .dstY = 1,
                          .dstZ = 1,
                          .WidthInBytes = 3,
                          .Height = 1,
                          .Depth = 1},
                  c = good;
#define SLICES(...) DRIVER(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *), __VA_ARGS__)
    OK(D8(p, 0, 64));
    OK(SLICES(&good));
    OK(COPY(host, (void *)p, 64, TO_HOST));
    assert_string_equal(host + 52, "ABC"); /* from byte 26 to byte 52 */
    EXPECT(1, SLICES(NULL));
    EXPECT(1, DRIVER(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), NULL));
    c.srcMemoryType = 0;
    EXPECT(1, SLICES(&c));
    c = good;
    c.dstMemoryType = 5;
    EXPECT(1, SLICES(&c));
    c = good;
    c.srcLOD = 1;
    EXPECT(1, SLICES(&c));
    c = good;
    c.dstLOD = 1;
    EXPECT(1, SLICES(&c));
    c = good;
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    EXPECT(400, SLICES(&c));
    c = good;
    c.dstMemoryType = CU_MEMORYTYPE_UNIFIED; /* wherever that is */
    OK(SLICES(&c));
    c.dstZ = 2; /* just past the end: nobody's memory, though the emulator could write there */
    EXPECT(1, SLICES(&c));
    c = good;
    c.dstZ = 2;
    EXPECT(1, SLICES(&c));
    OK(COPY((void *)p, host, 64, ANY_WAY));
    EXPECT(1, COPY((void *)(p + 64), host, 1, ANY_WAY));
    EXPECT(1, COPY(host, (void *)(p + 64), 1, ANY_WAY));
    OK(COPY((void *)(p + 64), host, 0, ANY_WAY));
    OK(FREE((void *)p));
    EXPECT(1, COPY((void *)p, host, 64, ANY_WAY)); /* freed */
    EXPECT(1, COPY(host, (void *)p, 64, ANY_WAY));
}

static void streams_write_and_wait_for_values(void **state)
{
    uint64_t words[2];
    CUdeviceptr p;
    (void)state;
#define WRITE32(...) \
    DRIVER(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), __VA_ARGS__)
#define WRITE64(...) \
    DRIVER(cuStreamWriteValue64_v2, (CUstream, CUdeviceptr, cuuint64_t, unsigned), __VA_ARGS__)
#define WAIT32(...) \
    DRIVER(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), __VA_ARGS__)
    OK(MALLOC((void **)&p, 16));
    OK(D8(p, 0xff, 16));
    OK(WRITE32(NULL, p, 7, 0));
    OK(WAIT32(NULL, p, 7, 1)); /* equal */
    OK(WAIT32(NULL, p, 5, 0)); /* at least */
    OK(WRITE64(NULL, p + 8, 0x123456789abcdef0, 0));
    OK(COPY(words, (void *)p, 16, TO_HOST));
    assert_true(words[0] == 0xffffffff00000007 && words[1] == 0x123456789abcdef0);
    EXPECT(1, WRITE32(NULL, p + 2, 7, 0));
    EXPECT(1, WRITE64(NULL, p + 4, 7, 0));
    EXPECT(1, WRITE32(NULL, p + 16, 7, 0));
    EXPECT(1, WAIT32(NULL, p + 1, 7, 0));
    EXPECT(400, WRITE32((CUstream)p, p, 7, 0));
    EXPECT(400, WAIT32((CUstream)p, p, 7, 0));
    OK(FREE((void *)p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_recorded),
        cmocka_unit_test(blocks_of_pools_are_recorded),
        cmocka_unit_test(copies_are_recorded),
        cmocka_unit_test(sets_are_recorded),
        cmocka_unit_test(arrays_and_mappings_are_recorded),
        cmocka_unit_test(events_are_recorded),
        cmocka_unit_test(pools_count),
        cmocka_unit_test(pools_keep_settings),
        cmocka_unit_test(pools_are_of_one_device),
        cmocka_unit_test(pools_of_other_kinds_are_refused),
        cmocka_unit_test(stream_ordered_calls_are_checked),
        cmocka_unit_test(pointers_are_told_apart),
        cmocka_unit_test(managed_memory_takes_advice),
        cmocka_unit_test(sets_write_elements),
        cmocka_unit_test(streams_set_elements),
        cmocka_unit_test(the_driver_copies_any_way),
        cmocka_unit_test(places_of_the_driver_are_checked),
        cmocka_unit_test(streams_write_and_wait_for_values),
    };
    snprintf(capture, sizeof capture, "%s/%ld-0.wlcap", getenv("WARPLENS_CAPTURE_DIR"),
             (long)getpid());
    unlink(capture); /* of an earlier process of that number */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(capture);
    return failed;
}
