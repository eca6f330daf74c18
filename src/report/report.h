/* Reports: a profile and its findings drawn for a terminal, as JSON, as CSV or as one HTML file.
 *
 * rep_load reads once what all of them draw; the drawing functions are pure: they only write to the
 * stream, and flush it. They return WL_IO or WL_NOSPACE when a write fails. What was not measured
 * is absent in every output, never zero. */
#ifndef WL_REPORT_REPORT_H
#define WL_REPORT_REPORT_H

#include "analysis/explore/explore.h"
#include "analysis/explore/hashed.h"
#include "analysis/frequency/strips.h"
#include "analysis/key.h"
#include "analysis/model/model.h"
#include "analysis/shared/phases.h"
#include "analysis/tables.h"
#include "analysis/tables/course.h"
#include "analysis/tables/families.h"
#include "analysis/tables/ranges.h"

#include <stdio.h>

/* The text of a source file. */
typedef struct rep_source {
    uint32_t file;    /* prof_file */
    const char *text; /* NULL: the profile has none */
    size_t length;
} rep_source;

/* Something that failed or was cut off, so that what follows may be of a part of the run only. */
typedef struct rep_failure {
    uint32_t launch, kernel; /* 0: it is no launch's */
    uint32_t object;         /* that the access hit or missed by least; 0: none */
    const char *what;        /* "launch 2 (shift) failed" */
    const char *why;         /* "access outside of any allocation at bounds.cu:7: ..." */
    const char *file;        /* path; NULL: not known */
    uint32_t line;
} rep_failure;

/* A launch that a server gives the explorer's page when it asks for it. */
typedef struct rep_served {
    uint32_t launch, kernel;
    bool hashed; /* no steps of it are known, but which paths its warps took */
} rep_served;

typedef struct rep_paths { /* of a launch: which path each of its warps took */
    ana_hashed hashed;
    prof_path_rows paths;
    prof_path_run_rows runs;
} rep_paths;

/* Everything that the reporters draw. Rows lie in the arena given to rep_load; `findings` is the
 * caller's. */
typedef struct rep_data {
    prof_info info;
    prof_coverage coverage;
    prof_process_rows processes;
    prof_device_rows devices;
    prof_file_rows files;
    prof_loc_rows locs;
    prof_kernel_rows kernels;
    prof_object_rows objects;
    prof_call_rows calls; /* those that something refers to */
    prof_transfer_rows transfers;
    /* Of all kernels, by id. Every launch; but of more than REP_MOST_LAUNCHES those that are alike
     * are in one row, and what follows is of the first of them. */
    prof_launch_rows launches;
    prof_sample_rows samples;           /* of all launches, by launch and block */
    prof_instruction_rows instructions; /* a row a launch; empty without REP_PART_LAUNCH_ROWS */
    prof_instruction_rows totals;       /* over all launches of a kernel */
    prof_code_rows code;                /* of all kernels */
    prof_listing_rows listings; /* likewise; this and the next: none without REP_PART_LISTINGS */
    prof_block_rows blocks;     /* over all launches of a kernel, by its first instruction */
    rep_source *sources;        /* files.count of them, in the order of `files`; or NULL */
    uint32_t nfailures;
    rep_failure *failures; /* what failed or was cut off: it is shown first */
    prof_gap_rows gaps;
    prof_passed_rows passed; /* which objects kernels were given by which parameters */
    prof_skip_rows skips;
    prof_message_rows messages;
    prof_unsupported_rows unsupported;
    ana_kernels kernel_table;
    ana_families families; /* of kernel_table */
    ana_ranges ranges;
    prof_range_rows opened; /* each time; this and the two that follow tell of launches */
    prof_range_member_rows range_lists;
    prof_launch_list_rows launch_lists; /* none where launches are not listed one by one */
    ana_memory memory;
    ana_pools pools;
    ana_courses courses; /* none without REP_PART_COURSES */
    ana_uses uses;
    ana_hashed_rows hashed; /* paths of warps, of a few launches */
    ana_models models;      /* by kind of launch */
    ana_keys keys;          /* of kernels and objects */
    const ana_findings *findings;
    prof_call_rows every_call;     /* this and the next: without REP_PART_TIMELINE empty */
    prof_launch_rows every_launch; /* one by one, however many there are; by id */
    uint32_t nheats; /* heat maps chosen for the HTML report; none without REP_PART_HEATS */
    prof_heat *heats;
    /* by map: the first with equal content, whose rows it shares; NULL: none does */
    uint32_t *heat_same;
    bool all_heats;          /* all of the profile, whatever room they take */
    uint64_t heats_left_out; /* maps of the profile that were not chosen */
    ana_phases_rows phases;  /* of shared arrays; this and the next: none without REP_PART_HEATS */
    ana_strips strips;       /* of what was counted by element */
    bool explorer;           /* rep_html: the report opens there */
    const char *profile;     /* rep_explorer: the profile's name, to tell it from another one */
    uint32_t nserved;        /* rep_explorer: launches that a server gives */
    const rep_served *served;
    ana_explore_rows warps; /* compared, of launches; none without REP_PART_COMPARED or _WARPS */
    uint32_t npaths;        /* of launches; none without REP_PART_WARPS */
    rep_paths *paths;
} rep_data;

enum { REP_MOST_LAUNCHES = 10000 }; /* that are listed one by one */

