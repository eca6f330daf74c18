#include "base/log.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/launch.h"
#include "program/driver_path.h"
#include "program/options.h"
#include "program/target.h"
#include "replay/replay.h"
#include "rewrite/rewrite.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct profile_options {
    char *backend, *output, *targets;
    int force, error_exitcode;
    char *device_times;
    bool on_gpu;                  /* the backend is inline */
    wl_vec(cli_setting) settings; /* values malloc'ed */
    char *blocks;
} profile_options;

enum { /* options that become a variable of the collector; the rest is popt's own business */
       OPT_DEVICE = 1,
       OPT_THREADS,
       OPT_KERNEL,
       OPT_EXCLUDE,
       OPT_SKIP,
       OPT_COUNT,
       OPT_BLOCK,
       OPT_SET,
       OPT_TIME_LIMIT,
       OPT_COLLECT,
       OPT_PROBES,
       OPT_PROBE_LAUNCHES,
       OPT_DEVICE_MEMORY,
       OPT_BUDGET
};

static const char *variable_of(int option)
{
    static const char *const names[] = {
        [OPT_DEVICE] = "WARPLENS_DEVICE",
        [OPT_THREADS] = "WARPLENS_THREADS",
        [OPT_KERNEL] = "WARPLENS_KERNEL_NAME",
        [OPT_EXCLUDE] = "WARPLENS_KERNEL_EXCLUDE",
        [OPT_SKIP] = "WARPLENS_LAUNCH_SKIP",
        [OPT_COUNT] = "WARPLENS_LAUNCH_COUNT",
        [OPT_BLOCK] = "WARPLENS_BLOCKS",
        [OPT_SET] = "WARPLENS_SET",
        [OPT_TIME_LIMIT] = "WARPLENS_TIME_LIMIT",
        [OPT_COLLECT] = "WARPLENS_COLLECT",
        [OPT_PROBES] = "WARPLENS_PROBES",
        [OPT_PROBE_LAUNCHES] = "WARPLENS_PROBE_LAUNCHES",
        [OPT_DEVICE_MEMORY] = "WARPLENS_DEVICE_MEMORY",
        [OPT_BUDGET] = "WARPLENS_REPLAY_BUDGET",
    };
    return names[option];
}

static bool set(profile_options *o, const char *name, const char *value)
{
    char *copy = strdup(value);
    return copy && wl_push(&o->settings, (cli_setting){name, copy});
}

/* ---- checking values, so that a typing error is told before the program runs ---- */

static bool is_number(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return *text && !*end && errno == 0 && value >= 0 && value <= INT_MAX;
}

static bool is_block(const char *text)
{
    if (strcmp(text, "auto") == 0 || strcmp(text, "all") == 0)
        return true;
    unsigned x, y = 0, z = 0;
    char rest;
    int n = sscanf(text, "%u,%u,%u%c", &x, &y, &z, &rest);
    return n >= 1 && n <= 3 && text[strspn(text, "0123456789,")] == '\0';
}

static bool are_probes(const char *text)
{
    uint32_t probes;
    char names[256] = "";
    if (strcmp(text, "none") == 0 || rewrite_probes_parse(text, &probes))
        return true;
    for (unsigned i = 0; i < REWRITE_PROBE_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s, ",
                 rewrite_probe_name(i));
    cli_usage_error("profile", "--probes takes %sall or none, not '%s'", names, text);
    return false;
}

static bool is_budget(const char *text)
{
    double seconds;
    uint64_t bytes;
    return replay_budget(text, &seconds, &bytes) ||
           (cli_usage_error("profile",
                            "--replay-budget takes a time and memory, as in 90s,2G, or none, not "
                            "'%s'",
                            text),
            false);
}

