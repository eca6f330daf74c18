/* What the subcommands share. Only this folder prints to the user, reads the command line and
 * exits. */
#ifndef WL_CLI_CLI_H
#define WL_CLI_CLI_H

#include "base/error.h"
#include "base/progress.h"
#include "replay/settings.h"
#include "report/report.h"

#include <popt.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* something went wrong that is not the command line's fault */
    CLI_USAGE = 2,
    CLI_NOT_MEASURED = 3, /* there is nothing to show */
    CLI_NO_PROFILE = 125, /* `profile`: the program did well, but nothing came of profiling it */
    CLI_NO_PROGRAM = 127  /* `profile`: there is no such program, as shells say it */
} cli_exit;

#define X(name, summary) int cmd_##name(int argc, const char **argv);
#include "cli/commands.def"
#undef X

/* ---- command lines ---- */

/* -q, -v and --help for every command: put CLI_COMMON last in a table of options. */
extern struct poptOption cli_common[];
/* clang-format off */
#define CLI_COMMON {NULL, '\0', POPT_ARG_INCLUDE_TABLE, cli_common, 0, "Common options:", NULL}, POPT_AUTOHELP POPT_TABLEEND
/* clang-format on */

/* -k, whose value, the char * `pattern`, prog_pattern_check() looks at. */
#define CLI_KERNEL_NAME(pattern)                                                                   \
    {"kernel-name",                                                                                \
     'k',                                                                                          \
     POPT_ARG_STRING,                                                                              \
     &(pattern),                                                                                   \
     0,                                                                                            \
     "Only kernels of this name (mangled, or the function's own), or that match regex:EXPRESSION", \
     "NAME"}

/* --set-threshold, which may come again and again: its values in `given`, a char **. */
#define CLI_SET_THRESHOLD(given)                                                 \
    {                                                                            \
        "set-threshold",                                                         \
        '\0',                                                                    \
        POPT_ARG_ARGV,                                                           \
        &(given),                                                                \
        0,                                                                       \
        "Judge by another value of a threshold (stats --thresholds lists them)", \
        "NAME=VALUE"}
/* The defaults and what was given; `given` is freed. CLI_USAGE with a message. */
int cli_thresholds(const char *command, char **given, ana_thresholds *out);

typedef struct cli_syntax {
    const struct poptOption *options;
    const char *usage;    /* names the arguments, for --help */
    bool program_follows; /* what follows the first argument belongs to the program it names;
                             else options stand anywhere */
    /* Sees every option whose `val` is not 0; false ends the reading. May be NULL. */
    bool (*each)(void *state, int val, const char *arg);
    void *state;
} cli_syntax;

/* Reads all options; arguments are left in the context (poptGetArgs). On a usage error says so
 * and sets *status to CLI_USAGE; NULL then. */
poptContext cli_parse(int argc, const char **argv, const cli_syntax *syntax, int *status);
/* The single argument, or NULL with a message and *status set. */
const char *cli_only_argument(poptContext context, const char *what, int *status);
/* The path of the profile that is the only argument or, where there is none, of the newest
 * profile of the current folder, which is then named on stderr. NULL with a message and *status
 * set. Lives until the next call. */
const char *cli_profile_argument(poptContext context, int *status);
int cli_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- messages, on stderr after ==WARPLENS== ---- */

int cli_fail(const wl_error *err); /* prints and returns CLI_FAILED */
bool cli_color(FILE *stream);      /* a terminal that can move its cursor, and NO_COLOR unset */
unsigned cli_width(FILE *stream);  /* columns; 100 where it is no terminal */
wl_progress_kind cli_progress_kind(void); /* how stderr is told how far something has come */
/* Tells, where it is time, how far a step of the command has come, and how long it still takes. */
void cli_progress(const char *what, uint64_t done, uint64_t total);
/* What begins now, of which nobody can tell how far it is: on a terminal it stands there at once. */
void cli_progress_step(const char *what);
void cli_progress_end(void); /* the step is over */

/* ---- interrupts ---- */

