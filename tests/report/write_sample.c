/* Writes the sample in every format into a folder, for tests that read it with other programs. */
#include "payload.h"
#include "sample.h"
#include "warps.h"

#include <stdio.h>
#include <string.h>

typedef wl_status writer(const rep_data *data, FILE *out, wl_error *err);

static int write_file(const char *folder, const char *name, writer *write, const rep_data *data)
{
    char path[4096];
    wl_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return 1;
    }
    wl_status status = write(data, out, &err);
    if (fclose(out) != 0 || status != WL_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: write_sample FOLDER\n");
        return 2;
    }
    wl_arena *arena = wl_arena_new();
    rep_data data;
    ana_explore explored;
    sample_make(&data, arena);
    sample_warps(&explored, arena);
    data.warps = (ana_explore_rows){1, &explored};
    int bad = write_file(argv[1], "sample.json", rep_json, &data);
    bad |= write_file(argv[1], "sample.payload", write_payload, &data);
    bad |= write_file(argv[1], "sample.warps.json", sample_warps_json, &data);
    if (rep_html_available())
        bad |= write_file(argv[1], "sample.html", rep_html, &data);
    wl_arena_free(arena);
    return bad;
}
