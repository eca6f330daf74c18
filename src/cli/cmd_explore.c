/* `warplens explore`: what warps did, step by step: as an HTML file that opens at its explorer or,
 * where that would be too large, from a server on this machine. */
#include "base/log.h"
#include "cli/cli.h"
#include "cli/serve.h"
#include "program/kernel_name.h"

#include <stdlib.h>
#include <string.h>

typedef struct explore_options {
    char *output, *kernel;
    int force, no_open, serve, offline, port; /* port: -1 where none was given */
} explore_options;

static bool asks_for_file(const explore_options *o)
{
    return o->offline || o->output;
}

static bool asks_for_server(const explore_options *o)
{
    return o->serve || o->port >= 0;
}

/* Of options that have no effect together; NULL: there are none. */
static const char *find_conflict(const explore_options *o)
{
    bool to_stdout = o->output && strcmp(o->output, "-") == 0;
    if (o->force && (!o->output || to_stdout))
        return "-f has no effect without -o FILE";
    if (o->no_open && to_stdout)
        return "--no-open has no effect with -o -";
    if (asks_for_file(o) && o->serve)
        return "--serve writes no file: it has no effect with --offline or -o";
    if (asks_for_file(o) && o->port >= 0)
        return "--port has no effect with --offline or -o, which write a file";
    return NULL;
}

static int check_explore_options(const explore_options *o)
{
    wl_error why = {0};
    const char *wrong = find_conflict(o);
    if (wrong)
        return cli_usage_error("explore", "%s", wrong);
    if (o->port < -1 || o->port > UINT16_MAX)
        return cli_usage_error("explore", "--port is a number from 0 to 65535, not %d", o->port);
    if (o->kernel && prog_pattern_check(o->kernel, &why) != WL_OK)
        return cli_usage_error("explore", "-k %s: %s", o->kernel, why.text);
    return CLI_OK;
}

/* ---- profiles ---- */

typedef wl_status steps_loader(prof_db *profile, const uint32_t *kernels, uint32_t nkernels,
                               wl_arena *arena, rep_data *data, wl_error *err);

static const char *name_of_profile(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int refuse_profile(const explored_profiles *p, uint32_t i, const explore_options *o)
{
    wl_log(WL_LOG_ERROR,
           "%s does not hold what the warps%s did; 'warplens profile --set sequences' keeps it, "
           "and on a GPU, where data decides, '--probes path' which paths they took",
           p->count > 1 ? name_of_profile(p->paths[i]) : "the profile",
           o->kernel ? " of that kernel" : "");
    return CLI_NOT_MEASURED;
}

/* Of the kernels that were asked for: what their warps did, or only which launches have that. */
static int load_steps(explored_profiles *p, uint32_t i, const explore_options *o, wl_arena *arena,
                      steps_loader *load)
{
    cli_profile *profile = &p->rows[i];
    wl_error err = {0};
    if (load(profile->db, p->kernels[i], p->nkernels[i], arena, &profile->data, &err) != WL_OK)
        return cli_fail(&err);
    profile->data.explorer = true;
    profile->data.profile = name_of_profile(p->paths[i]);
    const rep_data *d = &profile->data;
    return d->warps.count || d->npaths || d->nserved ? CLI_OK : refuse_profile(p, i, o);
}

static int load_all_steps(explored_profiles *p, const explore_options *o, wl_arena *arena,
                          steps_loader *load)
{
    int status = CLI_OK;
    for (uint32_t i = 0; i < p->count && status == CLI_OK; i++)
        status = load_steps(p, i, o, arena ? arena : p->rows[i].arena, load);
    return status;
}

static int open_profiles(explored_profiles *p, const explore_options *o)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!cli_profile_open(p->paths[i], NULL, REP_PART_SOURCES | REP_PART_LISTINGS, &p->rows[i]))
            return CLI_FAILED;
        p->data[i] = &p->rows[i].data;
        if (o->kernel)
            p->kernels[i] = cli_find_kernels(&p->rows[i], o->kernel, &p->nkernels[i]);
        if (o->kernel && !p->kernels[i])
            return CLI_NOT_MEASURED;
    }
    return CLI_OK;
}

/* What would take long to read and pack, only to be left out of the file. */
static int check_sizes(const explored_profiles *p, bool *too_large)
{
    wl_error err = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        bool fits = true;
        const cli_profile *profile = &p->rows[i];
        if (rep_explored_fits(profile->db, p->kernels[i], p->nkernels[i], &profile->data, &fits,
                              &err) != WL_OK)
            return cli_fail(&err);
        *too_large |= !fits;
    }
    return CLI_OK;
}

/* ---- the file ---- */

static void forget_steps(explored_profiles *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        rep_data *d = &p->rows[i].data;
        d->warps = (ana_explore_rows){0};
        d->paths = NULL;
        d->npaths = 0;
    }
}

