/* The sample as a fixture, and reports drawn into memory. */
#include "render.h"
#include "sample.h"
#include "support/test.h"

int set_up(void **state)
{
    static fixture f;
    f.arena = wl_arena_new();
    sample_make(&f.data, f.arena);
    *state = &f;
    return f.arena ? 0 : -1;
}

int tear_down(void **state)
{
    wl_arena_free(((fixture *)*state)->arena);
    return 0;
}

char *text_of(const rep_data *data, const rep_text_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_text(data, options, out, NULL), WL_OK);
    fclose(out);
    return text;
}

char *csv_of(const rep_data *data, rep_table table)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_csv(data, table, out, NULL), WL_OK);
    fclose(out);
    return text;
}

char *json_text_of(const rep_data *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_json(data, out, NULL), WL_OK);
    fclose(out);
    return text;
}

json_t *json_of(const rep_data *data)
{
    char *text = json_text_of(data);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    return json;
}

char *explorer_of(const rep_data *const *data, uint32_t count, uint32_t *left_out)
{
    char *html = NULL;
    size_t size;
    wl_error err = {0};
    FILE *out = open_memstream(&html, &size);
    assert_non_null(out);
    if (rep_explorer(data, count, left_out, out, &err) != WL_OK)
        fail_msg("%s", err.text);
    fclose(out);
    return html;
}
