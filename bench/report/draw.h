/* What the report's benchmarks share: profiles made record by record, and their reports drawn. */
#ifndef BENCH_REPORT_DRAW_H
#define BENCH_REPORT_DRAW_H

#include "report/report.h"

/* Ends the program where something failed. */
void must(wl_status status, const wl_error *err);
void add(prof_builder *builder, cap_record record);
/* A new profile that has its process and device. */
prof_builder *begin_profile(const char *path, const char *executable);
void end_profile(prof_builder *builder);
double megabytes(const char *path);
/* Draws the report of a profile with these parts (rep_load), and prints what that took. */
void draw_report(const char *profile, const char *html, unsigned parts);

#endif
