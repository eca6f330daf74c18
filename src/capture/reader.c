#include "capture/capture.h"
#include "capture/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

/* An arena is used for several records as long as these are small. */
enum { ARENA_KEEP = 32 * 1024, UNPACK_STEP = 64 * 1024, PLAIN_KEEP = 256 << 20 };

struct cap_reader {
    int fd; /* -1: in memory */
    const uint8_t *data;
    uint64_t size, at; /* of the whole file; of the next record */
    uint64_t number;   /* of the next record, from 1 */
    bool ended;        /* nothing more can be read */
    uint8_t *stored;   /* the payload as in the file */
    size_t stored_size;
    ZSTD_DStream *zstd; /* of the first compressed payload on */
    uint64_t skipped;   /* CAP_BIT(type): not decoded */
    cap_buffer plain;   /* the last payload that was compressed */
    uint64_t last_size; /* of the last payload as in the file */
    uint32_t last_flags;
    wl_arena *arena;
    char *name;
};

typedef struct frame {
    uint32_t type, flags;
    uint64_t size, hash;
} frame;

/* ---- the file ---- */

/* Exactly `size` bytes at `at`. */
static wl_status read_at(cap_reader *r, uint64_t at, void *out, size_t size, wl_error *err)
{
    if (r->fd < 0) {
        memcpy(out, r->data + at, size);
        return WL_OK;
    }
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(r->fd, (uint8_t *)out + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wl_fail_errno(err, "Cannot read %s", r->name);
        if (n == 0)
            return wl_fail(err, WL_TRUNCATED, "%s was cut short while it was read.", r->name);
        done += (size_t)n;
    }
    return WL_OK;
}

/* A number is not read before the magic is right: other files are no captures of another version.*/
static wl_status read_header(cap_reader *r, wl_error *err)
{
    uint8_t header[CAP_HEADER_BYTES] = {0};
    size_t have = r->size < sizeof header ? (size_t)r->size : sizeof header;
    wl_status status = read_at(r, 0, header, have, err);
    if (status)
        return status;
    if (memcmp(header, cap_magic, have < sizeof cap_magic ? have : sizeof cap_magic) != 0)
        return wl_fail(err, WL_CORRUPT, "%s is not a capture of warplens.", r->name);
    if (have < sizeof header)
        return wl_fail(err, WL_TRUNCATED, "%s ends before its first record.", r->name);
    cap_cursor c = {.at = header + sizeof cap_magic, .end = header + sizeof header};
    uint64_t version = cap_get_number(&c, 4), reserved = cap_get_number(&c, 4);
    if (version != CAP_VERSION)
        return wl_fail(err, WL_VERSION,
                       "%s has format %u, this warplens reads format %u; profile the program anew.",
                       r->name, (unsigned)version, (unsigned)CAP_VERSION);
    if (reserved)
        return wl_fail(err, WL_CORRUPT, "%s is damaged in its header.", r->name);
    r->at = sizeof header;
    return WL_OK;
}

static wl_status open_reader(cap_reader *r, const char *name, cap_reader **out, wl_error *err)
{
    r->number = 1;
    r->name = strdup(name);
    r->arena = wl_arena_new();
    wl_status status = r->name && r->arena
                           ? read_header(r, err)
                           : wl_fail(err, WL_NOMEM, "Cannot read %s: out of memory.", name);
    if (status)
        cap_reader_free(r);
    else
        *out = r;
    return status;
}

static wl_status open_capture_file(cap_reader *r, const char *path, wl_error *err)
{
    struct stat st;
    r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would block */
    if (r->fd < 0 || fstat(r->fd, &st) < 0)
        return wl_fail_errno(err, "Cannot open %s", path);
    if (!S_ISREG(st.st_mode))
        return wl_fail(err, WL_CORRUPT, "%s is not a file, so not a capture of warplens.", path);
    r->size = (uint64_t)st.st_size;
    return WL_OK;
}

