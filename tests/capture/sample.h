/* Random records, and their comparison, from the table of fields. */
#ifndef WL_TESTS_CAPTURE_SAMPLE_H
#define WL_TESTS_CAPTURE_SAMPLE_H

#include "base/arena.h"
#include "capture/capture.h"

typedef struct sample_rng {
    uint64_t state;
    uint32_t size; /* arrays have up to this many elements */
    wl_arena *arena;
} sample_rng;

/* A random record of the type; valid for a reader. */
void sample_fill(sample_rng *rng, cap_type type, cap_record *record);
bool sample_equal(const cap_record *a, const cap_record *b);
wl_status sample_write(cap_writer *writer, const cap_record *record);

/* A capture of one record of each type, in a new file; *ends[n] is where record n ends, from the
 * header's end at 0. */
enum {
#define X(id, number, type) SAMPLE_##id,
#include "capture/events.def"
#undef X
    SAMPLE_TYPES
};
void sample_file(const char *path, uint64_t seed, uint32_t size, cap_record *records,
                 uint64_t *ends, wl_arena *arena);

/* A new name in the folder for temporary files; the file is not there. */
const char *sample_path(wl_arena *arena, const char *name);

#endif
