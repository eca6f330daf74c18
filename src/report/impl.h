/* What the reporters share: looking things up, numbers and names as text, tables, JSON rows.
 * Internal to src/report. */
#ifndef WL_REPORT_IMPL_H
#define WL_REPORT_IMPL_H

#include "report/report.h"

#include <jansson.h>

/* ---- text (utf8.c): all input may come from an untrusted profile ---- */

/* Columns that valid UTF-8 takes in a terminal. */
size_t rep_width(const char *text);
/* A copy in which bytes that are no UTF-8 are U+FFFD; with `printable` control characters are
 * spaces, too, so that a terminal obeys nothing in it. */
char *rep_clean(wl_arena *arena, const char *text, bool printable);
/* At most `columns` columns of clean text, an ellipsis in the middle or at the end of what was
 * shortened. */
char *rep_shorten_middle(wl_arena *arena, const char *text, size_t columns);
char *rep_shorten_end(wl_arena *arena, const char *text, size_t columns);
/* A C++ name in at most `columns`: template arguments go first, the innermost before the outer
 * ones, then namespaces. */
char *rep_shorten_name(wl_arena *arena, const char *name, size_t columns);
/* A kernel's demangled name without return type and parameters, in at most `columns`. */
char *rep_brief_name(wl_arena *arena, const char *kernel, size_t columns);
/* A message with brief names in place of mangled ones; `columns` 0: whole ones. */
char *rep_readable(wl_arena *arena, const char *text, size_t columns);

/* ---- numbers (number.c) ---- */

char *rep_count(wl_arena *arena, uint64_t value);         /* 1,234,567 */
char *rep_short_count(wl_arena *arena, uint64_t value);   /* 1.23 M */
char *rep_ratio(wl_arena *arena, double num, double den); /* 32.0; "" where den is 0 */
char *rep_percent(wl_arena *arena, double share);         /* 12 % */
char *rep_bytes(wl_arena *arena, uint64_t value);         /* 4 KiB */
char *rep_seconds(wl_arena *arena, double value);         /* 12.0 ms */
char *rep_plural(wl_arena *arena, uint64_t n, const char *one, const char *many);
char *rep_quantity(wl_arena *arena, double value, const char *unit);

/* ---- lookup (lookup.c) ---- */

const char *rep_kernel_name(const rep_data *data, uint32_t kernel); /* NULL: unknown */
const char *rep_object_name(const rep_data *data, uint32_t object); /* NULL: unknown */
/* Of the pool whose first object this is: what the program calls it, else the object's name. */
const char *rep_pool_name(const rep_data *data, uint32_t object);
/* The parameters by which the kernel was given the object: the first of *count; NULL: none known. */
const prof_passed *rep_passed(const rep_data *data, uint32_t kernel, uint32_t object,
                              uint32_t *count);
/* Their names: "x", "in and out"; NULL where none is known. */
char *rep_parameters(const rep_data *data, wl_arena *arena, uint32_t kernel, uint32_t object);
/* "parameter x of spmv", "parameters in and out of step"; NULL where none is known. */
char *rep_passed_text(const rep_data *data, wl_arena *arena, uint32_t kernel, uint32_t object);
/* Their names; NULL where none is known. */
json_t *rep_passed_json(const rep_data *data, uint32_t kernel, uint32_t object);
/* Of a process's device by its ordinal; NULL: unknown. */
const char *rep_device_name(const rep_data *data, uint32_t process, uint32_t ordinal);
const ana_use *rep_use_of(const rep_data *data, uint32_t object); /* NULL: not known */
const char *rep_file_path(const rep_data *data, uint32_t file);   /* NULL: unknown */
const prof_file *rep_file_by_path(const rep_data *data, const char *path);
const char *rep_base_name(const char *path);
/* "demo.cu:12"; NULL without line information. */
/* failures.c: after processes, launches, code, calls, objects and kernels */
wl_status rep_load_failures(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err);

