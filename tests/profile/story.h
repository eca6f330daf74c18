/* Captures made by hand: records with sensible defaults, fed to a builder or to a capture file. */
#ifndef TESTS_PROFILE_STORY_H
#define TESTS_PROFILE_STORY_H

#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

/* A module of two kernels with lines, an inlined function and one in a header of the toolkit. */
extern const char story_ptx[];

cap_record story_process(const char *executable);
cap_record story_device(void);
cap_record story_module(uint32_t id);
cap_record story_object(uint32_t id, uint32_t call, uint64_t base, uint64_t bytes);
cap_record story_free(uint32_t object, uint32_t call);
cap_record story_call(uint32_t id, const char *api, cap_call_kind kind);
cap_record story_end(void);
/* A launch of "_Z5scalePf" over object 1 with one heat map of two sectors; the summary lives in
 * static memory. */
cap_record story_launch(uint32_t id, uint32_t call, uint64_t base);

/* Of launch `id`: elements 0 to 4 of object 1 were loaded twice, 7 and 8 stored to once; of object
 * 2 nothing is known; all 32 words of the shared array were accessed. */
cap_record story_uses(uint32_t id);

void story_expect(wl_status status, const wl_error *err);
/* A file name under the build folder, of this test's own; the same buffer each time. */
const char *story_path(const char *name);
/* Begins a process in a new profile at story_path(name). */
prof_builder *story_begin(const char *name);
void story_tell(prof_builder *builder, const cap_record *records, size_t count);
/* Ends the process and the profile, and opens it; the caller closes it. */
prof_db *story_finish(prof_builder *builder, const char *name);

/* Everything above as one process: two allocations, three launches, the first with uses, one
 * free. */
void story_all(prof_builder *builder);

#endif