static bool valid(int option, const char *arg)
{
    switch (option) {
    case OPT_THREADS:
    case OPT_SKIP:
    case OPT_COUNT:
    case OPT_TIME_LIMIT:
    case OPT_PROBE_LAUNCHES:
    case OPT_DEVICE_MEMORY:
        return is_number(arg) || (cli_usage_error("profile", "'%s' is no number", arg), false);
    case OPT_BLOCK:
        return is_block(arg) ||
               (cli_usage_error("profile", "--block takes x,y,z, auto or all, not '%s'", arg),
                false);
    case OPT_BUDGET: return is_budget(arg);
    case OPT_SET:
        return strcmp(arg, "basic") == 0 || strcmp(arg, "full") == 0 ||
               (cli_usage_error("profile", "--set is basic or full, not '%s'", arg), false);
    case OPT_COLLECT:
        return strcmp(arg, "auto") == 0 || strcmp(arg, "replay") == 0 ||
               strcmp(arg, "probe") == 0 ||
               (cli_usage_error("profile", "--collect is auto, replay or probe, not '%s'", arg),
                false);
    case OPT_PROBES: return are_probes(arg);
    default: return true;
    }
}

static bool add_block(profile_options *o, const char *arg)
{
    char *joined;
    if (o->blocks && (strpbrk(arg, "a") || strpbrk(o->blocks, "a")))
        return cli_usage_error("profile", "--block %s stands alone",
                               strpbrk(arg, "a") ? arg : o->blocks),
               false;
    if (asprintf(&joined, "%s%s%s", o->blocks ? o->blocks : "", o->blocks ? ";" : "", arg) < 0)
        return false;
    free(o->blocks);
    o->blocks = joined;
    return true;
}

static bool each_option(void *state, int option, const char *arg)
{
    profile_options *o = state;
    if (!arg || !valid(option, arg))
        return false;
    return option == OPT_BLOCK ? add_block(o, arg) : set(o, variable_of(option), arg);
}

/* ---- names of files ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Replaces %p (process), %h (host) and %q{VAR}; malloc'ed. */
static char *expand_output(const char *pattern)
{
    char *text = NULL, host[256] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    gethostname(host, sizeof host - 1);
    for (const char *c = pattern; *c; c++) {
        const char *end;
        if (c[0] == '%' && c[1] == 'p') {
            fprintf(out, "%d", (int)getpid());
            c++;
        } else if (c[0] == '%' && c[1] == 'h') {
            fputs(host, out);
            c++;
        } else if (strncmp(c, "%q{", 3) == 0 && (end = strchr(c, '}'))) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(end - c - 3), c + 3);
            const char *value = getenv(name);
            fputs(value ? value : "", out);
            c = end;
        } else {
            fputc(*c, out);
        }
    }
    fclose(out);
    return text;
}

/* "program.wlprof" here, or the first of "program.2.wlprof", ... that is free; malloc'ed. */
static char *free_output(const char *program)
{
    char *path;
    for (int n = 1; n < INT_MAX; n++) {
        int length = n == 1 ? asprintf(&path, "%s.wlprof", base_name(program))
                            : asprintf(&path, "%s.%d.wlprof", base_name(program), n);
        if (length < 0)
            return NULL;
        if (access(path, F_OK) != 0)
            return path;
        free(path);
    }
    return NULL;
}

static wl_status choose_output(profile_options *o, const char *program, char **path, wl_error *err)
{
    *path = o->output ? expand_output(o->output) : free_output(program);
    if (!*path)
        return wl_fail(err, WL_NOMEM, "out of memory");
    if (o->output && !o->force && access(*path, F_OK) == 0)
        return wl_fail(err, WL_EXISTS,
                       "%s is there already; -f replaces it, -o NAME writes elsewhere", *path);
    struct stat st;
    if (stat(*path, &st) == 0 && !S_ISREG(st.st_mode))
        return wl_fail(err, WL_ARG, "%s is no file; a profile needs one: -o NAME", *path);
    return prof_check_path(*path, err);
}