/* *too_large: launches found no room, nothing was written, and a file was not asked for. */
static int write_explorer(const explored_profiles *p, const explore_options *o, const char *output,
                          bool *too_large)
{
    wl_error err = {0};
    uint32_t left_out = 0;
    FILE *file = cli_create(output, o->force || !o->output, &err);
    if (!file)
        return cli_fail(&err);
    wl_status status = rep_explorer(p->data, p->count, &left_out, file, &err);
    *too_large = status == WL_OK && left_out && !asks_for_file(o);
    if (!*too_large)
        return cli_finish(file, output, status, &err);
    cli_discard(file);
    return CLI_OK;
}

static int write_explorer_file(explored_profiles *p, const explore_options *o, bool *too_large)
{
    char *own = o->output ? NULL : cli_html_path(p->paths[0], ".explore.html");
    const char *output = o->output ? o->output : own;
    wl_arena *steps = wl_arena_new(); /* given back before a server starts */
    int status = output && steps ? load_all_steps(p, o, steps, rep_load_explored) : CLI_FAILED;
    if (status == CLI_OK)
        status = write_explorer(p, o, output, too_large);
    bool to_file = status == CLI_OK && !*too_large && strcmp(output, "-") != 0;
    if (to_file)
        wl_log(WL_LOG_INFO, "explorer: %s", output);
    if (to_file && !o->no_open)
        cli_open_in_browser(output, output);
    forget_steps(p);
    wl_arena_free(steps);
    free(own);
    return status;
}

/* ---- the command ---- */

static int serve_explorer(explored_profiles *p, const explore_options *o)
{
    int status = load_all_steps(p, o, NULL, rep_load_served);
    return status == CLI_OK ? explore_serve(p, (uint16_t)(o->port < 0 ? 0 : o->port), !o->no_open)
                            : status;
}

static int explore(explored_profiles *p, const explore_options *o)
{
    bool serve = asks_for_server(o), too_large = false;
    int status = cli_has_page() ? open_profiles(p, o) : CLI_FAILED;
    if (status == CLI_OK && !serve && !asks_for_file(o))
        status = check_sizes(p, &too_large);
    if (status == CLI_OK && !serve && !too_large)
        status = write_explorer_file(p, o, &too_large);
    if (status == CLI_OK && too_large)
        wl_log(WL_LOG_INFO, "not all launches find room in a file of 20 MB, so they are served "
                            "from here; --offline leaves them out, -k KERNEL takes fewer");
    if (status == CLI_OK && (serve || too_large))
        status = serve_explorer(p, o);
    for (uint32_t i = 0; i < p->count; i++)
        cli_profile_close(&p->rows[i]);
    return status;
}

static int take_profiles(poptContext context, explored_profiles *p)
{
    int status = CLI_OK;
    const char **args = poptGetArgs(context);
    if (!args || !args[0] || !args[1]) {
        p->paths[p->count++] = cli_profile_argument(context, &status);
        return status;
    }
    while (p->count < EXPLORE_MOST && args[p->count]) {
        p->paths[p->count] = args[p->count];
        p->count++;
    }
    return args[p->count]
               ? cli_usage_error("explore", "%d profiles stand side by side at most", EXPLORE_MOST)
               : CLI_OK;
}

int cmd_explore(int argc, const char **argv)
{
    explore_options o = {.port = -1};
    explored_profiles profiles = {0};
    int status;
    const struct poptOption options[] = {
        CLI_KERNEL_NAME(o.kernel),
        {"output", 'o', POPT_ARG_STRING, &o.output, 0,
         "Write here instead of PROFILE with .explore.html, which is replaced; - is stdout",
         "FILE"},
        {"force", 'f', POPT_ARG_NONE, &o.force, 0, "Replace the file that -o names", NULL},
        {"offline", '\0', POPT_ARG_NONE, &o.offline, 0,
         "Write a file even where launches find no room in it, and are left out", NULL},
        {"serve", '\0', POPT_ARG_NONE, &o.serve, 0,
         "Serve the page to the browsers of this machine, as is done where a file would be over "
         "20 MB",
         NULL},
        {"port", '\0', POPT_ARG_INT, &o.port, 0, "Serve it at this port of 127.0.0.1", "PORT"},
        {"no-open", '\0', POPT_ARG_NONE, &o.no_open, 0, "Start no browser", NULL},
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE [PROFILE]]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    if (context)
        status = take_profiles(context, &profiles);
    if (context && status == CLI_OK)
        status = check_explore_options(&o);
    if (context && status == CLI_OK)
        status = explore(&profiles, &o);
    poptFreeContext(context);
    free(o.output), free(o.kernel);
    return status;
}
