/* What tests of reports share: the sample as a fixture, and reports drawn into memory. */
#ifndef WL_TESTS_REPORT_RENDER_H
#define WL_TESTS_REPORT_RENDER_H

#include "report/report.h"

#include <jansson.h>

typedef struct fixture {
    wl_arena *arena;
    rep_data data; /* the sample */
} fixture;

/* For cmocka: *state is a fixture. */
int set_up(void **state);
int tear_down(void **state);

/* Text that the caller frees; a report that cannot be drawn fails the test. */
char *text_of(const rep_data *data, const rep_text_options *options);
char *csv_of(const rep_data *data, rep_table table);
char *json_text_of(const rep_data *data);
json_t *json_of(const rep_data *data); /* the same, read again */
char *explorer_of(const rep_data *const *data, uint32_t count, uint32_t *left_out);

#endif