wl_status cap_open(const char *path, cap_reader **out, wl_error *err)
{
    cap_reader *r = calloc(1, sizeof *r);
    if (!r)
        return wl_fail(err, WL_NOMEM, "Cannot read %s: out of memory.", path);
    wl_status status = open_capture_file(r, path, err);
    if (!status)
        return open_reader(r, path, out, err);
    cap_reader_free(r);
    return status;
}

wl_status cap_open_memory(const void *data, size_t size, cap_reader **out, wl_error *err)
{
    cap_reader *r = calloc(1, sizeof *r);
    if (!r)
        return wl_fail(err, WL_NOMEM, "Cannot read a capture: out of memory.");
    r->fd = -1;
    r->data = data;
    r->size = size;
    return open_reader(r, "the capture", out, err);
}

void cap_reader_free(cap_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    wl_arena_free(r->arena);
    ZSTD_freeDStream(r->zstd);
    cap_buffer_free(&r->plain);
    free(r->stored);
    free(r->name);
    free(r);
}

void cap_skip(cap_reader *r, uint64_t types)
{
    r->skipped = types;
}

uint64_t cap_position(const cap_reader *r)
{
    return r->at;
}

void cap_seek(cap_reader *r, uint64_t position)
{
    r->at = position;
    r->ended = false;
}

uint32_t cap_subject(cap_reader *r)
{
    uint8_t bytes[4];
    const uint8_t *from = r->stored;
    size_t have = r->last_size < sizeof bytes ? (size_t)r->last_size : sizeof bytes;
    if (r->last_flags & CAP_FLAG_ZSTD) {
        ZSTD_inBuffer in = {r->stored, r->last_size, 0};
        ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
        if ((!r->zstd && !(r->zstd = ZSTD_createDStream())) ||
            ZSTD_isError(ZSTD_initDStream(r->zstd)) ||
            ZSTD_isError(ZSTD_decompressStream(r->zstd, &out, &in)))
            return 0;
        have = out.pos;
        from = bytes;
    }
    return have == sizeof bytes ? (uint32_t)cap_get_at(from, sizeof bytes) : 0;
}

/* ---- records ---- */

/* Nothing behind this can be trusted. */
static wl_status give_up_reading(cap_reader *r, wl_status status, const char *what, wl_error *err)
{
    r->ended = true;
    return wl_fail(err, status, "%s %s record %llu, at byte %llu.", r->name, what,
                   (unsigned long long)r->number, (unsigned long long)r->at);
}

static wl_status read_frame(cap_reader *r, frame *f, wl_error *err)
{
    uint8_t bytes[CAP_FRAME_BYTES];
    if (r->size - r->at < sizeof bytes)
        return give_up_reading(r, WL_TRUNCATED, "ends inside", err);
    wl_status status = read_at(r, r->at, bytes, sizeof bytes, err);
    if (status) {
        r->ended = true;
        return status;
    }
    cap_cursor c = {.at = bytes, .end = bytes + sizeof bytes};
    f->type = (uint32_t)cap_get_number(&c, 4);
    f->flags = (uint32_t)cap_get_number(&c, 4);
    f->size = cap_get_number(&c, 8);
    f->hash = cap_get_number(&c, 8);
    if (f->size > r->size - r->at - sizeof bytes)
        return give_up_reading(r, WL_TRUNCATED, "ends inside", err);
    return WL_OK;
}

static wl_status read_payload(cap_reader *r, const frame *f, wl_error *err)
{
    if (f->size > CAP_MAX_PAYLOAD)
        return WL_CORRUPT;
    if (f->size > r->stored_size) {
        uint8_t *larger = realloc(r->stored, f->size);
        if (!larger)
            return wl_fail(err, WL_NOMEM, "Cannot read %s: out of memory.", r->name);
        r->stored = larger;
        r->stored_size = f->size;
    }
    wl_status status = f->size ? read_at(r, r->at + CAP_FRAME_BYTES, r->stored, f->size, err)
                               : WL_OK;
    if (!status && cap_hash(f->type, f->flags, r->stored, f->size) != f->hash)
        status = WL_CORRUPT;
    return status;
}

