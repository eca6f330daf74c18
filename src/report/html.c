/* The HTML report: the page with the data in its place. */
#include "report/impl.h"

#include <string.h>

/* Each stands once in the page; viewer/build.mjs sees to that. */
#define MARK "@PAYLOAD@"
#define CLOSED "connect-src 'none'" /* in its Content-Security-Policy */
#define OPEN "connect-src 'self'"

bool rep_html_available(void)
{
    size_t size;
    return rep_page(&size) != NULL;
}

wl_status rep_html(const rep_data *data, FILE *out, wl_error *err)
{
    uint32_t left_out;
    return rep_explorer(&data, 1, &left_out, out, err);
}

/* The data of one report, behind those before it. */
static wl_status write_report_data(const rep_data *data, uint32_t place, uint32_t count,
                                   uint32_t *left_out, FILE *out, wl_error *err)
{
    rep_parts parts;
    wl_status status = rep_payload_parts(data, count, &parts, err);
    if (status == WL_OK && place > 0)
        fputc(':', out);
    if (status == WL_OK)
        rep_write_parts(&parts, out);
    *left_out += parts.explore_left_out;
    rep_free_parts(&parts);
    return status;
}

/* The page up to its data: where a server gives launches, the page may ask it for them. */
static void write_page_head(const char *page, size_t size, bool asks, FILE *out)
{
    const char *rule = asks ? memmem(page, size, CLOSED, strlen(CLOSED)) : NULL;
    size_t before = rule ? (size_t)(rule - page) : 0;
    size_t done = rule ? before + strlen(CLOSED) : 0;
    fwrite(page, 1, before, out);
    fputs(rule ? OPEN : "", out);
    fwrite(page + done, 1, size - done, out);
}

wl_status rep_explorer(const rep_data *const *data, uint32_t count, uint32_t *left_out, FILE *out,
                       wl_error *err)
{
    size_t page_size;
    const char *page = rep_page(&page_size);
    const char *mark = page ? memmem(page, page_size, MARK, strlen(MARK)) : NULL;
    if (!mark)
        return wl_fail(err, WL_UNSUPPORTED,
                       "this warplens was built without the page of its HTML report: run "
                       "tools/bootstrap.sh build, which installs the page's npm packages, and "
                       "build again");
    bool asks = false;
    for (uint32_t i = 0; i < count; i++)
        asks |= data[i]->nserved > 0;
    write_page_head(page, (size_t)(mark - page), asks, out);
    wl_status status = WL_OK;
    *left_out = 0;
    for (uint32_t i = 0; i < count && status == WL_OK; i++)
        status = write_report_data(data[i], i, count, left_out, out, err);
    mark += strlen(MARK);
    fwrite(mark, 1, page_size - (size_t)(mark - page), out);
    return status == WL_OK ? rep_done(out, false, err) : status;
}