char *rep_place(wl_arena *arena, const char *path, uint32_t line);
/* A line of a loaded source file without its newline; NULL where the text is not there. */
char *rep_source_line(const rep_data *data, wl_arena *arena, uint32_t file, uint32_t line);
bool rep_loaded_text(const rep_data *data, uint32_t file, const char **text, size_t *length);
/* "cudaMalloc (demo.cu:65)"; NULL for 0. */
char *rep_call_text(const rep_data *data, wl_arena *arena, uint32_t call);

/* The kernel's family, and where `member` is not NULL its row there. Never NULL. */
const ana_family *rep_family_of(const rep_data *data, uint32_t kernel, const ana_member **member);
/* rangerows.c: the names of those that a launch was made in; NULL where it was in none. */
json_t *rep_launch_ranges_json(const rep_data *data, const prof_launch *launch);
json_t *rep_ranges_json(const rep_data *data);
/* Of all launches' time on the device where that is known, else of what they move; negative: of nothing. */
double rep_share_of_launches(const rep_data *data, const ana_launch_sums *sums);

/* Whether some accesses of a kernel that was observed are not known, so that sums over it lack them. */
bool rep_has_gaps(const rep_data *data, uint32_t kernel);

/* Whether the finding is about what the kernel accesses of the object. */
bool rep_is_about(const ana_finding *finding, uint32_t kernel, uint32_t object);

/* The kernel's launch with most thread instructions; NULL: none was observed. */
const prof_launch *rep_costliest_launch(const rep_data *data, uint32_t kernel);
/* Of a launch of the kernel; negative where none was measured, or others than have a model. */
double rep_measured_seconds(const ana_kernel *kernel, const ana_model *model);

/* The blocks of a launch that were chosen for heat maps; *count of them, in d->samples. */
const prof_sample *rep_samples(const rep_data *data, uint32_t launch, uint32_t *count);
/* Why a block was chosen, in words: "typical of 1,020 of 1,024 blocks". */
char *rep_why(wl_arena *arena, const prof_sample *sample);
/* The keys that say which block, why and of how many: "why", "mapped", "alike", "of",
 * "instructions", "sectors_per_request". */
void rep_put_sample(json_t *row, const prof_sample *sample);
/* The four benefits of the paper's model. */
void rep_put_benefits(json_t *row, const model_benefits *benefits);

/* What the prediction is not sure of, each as `text` has it; nothing where it is (modelled.c). */
void rep_put_unsure(json_t *row, const char *key, const ana_model *model,
                    const char *(*text)(model_unsure what));
/* Operations against bytes (modelled.c). */
json_t *rep_roofline_json(const ana_model *model);
/* What the warps of a launch have in common (warps.c); NULL: nothing is known of that launch. */
const ana_explore *rep_explored_launch(const rep_data *data, uint32_t launch);
json_t *rep_warps_json(const rep_data *data, const ana_explore *warps);
/* The same of their hashes; and of what is known of more blocks, NULL where that is nothing. */
json_t *rep_hashes_json(const ana_hashed *hashed, const ana_explore *steps);
json_t *rep_compared_json(const rep_data *data, uint32_t launch);
/* Warps that are resident; NULL where nothing is known of them. */
json_t *rep_occupancy_json(const model_occupancy *occupancy);

/* What one source line did in one way: all its loads from global memory, say. What a helper does
 * that was inlined there is a row of its own. */
typedef struct rep_line {
    uint32_t kernel, file, line;       /* 0, 0: without line information; then pc tells */
    uint32_t helper_file, helper_line; /* within it; 0, 0: none */
    uint32_t pc;                       /* of the first instruction */
    uint8_t op, space;
    uint64_t requests, active_lanes, sectors, sectors_min, wavefronts, wavefronts_min;
} rep_line;

typedef struct rep_lines {
    uint32_t count;
    rep_line *rows; /* by kernel, file, line, helper, pc */
} rep_lines;

/* Whether both are of one line, or of one instruction without a line; and of one helper there. */
bool rep_same_place(const rep_line *a, const rep_line *b);
bool rep_same_line(const rep_line *a, const rep_line *b);
wl_status rep_lines_of(const rep_data *data, wl_arena *arena, rep_lines *out);
uint64_t rep_excess(uint64_t now, uint64_t min); /* 0 where min is more */