/* The captures lie beside the profile, on the same disk: a run that cannot keep its result fails before it starts. */
static wl_status make_folder(const char *profile, char **folder, wl_error *err)
{
    char *pattern, *absolute = NULL;
    if (asprintf(&pattern, "%s.captures-XXXXXX", profile) < 0)
        return wl_fail(err, WL_NOMEM, "out of memory");
    if (!mkdtemp(pattern) || !(absolute = realpath(pattern, NULL))) {
        wl_status status = wl_fail_errno(err, "cannot write beside %s; -o NAME writes elsewhere",
                                         profile);
        free(pattern);
        return status;
    }
    free(pattern);
    *folder = absolute;
    return WL_OK;
}

/* ---- the run ---- */

static char *command_line(int argc, const char **argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < argc; i++)
        fprintf(out, "%s%s", i ? " " : "warplens ", argv[i]);
    if (out)
        fclose(out);
    return text;
}

static bool collector_settings(profile_options *o, const char *folder, const char *command)
{
    char verbosity[12];
    snprintf(verbosity, sizeof verbosity, "%d", (int)wl_log_get_level());
    bool progress = !cli_quiet() && cli_terminal(stderr);
    return set(o, "WARPLENS_CAPTURE_DIR", folder) && set(o, "WARPLENS_COMMAND", command) &&
           set(o, "WARPLENS_VERBOSITY", verbosity) &&
           set(o, "WARPLENS_PROGRESS", progress ? "1" : "0") &&
           (!o->device_times || set(o, "WARPLENS_DEVICE_TIMES", o->device_times)) &&
           (!o->blocks || set(o, "WARPLENS_BLOCKS", o->blocks));
}

/* Programs that compile PTX while they run (Triton, torch.compile) get a ptxas that keeps it, and caches of their own: a
 * cubin from elsewhere would come without its PTX. */
static bool compiler_settings(profile_options *o, const char *prefix)
{
    const char *home = getenv("HOME"), *caches = getenv("XDG_CACHE_HOME");
    const char *ptxas = getenv("TRITON_PTXAS_PATH");
    char own[PATH_MAX], path[PATH_MAX + 32];
    bool given = caches && *caches;
    if (!home && !given)
        return true;
    snprintf(own, sizeof own, "%s%s/warplens", given ? caches : home, given ? "" : "/.cache");
    snprintf(path, sizeof path, "%s/lib/warplens/warplens-ptxas", prefix);
    bool done = (!ptxas || set(o, "WARPLENS_PTXAS", ptxas)) && set(o, "TRITON_PTXAS_PATH", path) &&
                set(o, "TRITON_PTXAS_BLACKWELL_PATH", path);
    snprintf(path, sizeof path, "%s/ptx", own);
    done = done && set(o, "WARPLENS_PTX_STORE", path);
    snprintf(path, sizeof path, "%s/triton", own);
    done = done && set(o, "TRITON_CACHE_DIR", path);
    snprintf(path, sizeof path, "%s/inductor", own);
    return done && set(o, "TORCHINDUCTOR_CACHE_DIR", path);
}

static wl_status launch(profile_options *o, const char **argv, const char *folder,
                        const char *command, cli_outcome *outcome, wl_error *err)
{
    const char *prefix = cli_prefix();
    char libraries[PATH_MAX], preload[PATH_MAX + 32];
    if (!prefix)
        return wl_fail(err, WL_NOENT, "cannot find warplens's own files: /proc is not mounted");
    snprintf(libraries, sizeof libraries, "%s/lib/warplens/%s", prefix,
             o->on_gpu ? "inline" : "emulate");
    snprintf(preload, sizeof preload, "%s/%s", libraries,
             o->on_gpu ? "libcuda.so.1" : "libwarplens_emulate.so");
    if (access(preload, R_OK) != 0)
        return wl_fail_errno(err, "%s is missing: install warplens again", preload);
    if (!collector_settings(o, folder, command) || (o->on_gpu && !compiler_settings(o, prefix)))
        return wl_fail(err, WL_NOMEM, "out of memory");
    cli_launch l = {.argv = argv,
                    .libraries = o->on_gpu ? NULL : libraries,
                    .preload = preload,
                    .settings = o->settings.data,
                    .nsettings = o->settings.count,
                    .application_only = o->targets && strcmp(o->targets, "application-only") == 0};
    return cli_launch_run(&l, outcome, err);
}

