/* `warplens profile`: runs a program under a collector and makes a profile of what it recorded. */
#include "base/log.h"
#include "cli/asked.h"
#include "cli/attached.h"
#include "cli/launch.h"
#include "cli/libraries.h"
#include "cli/output.h"
#include "program/driver_path.h"
#include "program/target.h"
#include "replay/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct profile_run {
    cli_asked asked;
    cli_output output;
    bool on_gpu;         /* the backend is inline */
    const char *command; /* the command line, for the report */
} profile_run;

/* The captures lie beside the profile, on the same disk: a run that cannot keep its result fails
 * before it starts. */
static wl_status make_capture_folder(const char *profile, char **folder, wl_error *err)
{
    char *pattern, *absolute = NULL;
    if (asprintf(&pattern, "%s.captures-XXXXXX", profile) < 0)
        return wl_fail(err, WL_NOMEM, "out of memory");
    if (!mkdtemp(pattern) || !(absolute = realpath(pattern, NULL))) {
        wl_status status = wl_fail_errno(
            err, "cannot write into the folder of %s; -o NAME writes elsewhere", profile);
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

/* Files among the devices by their absolute names, since the program may change its folder. */
static bool name_devices(cli_asked *asked)
{
    char *text = NULL, *rest = asked->given[PROG_OPTION_device];
    size_t size;
    FILE *out = rest ? open_memstream(&text, &size) : NULL;
    if (!rest || !out)
        return !rest;
    for (char *name; (name = strsep(&rest, ","));) {
        char *path = strchr(name, '/') || strstr(name, ".json") ? realpath(name, NULL) : NULL;
        fprintf(out, "%s%s", path ? path : name, rest ? "," : "");
        free(path);
    }
    bool good = fclose(out) == 0 && cli_asked_set(asked, PROG_OPTION_device, text);
    free(text);
    return good;
}

/* What the collector is told beyond what the user gave. */
static bool tell_collector(profile_run *run, const char *folder)
{
    cli_asked *asked = &run->asked;
    char verbosity[12], attached[PATH_MAX];
    snprintf(attached, sizeof attached, "%s/" CLI_ATTACHED_FILE, folder);
    snprintf(verbosity, sizeof verbosity, "%d", (int)wl_log_get_level());
    return name_devices(asked) && cli_asked_set(asked, PROG_OPTION_capture_dir, folder) &&
           cli_asked_set(asked, PROG_OPTION_attached_list, attached) &&
           cli_asked_set(asked, PROG_OPTION_command, run->command) &&
           cli_asked_set(asked, PROG_OPTION_verbosity, verbosity) &&
           cli_asked_set(asked, PROG_OPTION_progress, wl_progress_name(cli_progress_kind()));
}

enum { OWN_SETTINGS = 7 };

typedef struct setting_list {
    cli_setting list[PROG_OPTIONS + OWN_SETTINGS];
    size_t count;
    char texts[OWN_SETTINGS][PATH_MAX + 64];
    size_t ntexts;
} setting_list;

static void list_given(const cli_asked *asked, setting_list *s)
{
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        if (asked->given[id] && prog_option_table[id].variable)
            s->list[s->count++] = (cli_setting){prog_option_table[id].variable, asked->given[id]};
}

static void list_path(setting_list *s, const char *variable, const char *folder, const char *name)
{
    char *text = s->texts[s->ntexts++];
    snprintf(text, sizeof s->texts[0], "%s%s", folder, name);
    s->list[s->count++] = (cli_setting){variable, text};
}

/* Programs that compile PTX while they run (Triton, torch.compile) get a ptxas that keeps it,
 * and caches of their own: a cubin from elsewhere would come without its PTX. */
static void list_compilers(setting_list *s, const char *prefix)
{
    const char *home = getenv("HOME"), *caches = getenv("XDG_CACHE_HOME");
    const char *ptxas = getenv("TRITON_PTXAS_PATH");
    char own[PATH_MAX], stand_in[PATH_MAX + 32];
    bool given = caches && *caches;
    if (!home && !given)
        return;
    snprintf(own, sizeof own, "%s%s/warplens", given ? caches : home, given ? "" : "/.cache");
    snprintf(stand_in, sizeof stand_in, "%s/lib/warplens/warplens-ptxas", prefix);
    if (ptxas)
        s->list[s->count++] = (cli_setting){"WARPLENS_PTXAS", ptxas};
    list_path(s, "TRITON_PTXAS_PATH", stand_in, "");
    list_path(s, "TRITON_PTXAS_BLACKWELL_PATH", stand_in, "");
    list_path(s, prog_option_table[PROG_OPTION_ptx_store].variable, own, "/ptx");
    list_path(s, "TRITON_CACHE_DIR", own, "/triton");
    list_path(s, "TORCHINDUCTOR_CACHE_DIR", own, "/inductor");
}

/* NVTX has one tool at a time: the user's own goes before. */
static void list_nvtx(setting_list *s, const char *prefix)
{
    const char *own = getenv("NVTX_INJECTION64_PATH");
    if (!own || !*own)
        list_path(s, "NVTX_INJECTION64_PATH", prefix, "/lib/warplens/libwarplens_nvtx.so");
}

static wl_status launch(profile_run *run, const char *folder, cli_outcome *outcome, wl_error *err)
{
    const cli_asked *asked = &run->asked;
    cli_libraries libraries;
    setting_list settings = {.count = 0};
    if (!tell_collector(run, folder))
        return wl_fail(err, WL_NOMEM, "out of memory");
    wl_status status = cli_libraries_find(run->on_gpu, &libraries, err);
    if (status != WL_OK)
        return status;
    list_given(asked, &settings);
    list_nvtx(&settings, cli_prefix());
    if (run->on_gpu)
        list_compilers(&settings, cli_prefix());
    bool all = strcmp(asked->options.targets, "all") == 0;
    bool primary = strcmp(asked->options.wait, "primary") == 0;
    cli_launch l = {.argv = asked->program,
                    .libraries = run->on_gpu ? NULL : libraries.folder,
                    .preload = libraries.preload,
                    .settings = settings.list,
                    .nsettings = settings.count,
                    .application_only = !all,
                    .primary_only = primary};
    status = cli_launch_run(&l, outcome, err);
    if (!outcome->outlived) /* what still runs may start more processes */
        cli_libraries_clear(&libraries);
    return status;
}

/* The status that the application's end is passed on with. */
static int exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void tell_end(const cli_outcome *outcome)
{
    if (WIFSIGNALED(outcome->status))
        wl_log(WL_LOG_WARN, "the program was ended by signal %d (%s)", WTERMSIG(outcome->status),
               strsignal(WTERMSIG(outcome->status)));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void tell_findings(const cli_digest *d)
{
    wl_log(WL_LOG_INFO, "%llu launch%s of %llu kernel%s observed, %u finding%s%s",
           (unsigned long long)d->launches_observed, d->launches_observed == 1 ? "" : "es",
           (unsigned long long)d->kernels_observed, plural(d->kernels_observed), d->findings,
           plural(d->findings), d->little ? " of little gain" : "");
}

/* False where the profile cannot be opened, which a message says. */
static bool make_digest(const char *path, cli_digest *digest)
{
    cli_profile profile;
    if (digest->known)
        return true;
    if (!cli_profile_open(path, NULL, 0, &profile))
        return false;
    *digest = cli_profile_digest(&profile);
    cli_profile_close(&profile);
    return true;
}

/* What the profile holds, in a few lines; false when nothing was measured. */
static bool tell_profile(const char *path, cli_digest *d)
{
    if (!make_digest(path, d))
        return false;
    if (d->failed)
        wl_log(WL_LOG_ERROR,
               "the program did not run to its end; what follows is about what ran until then");
    bool timed = !d->emulated && d->launches_seen && d->launches;
    bool measured = d->launches_observed > 0 || timed;
    if (d->launches_observed)
        tell_findings(d);
    else if (timed)
        wl_log(WL_LOG_INFO,
               "%llu launches of %llu kernels ran on the GPU; what they accessed was not observed",
               (unsigned long long)d->launches_seen, (unsigned long long)d->kernels_seen);
    else
        wl_log(WL_LOG_ERROR,
               d->launches_seen ? "no launch was observed: see 'warplens stats %s' for the reasons"
                                : "the program launched no kernel that warplens could observe (%s)",
               path);
    wl_log(WL_LOG_INFO, "profile: %s   ('warplens stats' prints it, 'warplens report' draws it)",
           path);
    return measured;
}

static wl_status import_captures(const profile_run *run, const char *folder, bool outlived,
                                 cli_digest *digest, wl_error *err)
{
    replay_settings settings = replay_settings_of(&run->asked.options);
    char *older = NULL;
    cli_import_options how = {.command = run->command,
                              .force = run->output.replace,
                              .keep_folder = outlived,
                              .older = run->output.keep_older ? &older : NULL,
                              .digest = digest,
                              .replay = &settings};
    wl_status status = cli_import(folder, run->output.path, &how, err);
    if (older)
        wl_log(WL_LOG_INFO, "the profile of the previous run is now %s", older);
    free(older);
    return status;
}

/* Nothing came of this run: the profile of an earlier one is not to be taken for its. */
static void warn_of_older(const profile_run *run)
{
    if (access(run->output.path, F_OK) == 0)
        wl_log(WL_LOG_ERROR, "%s is the profile of an earlier run", run->output.path);
}

/* A run without a single capture. The folder stays for processes that may still make one. */
static void tell_nothing_recorded(const cli_outcome *outcome, const char *folder)
{
    cli_attached_tell(folder, outcome);
    if (outcome->outlived)
        wl_log(WL_LOG_WARN, "the captures of processes that still run are kept in %s", folder);
    else
        cli_remove_captures_folder(folder);
}

static bool keep_result(const profile_run *run, const cli_outcome *outcome, const char *folder,
                        wl_error *err)
{
    cli_digest digest = {0};
    if (!cli_has_captures(folder)) {
        tell_nothing_recorded(outcome, folder);
        warn_of_older(run);
        return false;
    }
    if (import_captures(run, folder, outcome->outlived, &digest, err) != WL_OK) {
        cli_fail(err);
        if (access(folder, F_OK) == 0)
            wl_log(WL_LOG_ERROR,
                   "what was recorded is kept in %s: 'warplens import -o NAME %s' tries again",
                   folder, folder);
        warn_of_older(run);
        return false;
    }
    return tell_profile(run->output.path, &digest);
}

/* Nothing was measured, or it could not be kept: no success, unless that was asked for. */
static int unmeasured_status(const prog_options *o, int of_program)
{
    if (o->error_exitcode)
        return (int)o->error_exitcode;
    return of_program == 0 && !o->keep_exitcode ? CLI_NO_PROFILE : of_program;
}

/* The run went to its end: what it left is made a profile. Returns the exit status. */
static int conclude_run(const profile_run *run, const cli_outcome *outcome, const char *folder)
{
    wl_error err = {0};
    tell_end(outcome);
    bool kept = keep_result(run, outcome, folder, &err);
    if (!kept && cli_interrupt())
        return 128 + cli_interrupt();
    int status = exit_status(outcome->status);
    return kept ? status : unmeasured_status(&run->asked.options, status);
}

/* Nothing was run, or it could not be waited for. Returns the exit status. */
static int give_up_run(const profile_run *run, const cli_outcome *outcome, const char *folder,
                       const wl_error *err)
{
    if (folder)
        cli_remove_captures_folder(folder);
    if (cli_interrupt())
        return 128 + cli_interrupt();
    if (!outcome->not_started)
        return cli_fail(err);
    wl_log(WL_LOG_ERROR, "%s: %s", run->asked.program[0], err->text);
    return CLI_NO_PROGRAM;
}

/* What a shell says of a program that cannot be run. */
static int refuse_program(const wl_error *err)
{
    cli_fail(err);
    return err->status == WL_NOENT ? CLI_NO_PROGRAM : CLI_FAILED;
}

static int profile(profile_run *run)
{
    wl_error err = {0};
    const char *program = run->asked.program[0];
    char *folder = NULL;
    cli_outcome outcome = {0};
    wl_status status = prog_check_program(program, !run->on_gpu, &err);
    if (status != WL_OK)
        return refuse_program(&err);
    status = cli_output_choose(&run->asked.options, program, &run->output, &err);
    cli_note_interrupts(); /* the folder is not to stay behind */
    if (status == WL_OK)
        status = make_capture_folder(run->output.path, &folder, &err);
    if (status == WL_OK)
        status = launch(run, folder, &outcome, &err);
    int result = status == WL_OK ? conclude_run(run, &outcome, folder)
                                 : give_up_run(run, &outcome, folder, &err);
    cli_output_clear(&run->output);
    free(folder);
    return result;
}

/* Options that only the other backend minds: refused where the command line chose the backend,
 * else said. */
static bool check_effects(const profile_run *run, bool chosen)
{
    const char *backend = run->on_gpu ? "inline" : "emulate";
    bool good = true;
    for (prog_option_id id = 0; id < PROG_OPTIONS && good; id++) {
        const prog_option *row = &prog_option_table[id];
        if (!run->asked.given[id] || !row->backend || strcmp(row->backend, backend) == 0)
            continue;
        if (chosen)
            good = cli_usage_error("profile", "--%s has no effect with --backend %s", row->name,
                                   backend) == CLI_OK;
        else
            wl_log(WL_LOG_WARN, "--%s has no effect here: kernels run %s", row->name,
                   run->on_gpu ? "on the GPU" : "in the emulator");
    }
    return good;
}

/* auto: on the GPU where there is one, unless another device is to be emulated. */
static bool choose_backend(profile_run *run)
{
    char driver[PATH_MAX];
    const char *name = run->asked.options.backend;
    bool there = prog_find_driver(driver, sizeof driver);
    bool automatic = strcmp(name, "auto") == 0;
    run->on_gpu = automatic ? there && prog_gpu_present() && !run->asked.given[PROG_OPTION_device]
                            : strcmp(name, "inline") == 0;
    if (run->on_gpu && !there)
        cli_usage_error("profile", "--backend inline needs NVIDIA's driver (libcuda.so.1), and "
                                   "there is none; 'warplens doctor' says more");
    return (there || !run->on_gpu) && check_effects(run, run->asked.given[PROG_OPTION_backend] ||
                                                             run->asked.given[PROG_OPTION_device]);
}

int cmd_profile(int argc, const char **argv)
{
    int status;
    char *command = command_line(argc, argv);
    profile_run run = {.command = command ? command : ""};
    if (cli_asked_read(argc, argv, &run.asked, &status))
        status = choose_backend(&run) ? profile(&run) : CLI_USAGE;
    cli_asked_clear(&run.asked);
    free(command);
    return status;
}