/* ---- lives of objects (lives.c) ---- */

typedef struct rep_life {
    uint32_t object;         /* prof_object */
    uint64_t bytes, at_peak; /* at_peak: of its device; 0: it is not there then */
    /* The calls that made and freed it, the first and the last that accessed it, as
     * "square (stages.cu:16)"; NULL: there is none. `possibly`: of some accesses it is not known
     * whether they were of this object. */
    const char *allocated, *freed, *first, *last;
    bool possibly;
    uint64_t alive;      /* calls between its allocation and its end */
    uint32_t idle_calls; /* as ana_course_object's */
    double idle_seconds;
    bool found; /* a finding is about it */
    bool patterns[ANA_PATTERN_COUNT];
    uint64_t saves; /* at the peak, following that of its findings which saves most */
} rep_life;

typedef struct rep_lives {
    uint32_t count;
    rep_life *rows; /* by object; none without REP_PART_COURSES */
} rep_lives;

bool rep_lives_of(const rep_data *data, wl_arena *arena, rep_lives *out); /* false: no memory */
rep_life *rep_life_of(const rep_lives *lives, uint32_t object);           /* NULL: not known */
const char *rep_patterns_of(const rep_life *life,
                            wl_arena *arena); /* "leak, dead-write"; or NULL */

/* ---- tables of a terminal (grid.c) ---- */

typedef struct rep_column {
    const char *head;
    bool right;     /* aligned */
    bool flexible;  /* takes what width is left, and is shortened to it */
    bool middle;    /* shortened in the middle rather than at the end */
    unsigned spare; /* not 0: left out where the width is short, the highest first */
} rep_column;

typedef struct rep_grid rep_grid;

rep_grid *rep_grid_new(wl_arena *arena, const rep_column *columns, size_t ncolumns);
/* ncolumns strings, "" for an empty cell; they must outlive the grid. */
bool rep_grid_add(rep_grid *grid, const char *const *cells);
/* A row of one text across all columns; the caller sees to its width. */
bool rep_grid_banner(rep_grid *grid, const char *text);
/* `width` 0: unlimited. Columns without content are left out. */
void rep_grid_draw(const rep_grid *grid, unsigned indent, unsigned width, const char *head_on,
                   const char *head_off, FILE *out);

/* ---- JSON rows (row.c): absent where the value is unknown ---- */

void rep_put_text(json_t *row, const char *key, const char *text); /* NULL: absent */
void rep_put_count(json_t *row, const char *key, uint64_t value);
void rep_put_seconds(json_t *row, const char *key, double value); /* negative: absent */
void rep_put_number(json_t *row, const char *key, double value);  /* whole ones without a point */
void rep_put_dim(json_t *row, const char *key, const uint32_t dim[3]);
/* Names of a group's kernels and objects. */
json_t *rep_kernel_names(const rep_data *data, const ana_finding_group *group);
/* What following a remedy is predicted to save; `single`: in one kernel. */
/* What the remedies of the group change, and the kernel's time: "139 M -> 21 M sectors (tried: counted
 * with the change); 562 us -> 94 us a launch". NULL when memory is exhausted. */
const char *rep_remedy_text(const rep_data *d, wl_arena *arena, const ana_finding_group *g);
/* "about 4.0 ms (3.8 ms to 4.1 ms): 91 % of the kernel's time and 40 % of the program's", "nothing,
 * and at most 145 us"; NULL when memory is exhausted. */