/* The status that the application's end is passed on with. */
static int exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void tell_end(const cli_outcome *outcome)
{
    if (WIFSIGNALED(outcome->status))
        wl_log(WL_LOG_WARN, "the application was ended by signal %d (%s)",
               WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void tell_findings(const prof_coverage *c, const ana_findings *findings)
{
    bool little = findings->count && findings->rows[0].gain != ANA_GAIN_FULL;
    wl_log(WL_LOG_INFO, "%llu launch%s of %llu kernel%s observed, %u finding%s%s",
           (unsigned long long)c->launches_observed, c->launches_observed == 1 ? "" : "es",
           (unsigned long long)c->kernels_observed, plural(c->kernels_observed), findings->ngroups,
           plural(findings->ngroups), little ? " of little gain" : "");
}

/* What the profile holds, in a few lines; false when nothing was measured. */
static bool tell_profile(const char *path)
{
    cli_profile profile;
    if (!cli_profile_open(path, 0, &profile))
        return false;
    const prof_coverage *c = &profile.data.coverage;
    bool measured = c->launches_observed > 0;
    if (measured)
        tell_findings(c, &profile.findings);
    else if (c->launches_seen && profile.data.launches.count)
        wl_log(WL_LOG_INFO,
               "%llu launches of %llu kernels ran on the GPU; what they accessed was not observed",
               (unsigned long long)c->launches_seen, (unsigned long long)c->kernels_seen);
    else
        wl_log(WL_LOG_WARN,
               c->launches_seen ? "no launch was observed: see 'warplens stats %s' for the reasons"
                                : "the application launched no kernel that warplens could see (%s)",
               path);
    wl_log(WL_LOG_INFO, "profile: %s   ('warplens stats' prints it, 'warplens report' draws it)",
           path);
    cli_profile_close(&profile);
    return measured;
}

/* A run without a single capture: the application never used CUDA. */
static bool folder_empty(const char *folder)
{
    return rmdir(folder) == 0;
}

/* Where the name was chosen for the user and another run took it meanwhile, the next free one is taken. */
static wl_status import(profile_options *o, const char *folder, const char *program, char **path,
                        const char *command, wl_error *err)
{
    wl_status status = cli_import(folder, *path, command, o->force, err);
    while (status == WL_EXISTS && !o->output) {
        char *next = free_output(program);
        if (!next)
            break;
        free(*path);
        *path = next;
        status = cli_import(folder, *path, command, false, err);
    }
    return status;
}

static bool keep_result(profile_options *o, const char *folder, const char *program, char **path,
                        const char *command, wl_error *err)
{
    if (folder_empty(folder)) {
        wl_log(WL_LOG_WARN, "the application made no CUDA call, so there is nothing to profile and "
                            "no profile was written");
        return false;
    }
    if (import(o, folder, program, path, command, err) != WL_OK) {
        cli_fail(err);
        wl_log(WL_LOG_ERROR,
               "what was recorded is kept in %s: 'warplens import -o NAME %s' tries again", folder,
               folder);
        return false;
    }
    return tell_profile(*path);
}

/* What the collector was told counts for the replay in this process, too. */
static void use_settings(const profile_options *o)
{
    for (size_t i = 0; i < o->settings.count; i++)
        if (strncmp(o->settings.data[i].name, "WARPLENS_", 9) == 0)
            setenv(o->settings.data[i].name, o->settings.data[i].value, 1);
    prog_options_again();
}

static int profile(profile_options *o, const char **argv, const char *command)
{
    wl_error err = {0};
    char *path = NULL, *folder = NULL;
    cli_outcome outcome = {0};
    wl_status status = o->on_gpu ? prog_check_program(argv[0], &err)
                                 : prog_check_target(argv[0], &err);
    if (status == WL_OK)
        status = choose_output(o, argv[0], &path, &err);
    if (status == WL_OK)
        status = make_folder(path, &folder, &err);
    if (status == WL_OK)
        status = launch(o, argv, folder, command, &outcome, &err);
    int result;
    if (status != WL_OK || !folder) {
        if (folder)
            rmdir(folder);
        result = outcome.not_started ? 127 : cli_fail(&err);
        if (outcome.not_started)
            wl_log(WL_LOG_ERROR, "%s: %s", argv[0], err.text);
    } else {
        tell_end(&outcome);
        use_settings(o);
        bool kept = keep_result(o, folder, argv[0], &path, command, &err);
        result = cli_interrupt() && !kept     ? 128 + cli_interrupt()
                 : !kept && o->error_exitcode ? o->error_exitcode
                                              : exit_status(outcome.status);
    }
    free(path), free(folder);
    return result;
}

static bool names_device(const profile_options *o)
{
    for (size_t i = 0; i < o->settings.count; i++)
        if (strcmp(o->settings.data[i].name, "WARPLENS_DEVICE") == 0)
            return true;
    return false;
}

/* auto: on the GPU where there is one, unless another device is to be emulated. */
static bool choose_backend(profile_options *o)
{
    char driver[PATH_MAX];
    const char *name = o->backend ? o->backend : getenv("WARPLENS_BACKEND");
    bool there = prog_find_driver(driver, sizeof driver);
    if (!name || strcmp(name, "auto") == 0)
        name = there && prog_gpu_present() && !names_device(o) ? "inline" : "emulate";
    o->on_gpu = strcmp(name, "inline") == 0;
    if (o->on_gpu && !there)
        return cli_usage_error("profile", "--backend inline needs NVIDIA's driver (libcuda.so.1), "
                                          "and there is none; 'warplens doctor' tells more"),
               false;
    if (o->on_gpu || strcmp(name, "emulate") == 0)
        return true;
    if (strcmp(name, "sass") == 0)
        cli_usage_error("profile", "this version has no --backend sass yet");
    else
        cli_usage_error("profile", "--backend is auto, emulate or inline, not '%s'", name);
    return false;
}

static bool check_targets(const char *name)
{
    return !name || strcmp(name, "all") == 0 || strcmp(name, "application-only") == 0 ||
           (cli_usage_error("profile", "--target-processes is all or application-only, not '%s'",
                            name),
            false);
}

static bool check_times(const char *which)
{
    return !which || strcmp(which, "auto") == 0 || strcmp(which, "all") == 0 ||
           strcmp(which, "none") == 0 ||
           (cli_usage_error("profile", "--device-times is auto, all or none, not '%s'", which),
            false);
}

static void options_free(profile_options *o)
{
    for (size_t i = 0; i < o->settings.count; i++)
        free((char *)o->settings.data[i].value);
    wl_vec_free(&o->settings);
    free(o->backend), free(o->output), free(o->blocks), free(o->targets), free(o->device_times);
}

int cmd_profile(int argc, const char **argv)
{
    profile_options o = {0};
    const struct poptOption options[] = {
        {"output", 'o', POPT_ARG_STRING, &o.output, 0,
         "The profile to write; %p is the process, %h the host, %q{VAR} a variable (default: "
         "PROGRAM.wlprof)",
         "FILE"},
        {"force", 'f', POPT_ARG_NONE, &o.force, 0, "Replace the file", NULL},
        {"backend", '\0', POPT_ARG_STRING, &o.backend, 0,
         "inline: on the GPU, at its own speed; emulate: on the CPU; auto (default): inline where "
         "there is a GPU and --device names no other",
         "NAME"},
        {"target-processes", '\0', POPT_ARG_STRING, &o.targets, 0,
         "all (default): the program's children too; application-only: not them", "WHICH"},
        {"device-times", '\0', POPT_ARG_STRING, &o.device_times, 0,
         "On a GPU: which launches are timed on it: all, none, or auto (default): the first two of "
         "a "
         "kernel and shape, more of them as long as it takes no more than 0.2 % of their time",
         "WHICH"},
        {"replay-budget", '\0', POPT_ARG_STRING, NULL, OPT_BUDGET,
         "On a GPU: time and memory that may be spent after the run on working out accesses that "
         "follow "
         "from the launch, or none for no limits; what does not fit "
         "is estimated from a part of the blocks, or left out (default: 60s,4G)",
         "TIME,MEMORY"},
        {"device", '\0', POPT_ARG_STRING, NULL, OPT_DEVICE,
         "GPU to emulate, see 'warplens devices' (default: h200)", "NAME"},
        {"threads", '\0', POPT_ARG_STRING, NULL, OPT_THREADS,
         "Host threads of the emulation (default: all cores)", "N"},
        {"kernel-name", 'k', POPT_ARG_STRING, NULL, OPT_KERNEL,
         "Observe these kernels only: NAME or regex:EXPRESSION", "NAME"},
        {"kernel-name-exclude", '\0', POPT_ARG_STRING, NULL, OPT_EXCLUDE, "Leave these kernels out",
         "NAME"},
        {"launch-skip", 's', POPT_ARG_STRING, NULL, OPT_SKIP, "Pass over the first N launches",
         "N"},
        {"launch-count", 'c', POPT_ARG_STRING, NULL, OPT_COUNT, "Observe N launches", "N"},
        {"block", '\0', POPT_ARG_STRING, NULL, OPT_BLOCK,
         "Block that gets a heat map, may be repeated; auto (default): blocks that stand for the "
         "others, and odd ones; all: every block, up to 256",
         "X,Y,Z"},
        {"set", '\0', POPT_ARG_STRING, NULL, OPT_SET,
         "basic: counters only; full (default): heat maps too", "SET"},
        {"collect", '\0', POPT_ARG_STRING, NULL, OPT_COLLECT,
         "On a GPU: auto (default): accesses that do not follow from the launch are recorded on "
         "the "
         "device; replay: none; probe: all",
         "WAY"},
        {"probes", '\0', POPT_ARG_STRING, NULL, OPT_PROBES,
         "What is recorded, behind commas: touch, frequency and shared tell which elements of "
         "objects "
         "and shared arrays are accessed, and how often, on every backend; on a GPU also objects, "
         "trace and blocks (default: trace,blocks)",
         "LIST"},
        {"probe-launches", '\0', POPT_ARG_STRING, NULL, OPT_PROBE_LAUNCHES,
         "On a GPU: record N launches of a kernel, then those that are a power of two; 0: all "
         "(default: 16)",
         "N"},
        {"device-memory", '\0', POPT_ARG_STRING, NULL, OPT_DEVICE_MEMORY,
         "On a GPU: MiB of its memory for what is recorded (default: 256)", "N"},
        {"time-limit", '\0', POPT_ARG_STRING, NULL, OPT_TIME_LIMIT,
         "Stop a launch after so many seconds", "SECONDS"},
        {"error-exitcode", '\0', POPT_ARG_INT, &o.error_exitcode, 0,
         "Exit with this status when nothing was measured or the profile could not be written",
         "N"},
        CLI_COMMON};
    int status;
    char *command = command_line(argc, argv);
    poptContext context = cli_parse(argc, argv, options, "[options] [--] PROGRAM [arguments]",
                                    each_option, &o, &status);
    const char **args = context ? poptGetArgs(context) : NULL;
    if (context && (!args || !args[0]))
        status = cli_usage_error("profile", "no program was given");
    else if (context)
        status = check_targets(o.targets) && check_times(o.device_times) && choose_backend(&o)
                     ? profile(&o, args, command ? command : "")
                     : CLI_USAGE;
    poptFreeContext(context);
    options_free(&o);
    free(command);
    return status;
}
