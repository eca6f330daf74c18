/* Small profiles, of launches as tests/profile tells them, that tests of the performance model read. */
#ifndef WL_TESTS_ANALYSIS_MODEL_PROFILES_H
#define WL_TESTS_ANALYSIS_MODEL_PROFILES_H

#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/model/parts.h"

#define ASSERT_NEAR(value, expected) assert_within(value, expected, 1e-12)

#define MODEL_PROFILE "model.wlprof"

/* Makes a profile of what `tell` adds, run on that device, and opens it; the caller closes it, and
 * removes story_path(MODEL_PROFILE). */
prof_db *model_profile(const char *device, void (*tell)(prof_builder *));
/* With another module than the story's. */
prof_db *model_profile_of(cap_record module, const char *device, void (*tell)(prof_builder *));
/* A figure that was measured of the H200. */
double model_figure(cuda_figure_key key);

/* ---- what may be told ---- */

void model_launches(prof_builder *builder); /* three, alike */
cap_record model_launch_without_maps(uint32_t id);
void model_second_without_maps(prof_builder *builder);
void model_launch_too_large(prof_builder *builder);

#endif
