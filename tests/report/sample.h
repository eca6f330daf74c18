/* A profile's content made by hand, for tests of the reporters: two transposes and a kernel with a
 * hostile name. */
#ifndef TESTS_REPORT_SAMPLE_H
#define TESTS_REPORT_SAMPLE_H

#include "report/report.h"

/* Everything lies in the arena or is static. */
void sample_make(rep_data *data, wl_arena *arena);

#define SAMPLE_HOSTILE "evil<\"</script><script>alert(1)</script>\">"

#endif
