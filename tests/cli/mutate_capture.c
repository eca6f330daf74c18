/* mutate_capture SEED CAPTURE OUT: a capture with a few of its records changed. Each record that is
 * written has the right checksum, so that what is wrong lies in what it says: numbers and texts,
 * ends, order, records that are missing or come twice. The same seed gives the same file. */
#include "../support/file.h"
#include "../support/random.h"
#include "../support/records.h"
#include "capture/records.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_FRAMES = 4096, MOST_CHANGES = 4, MOST_BYTES = 16 };

typedef struct record_bytes { /* a record as it was, or as it was changed: not compressed */
    uint32_t type, times;     /* how often it is written */
    uint8_t *payload;
    size_t size;
} record_bytes;

static record_bytes frames[MOST_FRAMES];
static size_t nframes;

static void quit(const char *why)
{
    fprintf(stderr, "mutate_capture: %s\n", why);
    exit(1);
}

static uint8_t *unpacked(const uint8_t *stored, size_t *size)
{
    unsigned long long whole = ZSTD_getFrameContentSize(stored, *size);
    if (whole > CAP_MAX_PAYLOAD)
        quit("a compressed record does not tell its size");
    uint8_t *out = malloc(whole + 1);
    if (!out || ZSTD_decompress(out, whole, stored, *size) != whole)
        quit("a compressed record cannot be read");
    *size = whole;
    return out;
}

static void split_records(const uint8_t *data, size_t size)
{
    for (size_t at = CAP_HEADER_BYTES; at < size && nframes < MOST_FRAMES; nframes++) {
        size_t length = cap_get_at(data + at + 8, 8);
        bool packed = cap_get_at(data + at + 4, 4) & CAP_FLAG_ZSTD;
        record_bytes *r = &frames[nframes];
        const uint8_t *stored = data + at + CAP_FRAME_BYTES;
        *r = (record_bytes){.type = (uint32_t)cap_get_at(data + at, 4), .times = 1, .size = length};
        r->payload = packed ? unpacked(stored, &r->size)
                            : memcpy(malloc(length + 1), stored, length);
        at += CAP_FRAME_BYTES + length;
    }
}

static void change_bytes(record_bytes *r, uint64_t *seed)
{
    uint64_t count = 1 + random_below(seed, MOST_BYTES);
    for (uint64_t i = 0; i < count && r->size; i++) {
        uint8_t *at = &r->payload[random_below(seed, r->size)];
        const uint8_t values[] = {
            0, 255, 127, (uint8_t)(*at + 1), (uint8_t)(*at - 1), (uint8_t)random_next(seed)};
        *at = values[random_below(seed, sizeof values)];
    }
}

static void change_record(uint64_t *seed)
{
    record_bytes *r = &frames[random_below(seed, nframes)], *other;
    switch (random_below(seed, 8)) {
    case 0: r->times = 0; break;
    case 1: r->times = 2; break;
    case 2: r->size = random_below(seed, r->size + 1); break;
    case 3:
        other = &frames[random_below(seed, nframes)];
        record_bytes swapped = *r;
        *r = *other;
        *other = swapped;
        break;
    default: change_bytes(r, seed);
    }
}

static void write_records(const char *path)
{
    cap_buffer b = {0};
    put_bytes(&b, cap_magic, sizeof cap_magic);
    put_number(&b, CAP_VERSION, 8);
    for (size_t i = 0; i < nframes; i++)
        for (uint32_t n = 0; n < frames[i].times; n++) {
            const record_bytes *r = &frames[i];
            put_number(&b, r->type, 4);
            put_number(&b, 0, 4);
            put_number(&b, r->size, 8);
            put_number(&b, cap_hash(r->type, 0, r->payload, r->size), 8);
            put_bytes(&b, r->payload, r->size);
        }
    if (b.status || !file_write(path, b.data, b.size))
        quit("the changed capture cannot be written");
    cap_buffer_free(&b);
}

int main(int argc, char **argv)
{
    size_t size = 0;
    char *data = argc == 4 ? file_read(argv[2], &size) : NULL;
    if (!data || size < CAP_HEADER_BYTES)
        quit("usage: mutate_capture SEED CAPTURE OUT");
    uint64_t seed = strtoull(argv[1], NULL, 10);
    split_records((const uint8_t *)data, size);
    if (!nframes)
        quit("the capture has no record");
    uint64_t changes = 1 + random_below(&seed, MOST_CHANGES);
    for (uint64_t i = 0; i < changes; i++)
        change_record(&seed);
    write_records(argv[3]);
    for (size_t i = 0; i < nframes; i++)
        free(frames[i].payload);
    free(data);
    return 0;
}