/* Room grows with what really comes out, not with what the data say of themselves. */
static wl_status grow_unpacked(cap_buffer *b)
{
    size_t capacity = b->capacity + (b->capacity > UNPACK_STEP ? b->capacity : UNPACK_STEP);
    if (b->capacity >= CAP_MAX_PAYLOAD)
        return WL_CORRUPT;
    capacity = capacity < CAP_MAX_PAYLOAD ? capacity : CAP_MAX_PAYLOAD;
    uint8_t *data = realloc(b->data, capacity);
    if (!data)
        return WL_NOMEM;
    b->data = data;
    b->capacity = capacity;
    return WL_OK;
}

static wl_status unpack_payload(cap_reader *r, size_t size, cap_buffer *out)
{
    if (!r->zstd && !(r->zstd = ZSTD_createDStream()))
        return WL_NOMEM;
    ZSTD_inBuffer in = {r->stored, size, 0};
    wl_status status = ZSTD_isError(ZSTD_initDStream(r->zstd)) ? WL_NOMEM : WL_OK;
    size_t left = 1; /* 0: the frame is complete */
    while (!status && left) {
        if (out->size == out->capacity && (status = grow_unpacked(out)))
            break;
        ZSTD_outBuffer o = {out->data, out->capacity, out->size};
        size_t before = in.pos;
        left = ZSTD_decompressStream(r->zstd, &o, &in);
        bool stuck = in.pos == before && o.pos == out->size;
        out->size = o.pos;
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            status = WL_NOMEM;
        else if (ZSTD_isError(left) || (left && stuck))
            status = WL_CORRUPT;
    }
    return !status && in.pos != size ? WL_CORRUPT : status;
}

static wl_status fresh_arena(cap_reader *r)
{
    if (wl_arena_used(r->arena) < ARENA_KEEP)
        return WL_OK;
    wl_arena *fresh = wl_arena_new();
    if (!fresh)
        return WL_NOMEM;
    wl_arena_free(r->arena);
    r->arena = fresh;
    return WL_OK;
}

static wl_status decode_frame(cap_reader *r, const frame *f, cap_record *record)
{
    cap_buffer *plain = &r->plain; /* its room is used again */
    wl_status status = fresh_arena(r);
    if (status || (f->flags & ~(uint32_t)CAP_FLAG_ZSTD))
        return status ? status : WL_CORRUPT;
    *record = (cap_record){.type = (cap_type)f->type};
    if (f->type < 64 && r->skipped >> f->type & 1)
        return WL_OK;
    bool packed = f->flags & CAP_FLAG_ZSTD;
    plain->size = 0;
    if (packed)
        status = unpack_payload(r, f->size, plain);
    if (!status)
        status = cap_decode(packed ? plain->data : r->stored, packed ? plain->size : f->size,
                            r->arena, record);
    if (plain->capacity > PLAIN_KEEP)
        cap_buffer_free(plain);
    return status;
}

static wl_status read_record(cap_reader *r, const frame *f, cap_record *record, wl_error *err)
{
    wl_status status = read_payload(r, f, err);
    if (!status)
        status = decode_frame(r, f, record);
    if (status == WL_CORRUPT)
        wl_fail(err, status, "%s is damaged in record %llu, at byte %llu.", r->name,
                (unsigned long long)r->number, (unsigned long long)r->at);
    else if (status == WL_NOMEM)
        wl_fail(err, status, "Cannot read %s: out of memory.", r->name);
    else if (status)
        r->ended = true;
    r->last_size = f->size <= r->stored_size ? f->size : 0;
    r->last_flags = f->flags;
    r->at += CAP_FRAME_BYTES + f->size;
    r->number++;
    return status;
}

wl_status cap_read(cap_reader *r, cap_record *record, bool *end, wl_error *err)
{
    frame f = {0};
    *end = r->ended || r->at == r->size;
    if (*end)
        return WL_OK;
    wl_status status = read_frame(r, &f, err);
    if (!status)
        status = read_record(r, &f, record, err);
    *end = status && (r->ended || r->at == r->size);
    return status;
}
