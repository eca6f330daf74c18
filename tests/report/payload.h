/* The data of an HTML report without its page, as the page holds it. */
#ifndef TESTS_REPORT_PAYLOAD_H
#define TESTS_REPORT_PAYLOAD_H

#include "report/impl.h"

static inline wl_status write_payload(const rep_data *data, FILE *out, wl_error *err)
{
    rep_parts parts;
    wl_status status = rep_payload_parts(data, 1, &parts, err);
    if (status == WL_OK) {
        rep_write_parts(&parts, out);
        status = rep_done(out, false, err);
    }
    rep_free_parts(&parts);
    return status;
}

#endif