/* What the shares of costs in a unit are parts of: "the program's traffic". */
const char *rep_whole_of(ana_unit unit);
/* What one of its further remedies would be, whether it was tried, and what it saves. */
const char *rep_other_remedy_text(wl_arena *arena, const ana_finding_group *g, const ana_remedy *r);
const char *rep_group_saving(wl_arena *arena, const ana_finding_group *g);
json_t *rep_remedies_json(const ana_finding *f);
json_t *rep_refusal_json(const rep_data *d, const ana_refusal *refusal);
json_t *rep_frequency_json(const ana_frequency *frequency);
const char *rep_frequency_text(wl_arena *arena, const ana_frequency *frequency);
json_t *rep_gain_json(const ana_worth *worth, bool single);
json_t *rep_object_names(const rep_data *data, const ana_finding_group *group);
/* What kernels accessed of the elements of an object: "touched_bytes", ... (json.c). */
void rep_put_use(json_t *row, const ana_use *use, uint64_t bytes);
json_t *rep_live_ranges_json(const ana_reuse *reuse); /* "live_ranges" of both JSON outputs */
/* A row of the payload's "uses": of ana_uses.parts (kernel_uses.c). */
json_t *rep_page_use_json(const rep_data *data, const ana_use *use);
json_t *rep_failures_json(const rep_data *data);
/* What is no finding, as a line: "" where there is nothing, NULL without memory. As a row of JSON:
 * NULL in both cases. */
const char *rep_left_out(const rep_data *data, wl_arena *arena);
json_t *rep_left_out_json(const rep_data *data);
/* The thresholds that were set, as text ("idle_calls 4 (default 2), ...") and as rows: NULL where none
 * was, or without memory. */
const char *rep_thresholds_set(const rep_data *data, wl_arena *arena);
json_t *rep_thresholds_json(const rep_data *data);
json_t *rep_gaps_json(const rep_data *data); /* coverage.gaps of both JSON outputs (json.c) */
void rep_put(json_t *row, const char *key, json_t *value); /* takes the reference */
json_t *rep_text_json(const char *text);

/* Writes rows as they come, so that a large table is never in memory as a whole. */
typedef struct rep_json_out {
    FILE *out;
    bool first_key, first_row, failed;
    unsigned digits; /* of numbers that are not whole, that count: 10 unless it is set */
} rep_json_out;

void rep_json_begin(rep_json_out *j, FILE *out);
void rep_json_value(rep_json_out *j, const char *key, json_t *value); /* takes the reference */
void rep_json_array(rep_json_out *j, const char *key);
void rep_json_row(rep_json_out *j, json_t *row); /* takes the reference */
void rep_json_array_end(rep_json_out *j);
void rep_json_end(rep_json_out *j);

/* The end of every drawing: what the stream says. */
wl_status rep_done(FILE *out, bool failed, wl_error *err);

/* ---- heat maps of the HTML report (heats.c) ---- */

/* Fills d->heats and what belongs to it: some of the profile's maps, or all. */
wl_status rep_load_heats(prof_db *db, bool all, wl_arena *arena, rep_data *d, wl_error *err);

/* ---- the HTML report's data (payload.c, parts.c, heatpack.c): docs/report-payload.md ---- */

typedef struct rep_part { /* compressed by gzip, which a browser undoes by itself */
    uint8_t *data;
    size_t size;
} rep_part;

typedef struct rep_parts { /* the JSON text's part first, then those of kernels and heat maps */
    uint32_t count, capacity;
    rep_part *rows;
    uint64_t room;             /* bytes that the heat maps may still take */
    uint64_t code_room;        /* likewise the kernels' instructions */
    uint64_t listing_room;     /* likewise those that are listed beside them */
    uint64_t phase_room;       /* likewise the phases of shared arrays */
    uint64_t explore_room;     /* likewise what warps did */
    uint32_t explore_left_out; /* launches of which that found none */
    bool failed;
} rep_parts;

bool rep_gzip(const void *data, size_t size, rep_part *out);
void rep_add_part(rep_parts *parts, rep_part part); /* takes its data */
void rep_free_parts(rep_parts *parts);
void rep_write_parts(const rep_parts *parts, FILE *out); /* base64, points between them */

/* Columns of numbers, one after another. The bytes of a column's elements lie in planes, first the
 * lowest of all of them, because equal bytes side by side compress. */
typedef struct rep_columns {
    json_t *places; /* by name: byte offset, elements */
    uint8_t *data;
    size_t size;
} rep_columns;

