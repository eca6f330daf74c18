/* The HTML report: the page with the data in its place. */
#include "report/impl.h"

#include <string.h>

#define MARK "@PAYLOAD@" /* once in the page; viewer/build.mjs sees to that */

bool rep_html_available(void)
{
    size_t size;
    return rep_page(&size) != NULL;
}

wl_status rep_html(const rep_data *data, FILE *out, wl_error *err)
{
    size_t page_size;
    const char *page = rep_page(&page_size);
    const char *mark = page ? memmem(page, page_size, MARK, strlen(MARK)) : NULL;
    if (!mark)
        return wl_fail(err, WL_UNSUPPORTED,
                       "this warplens was built without the page of its HTML report: run "
                       "tools/bootstrap.sh build, which installs the page's npm packages, and "
                       "build again");
    rep_parts parts;
    wl_status status = rep_payload_parts(data, &parts, err);
    if (status == WL_OK) {
        fwrite(page, 1, (size_t)(mark - page), out);
        rep_write_parts(&parts, out);
        mark += strlen(MARK);
        fwrite(mark, 1, page_size - (size_t)(mark - page), out);
        status = rep_done(out, false, err);
    }
    rep_free_parts(&parts);
    return status;
}