enum {
    REP_PART_LAUNCH_ROWS = 1, /* rep_json, rep_csv */
    REP_PART_HEATS = 2,       /* rep_html */
    REP_PART_SOURCES = 4,     /* rep_text, rep_html */
    REP_PART_COURSES = 16,    /* rep_html, rep_objects; rep_json, rep_csv: lives of objects */
    /* rep_html, with all heat maps of the profile: without it those of a launch or two of each
     * kernel and object, so that the file can be mailed */
    REP_PART_ALL_HEATS = REP_PART_HEATS | 8,
    REP_PART_TIMELINE = 32, /* rep_perfetto */
    REP_PART_WARPS = 64, /* rep_html: likewise of some launches of each kernel, for its explorer */
    REP_PART_COMPARED = 128, /* rep_json, rep_warps: what warps of launches have in common */
    /* Left out: uses and strips, for which all elements of all launches are added up. */
    REP_PART_NO_ELEMENTS = 256,
    REP_PART_LISTINGS = 512 /* rep_html, rep_code: what stands beside the code that was measured */
};

wl_status rep_load(prof_db *profile, const ana_findings *findings, unsigned parts, wl_arena *arena,
                   rep_data *out, wl_error *err);

/* What the warps of these kernels did, for rep_html(); NULL: of all. As REP_PART_WARPS, after rep_load(). */
wl_status rep_load_explored(prof_db *profile, const uint32_t *kernels, uint32_t nkernels,
                            wl_arena *arena, rep_data *data, wl_error *err);

/* Whether that may find room in a file, judged by how much it is, without reading it: where it does, the
 * file's writing tells. */
wl_status rep_explored_fits(prof_db *profile, const uint32_t *kernels, uint32_t nkernels,
                            const rep_data *data, bool *fits, wl_error *err);

/* Lists, for rep_explorer(), the launches of these kernels (NULL: of all) whose warps are known, rather
 * than load what these did. */
wl_status rep_load_served(prof_db *profile, const uint32_t *kernels, uint32_t nkernels,
                          wl_arena *arena, rep_data *data, wl_error *err);

typedef enum rep_by { REP_BY_ALL, REP_BY_RANGE, REP_BY_FAMILY, REP_BY_KERNEL } rep_by;

typedef struct rep_text_options {
    unsigned width;          /* columns of the terminal; 0: unlimited */
    bool color;              /* ANSI colours */
    const uint32_t *kernels; /* prof_kernel: only these; NULL: all */
    uint32_t nkernels;
    unsigned findings; /* so many are shown whole, the others in a line each; 0: three */
    unsigned finding;  /* the number of the only finding that is shown; 0: all */
    rep_by by;         /* a table alone, whole: of ranges, kernels by template, or each kernel */
    bool full_names;   /* names of kernels and objects are not shortened */
    bool all; /* every finding whole, lines that cost no excess, kernels without findings */
} rep_text_options;

/* `stats`: header, kernels, findings, source lines, coverage. `options` may be NULL: width 100, no
 * colour. */
wl_status rep_text(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err);

/* `advise`: what to change, what saves most first. Of the options width, color and all count. */
wl_status rep_advise(const rep_data *data, const rep_text_options *options, FILE *out,
                     wl_error *err);

/* `stats --objects`: the lives of objects. Needs REP_PART_COURSES. */
wl_status rep_objects(const rep_data *data, const rep_text_options *options, FILE *out,
                      wl_error *err);

/* `stats --warps`: which warps of a launch stand out, and why. Needs REP_PART_COMPARED. Of the options
 * width, color, kernels and all count. */
wl_status rep_warps(const rep_data *data, const rep_text_options *options, FILE *out,
                    wl_error *err);

/* `stats --code`: source, PTX and machine code of kernels. Needs REP_PART_LISTINGS. Of the options width,
 * color and kernels count. */
wl_status rep_code(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err);

/* `stats --thresholds`: every threshold with its value, default and meaning. Of the options width and
 * color count. */
wl_status rep_thresholds(const ana_thresholds *thresholds, const rep_text_options *options,
                         FILE *out, wl_error *err);

/* One object of the schema "warplens/1": docs/json-schema.md. */
wl_status rep_json(const rep_data *data, FILE *out, wl_error *err);

/* SARIF 2.1.0, for code hosts: the findings as results at their lines, the patterns as rules with
 * their pages. */
wl_status rep_sarif(const rep_data *data, FILE *out, wl_error *err);

/* Trace events in JSON, which the Perfetto UI opens: calls, launches and copies over time, memory in
 * use, lives of objects (docs/perfetto.md). */
wl_status rep_perfetto(const rep_data *data, FILE *out, wl_error *err);

typedef enum rep_table {
#define X(id, name) REP_TABLE_##id,
#include "report/tables.def"
#undef X
    REP_TABLE_COUNT
} rep_table;

const char *rep_table_name(rep_table table); /* "instructions" */

/* One table as RFC 4180: CRLF, a header line, UTF-8. */
wl_status rep_csv(const rep_data *data, rep_table table, FILE *out, wl_error *err);

/* One HTML file that needs nothing else. WL_UNSUPPORTED where warplens was built without its
 * page. */
wl_status rep_html(const rep_data *data, FILE *out, wl_error *err);
bool rep_html_available(void);

/* Likewise one file of several profiles, whose launches the explorer puts side by side; it is the first
 * one's report. *left_out: launches that found no room. */
wl_status rep_explorer(const rep_data *const *data, uint32_t count, uint32_t *left_out, FILE *out,
                       wl_error *err);

/* What that page asks a server for: docs/report-payload.md. It is read from the profile for this alone.
 * WL_NOENT where the launch is not one of data->served. */
wl_status rep_serve_launch(prof_db *profile, const rep_data *data, uint32_t launch, FILE *out,
                           wl_error *err);

#endif
