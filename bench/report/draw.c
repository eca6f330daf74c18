/* Profiles made record by record, and their reports drawn. */
#include "draw.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void must(wl_status status, const wl_error *err)
{
    if (status == WL_OK)
        return;
    fprintf(stderr, "bench: %s\n", err->text);
    exit(1);
}

void add(prof_builder *builder, cap_record record)
{
    wl_error err = {0};
    must(prof_add(builder, &record, &err), &err);
}

prof_builder *begin_profile(const char *path, const char *executable)
{
    wl_error err = {0};
    prof_builder *builder;
    prof_options options = {.force = true};
    must(prof_create(path, &options, &builder, &err), &err);
    must(prof_begin_process(builder, &err), &err);
    add(builder, (cap_record){.type = CAP_PROCESS,
                              .process = {.pid = 1,
                                          .executable = executable,
                                          .directory = "/",
                                          .host = "bench",
                                          .collector = "emulate",
                                          .version = "1",
                                          .options = "",
                                          .argc = 1,
                                          .argv = &executable}});
    add(builder, (cap_record){.type = CAP_DEVICE,
                              .device = {.name = "NVIDIA H200",
                                         .cc_major = 9,
                                         .num_sms = 132,
                                         .global_bytes = UINT64_C(1) << 37,
                                         .file = "h200"}});
    return builder;
}

void end_profile(prof_builder *builder)
{
    wl_error err = {0};
    add(builder, (cap_record){.type = CAP_END});
    must(prof_finish(builder, &err), &err);
}

double megabytes(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 ? (double)file.st_size / 1e6 : 0;
}

void draw_report(const char *profile, const char *html, unsigned parts)
{
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    prof_db *db;
    ana_findings findings;
    rep_data data;
    ana_thresholds thresholds = ana_thresholds_default();
    must(prof_open(profile, &db, &err), &err);
    double start = clock_seconds(CLOCK_MONOTONIC);
    must(ana_find(db, &thresholds, arena, &findings, &err), &err);
    double found = clock_seconds(CLOCK_MONOTONIC);
    must(rep_load(db, &findings, parts, arena, &data, &err), &err);
    double loaded = clock_seconds(CLOCK_MONOTONIC);
    FILE *out = fopen(html, "w");
    if (!out)
        exit(1);
    must(rep_html(&data, out, &err), &err);
    fclose(out);
    printf("findings %.2f s, load %.2f s, report %.2f s, %.1f MB\n", found - start, loaded - found,
           clock_seconds(CLOCK_MONOTONIC) - loaded, megabytes(html));
    prof_close(db);
    wl_arena_free(arena);
}