/* Room for so many bytes in all. False without memory; rep_pack_columns() is due all the same. */
bool rep_columns_init(rep_columns *columns, size_t most);
/* Element i of the column that is being put, of `count` with `width` bytes each. */
void rep_put_element(rep_columns *columns, size_t count, size_t width, size_t i, uint64_t value);
void rep_end_column(rep_columns *columns, const char *name, size_t count, size_t width);
/* A whole one: `expression` says what element `i` is. */
#define REP_COLUMN(columns, name, count, width, expression)        \
    do {                                                           \
        for (size_t i = 0; i < (count); i++)                       \
            rep_put_element(columns, count, width, i, expression); \
        rep_end_column(columns, name, count, width);               \
    } while (0)
/* Compresses them, and gives the places. NULL without memory. */
json_t *rep_pack_columns(rep_columns *columns, rep_part *part);

/* The row of the payload's "maps" for one heat map, whose columns become a part. What would take
 * more than `most` bytes, at most parts->room, is merged; then what finds no room is cut. NULL
 * where not even that helps, or without memory. */
json_t *rep_pack_heat(const prof_heat *heat, uint64_t most, rep_parts *parts);
/* Whose map it is, and of which block. */
void rep_put_heat_head(json_t *map, const prof_heat_info *info);

/* The row of the payload's memory.courses for a process (coursepack.c); its operations and objects
 * become a part, the call stacks another. NULL without memory. */
json_t *rep_pack_course(const rep_data *data, const ana_course *course, wl_arena *arena,
                        rep_parts *parts);

/* A row of the payload's "phases" (phasepack.c), whose columns become a part; phases that find no room
 * are left out. NULL where none finds any, or without memory. */
json_t *rep_pack_phases(const ana_phases *phases, rep_parts *parts);

enum { REP_MOST_HASHED_WARPS = 4 << 20 /* of a launch, that a browser is given one by one */ };

/* A row of the payload's "explore" (payload.c), of a launch of which steps are known, or paths (the other
 * is NULL), or both. What it holds becomes parts; where these find no room the row says so. NULL without
 * memory. */
json_t *rep_explored_row(const rep_data *data, const ana_explore *steps, const rep_paths *paths,
                         rep_parts *parts);
/* Of that: a row with steps (explorepack.c), one without, and the paths of either (pathpack.c). */
json_t *rep_pack_explored(const rep_data *data, const ana_explore *explored, rep_parts *parts);
json_t *rep_hashed_row_json(const ana_hashed *hashed);
json_t *rep_pack_paths(const rep_paths *paths, const ana_explore *steps, rep_parts *parts);
/* How many launches the kernel has, and of how many of them the warps are known (warps.c). */
void rep_put_known_launches(json_t *row, const rep_data *data, uint32_t kernel);
/* The paths of a launch's warps (explored.c); out->hashed.npaths is 0 where nothing is known of them. */
wl_status rep_load_paths(prof_db *profile, uint32_t launch, wl_arena *arena, rep_paths *out,
                         wl_error *err);
/* Whether it is one of these; NULL: of all. */
bool rep_is_wanted_kernel(const uint32_t *kernels, uint32_t nkernels, uint32_t kernel);
/* The payload's "served"; NULL where no launch is. */
json_t *rep_served_json(const rep_data *data);
/* Of a kernel's row: its code and what is listed beside it (codepack.c), which become parts. */
void rep_put_code(json_t *row, const rep_data *data, uint32_t kernel, rep_parts *parts);
/* The index of a kernel's first instruction; the code is sorted by kernel. */
uint32_t rep_first_code_of(const rep_data *data, uint32_t kernel);
/* How often warps ran each basic block, over all launches, by its first instruction; NULL: not known of
 * the kernel. */
const prof_block *rep_first_block_of(const rep_data *data, uint32_t kernel);
/* The block of an instruction at or after *at, which moves there; NULL: it was not counted. */
const prof_block *rep_block_at(const rep_data *data, const prof_block **at, uint32_t kernel,
                               uint32_t pc);

/* `reports` are put into one file, and share its room. Caller frees with rep_free_parts, also after an
 * error. */
wl_status rep_payload_parts(const rep_data *data, uint32_t reports, rep_parts *out, wl_error *err);

/* The page with a mark in the place of its data; NULL where warplens was built without it
 * (page.c). */
const char *rep_page(size_t *size);

#endif
