/* `warplens explore`: what warps did, step by step, as an HTML file that opens at its explorer. */
#include "base/log.h"
#include "cli/cli.h"
#include "program/kernel_name.h"

#include <stdlib.h>
#include <string.h>

typedef struct explore_options {
    char *output, *kernel;
    int force, no_open;
} explore_options;

static int check_explore_options(const explore_options *o)
{
    wl_error why = {0};
    bool to_stdout = o->output && strcmp(o->output, "-") == 0;
    if (o->force && (!o->output || to_stdout))
        return cli_usage_error("explore", "-f has no effect without -o FILE");
    if (o->no_open && to_stdout)
        return cli_usage_error("explore", "--no-open has no effect with -o -");
    if (o->kernel && prog_pattern_check(o->kernel, &why) != WL_OK)
        return cli_usage_error("explore", "-k %s: %s", o->kernel, why.text);
    return CLI_OK;
}

/* Of the kernels that were asked for. */
static int load_steps(cli_profile *profile, const explore_options *o)
{
    const uint32_t *kernels = NULL;
    uint32_t nkernels = 0;
    wl_error err = {0};
    if (o->kernel && !(kernels = cli_find_kernels(profile, o->kernel, &nkernels)))
        return CLI_NOT_MEASURED;
    if (rep_load_explored(profile->db, kernels, nkernels, profile->arena, &profile->data, &err) !=
        WL_OK)
        return cli_fail(&err);
    profile->data.explorer = true;
    if (profile->data.warps.count || profile->data.npaths)
        return CLI_OK;
    wl_log(
        WL_LOG_ERROR,
        "the profile does not hold what the warps%s did; 'warplens profile --set "
        "sequences' keeps it, and on a GPU, where data decides, '--probes path' which paths they "
        "took",
        o->kernel ? " of that kernel" : "");
    return CLI_NOT_MEASURED;
}

static int write_explorer(const char *path, const explore_options *o, const char *output)
{
    cli_profile profile;
    wl_error err = {0};
    if (!cli_has_page() || !cli_profile_open(path, NULL, REP_PART_SOURCES, &profile))
        return CLI_FAILED;
    int status = load_steps(&profile, o);
    if (status == CLI_OK) {
        FILE *file = cli_create(output, o->force || !o->output, &err);
        status = file ? cli_finish(file, output, rep_html(&profile.data, file, &err), &err)
                      : cli_fail(&err);
    }
    cli_profile_close(&profile);
    return status;
}

static int explore(const char *path, const explore_options *o)
{
    char *own = o->output ? NULL : cli_html_path(path, ".explore.html");
    const char *output = o->output ? o->output : own;
    int status = output ? write_explorer(path, o, output) : CLI_FAILED;
    bool to_file = output && strcmp(output, "-") != 0;
    if (status == CLI_OK && to_file)
        wl_log(WL_LOG_INFO, "explorer: %s", output);
    if (status == CLI_OK && to_file && !o->no_open)
        cli_open_in_browser(output);
    free(own);
    return status;
}

int cmd_explore(int argc, const char **argv)
{
    explore_options o = {0};
    int status;
    const struct poptOption options[] = {
        {"kernel-name", 'k', POPT_ARG_STRING, &o.kernel, 0,
         "Only kernels of this name (mangled, or the function's own), or that match regex:...",
         "NAME"},
        {"output", 'o', POPT_ARG_STRING, &o.output, 0,
         "Write here instead of PROFILE with .explore.html, which is replaced; - is stdout",
         "FILE"},
        {"force", 'f', POPT_ARG_NONE, &o.force, 0, "Replace the file that -o names", NULL},
        {"no-open", '\0', POPT_ARG_NONE, &o.no_open, 0, "Write the file, but start no browser",
         NULL},
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    if (path && status == CLI_OK)
        status = check_explore_options(&o);
    if (path && status == CLI_OK)
        status = explore(path, &o);
    poptFreeContext(context);
    free(o.output), free(o.kernel);
    return status;
}