/* From now on signals that would end us, as far as they can be caught, are only noted. */
void cli_note_interrupts(void);
int cli_interrupt(void); /* the signal noted, 0 without one */
/* From now on a file that grows beyond the limit (ulimit -f) is an error of the write that can be
 * told, no end by SIGXFSZ. The second gives an application, before it is started, back what it
 * would have had. */
void cli_survive_file_limit(void);
void cli_restore_file_limit(void);

/* ---- files ---- */

/* The folder of warplens's own files: <prefix> such that <prefix>/bin/warplens runs. NULL when
 * /proc cannot tell. */
const char *cli_prefix(void);
/* Opens for writing, one file at a time, refusing to replace one without `force`; "-" is stdout.
 * The file appears under its name when cli_finish succeeds: a failure or an interrupt leaves
 * what was there before. Pipes and devices are written as they are. */
FILE *cli_create(const char *path, bool force, wl_error *err);
/* Flushes, closes and publishes; returns an exit status, having said what went wrong. */
int cli_finish(FILE *file, const char *path, wl_status status, wl_error *err);

/* What was begun by cli_create is not wanted. */
void cli_discard(FILE *file);

/* "a/b.wlprof" with another end: "a/b.html"; malloc'ed, NULL without memory. */
char *cli_html_path(const char *profile, const char *end);
/* Whether HTML can be written; else says what is missing. */
bool cli_has_page(void);
/* Where that fails it says so, and what can be opened by hand. */
void cli_open_in_browser(const char *path, const char *by_hand);

/* ---- profiles ---- */

typedef struct cli_profile {
    prof_db *db;
    wl_arena *arena;
    ana_thresholds thresholds;
    ana_findings findings;
    rep_data data;
} cli_profile;

/* Opens, analyses with these thresholds (NULL: the defaults) and loads. On failure prints why and
 * returns false. */
bool cli_profile_open(const char *path, const ana_thresholds *thresholds, unsigned parts,
                      cli_profile *out);
void cli_profile_close(cli_profile *profile);
/* The *count kernels that the pattern fits, in the arena; NULL with a message where there are none. */
const uint32_t *cli_find_kernels(const cli_profile *profile, const char *pattern, uint32_t *count);
/* What a new profile holds, in short. */
typedef struct cli_digest {
    bool known; /* else it was not worked out, as of very many launches that differ */
    uint64_t launches_seen, launches_observed, kernels_seen, kernels_observed;
    bool emulated, failed; /* failed: the program did not run to its end */
    uint32_t launches;     /* rows of them */
    uint32_t findings;     /* groups */
    bool little;           /* no finding gains much */
} cli_digest;

cli_digest cli_profile_digest(const cli_profile *profile);
/* What was written is opened as `stats` and `report` will, before it counts as a profile; what adds
 * up the elements of all launches, which can take long, is left to them. `ctx`: a
 * cli_digest, which this fills in, or NULL. */
wl_status cli_profile_check(void *ctx, const char *path, wl_error *err);

/* Works out what launches did that a GPU ran. Ctrl-C ends it early: what is done is kept. */
wl_status cli_replay(const char *const *captures, uint32_t count, const replay_settings *settings,
                     wl_error *err);

typedef struct cli_import_options {
    const char *command; /* that the profile says it was made with; NULL: the captures' own */
    bool force;          /* replace the file */
    bool keep_folder;    /* processes that may still make captures in it run on */
    char **older;        /* as in prof_options */
    cli_digest *digest;  /* of the new profile; may be NULL */
    const replay_settings *replay;
} cli_import_options;

/* Also true of a folder that cannot be read: what was in it is not known. */
bool cli_has_captures(const char *folder);
/* Without its captures, which stay with it where it has some. */
void cli_remove_captures_folder(const char *folder);
/* Turns the captures in `folder` into a profile, replaying them where that is needed; removes
 * what it imported when that succeeded and the profile opens. A capture whose process still runs
 * goes in as far as it has come, and stays. Files that are no captures are left out, and left
 * there, where others are. WL_STATE when an interrupt stopped it: cli_interrupt() then tells
 * which. */
wl_status cli_import(const char *folder, const char *profile, const cli_import_options *how,
                     wl_error *err);

#endif
