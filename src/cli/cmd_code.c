/* `warplens code`, also `warplens ptx`: what of each kernel's accesses follows from its launch alone. */
#include "base/log.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/ptx.h"
#include "flow/dump.h"
#include "profile/demangle.h"
#include "program/kernel_name.h"
#include "ptx/ptx.h"
#include "rewrite/dump.h"

#include <stdlib.h>
#include <string.h>

typedef struct ptx_options {
    const char *name; /* of the command, as it was called */
    char *format, *kernel, *dump, *rewrite;
    int summary, everything, alone;
    bool json;
    flow_pass pass;                /* of --dump */
    bool dumps_plan;               /* --dump names a pass of the probes */
    bool dumps_sass, dumps_lifted; /* of machine code */
    uint32_t probes;               /* of --rewrite */
} ptx_options;

typedef struct ptx_run {
    const ptx_options *options;
    const char *file;
    ptx_totals totals;
    machine_totals machine;
    json_t *files, *kernels, *machine_code; /* --format json; the latter of the file at hand */
    const sass_lifted
        *lifted; /* the machine code at hand, and what the list has of it, else NULL */
    json_t *object;
    uint64_t shown;
} ptx_run;

/* Of machine code, with what is said of that. */
static void keep_json(ptx_run *r, json_t *kernel)
{
    if (!r->object) {
        json_array_append_new(r->kernels, kernel);
        return;
    }
    json_object_update_missing(r->object, kernel);
    json_decref(kernel);
}

static void show_kernel(ptx_run *r, const ptx_subject *s)
{
    ptx_count(&r->totals, s);
    r->shown++;
    if (r->options->dump)
        flow_dump(s->kernel, r->options->pass, stdout);
    else if (!r->options->summary && r->options->json)
        keep_json(r, ptx_kernel_json(s));
    else if (!r->options->summary)
        ptx_print_kernel(s, stdout);
}

/* Was the kernel of this mangled name asked for? */
static bool is_named(void *ctx, const char *kernel)
{
    const ptx_options *o = ((const ptx_run *)ctx)->options;
    return !o->kernel || prog_pattern_matches(o->kernel, kernel);
}

/* What a pass of src/rewrite plans for the kernel, with the probes that --rewrite names, else
 * with all. */
static wl_status dump_plan(ptx_run *r, const ir_module *module, const ir_func *func,
                           wl_arena *arena)
{
    rewrite_options o = {.probes = r->options->probes ? r->options->probes
                                                      : (1u << REWRITE_PROBE_COUNT) - 1,
                         .everything = r->options->everything};
    if (!is_named(r, func->name))
        return WL_OK;
    r->shown++;
    return rewrite_dump(module, func, &o, r->options->dump, arena, stdout);
}

static wl_status find_kernel_uses(const ptx_subject *s, wl_arena *arena, flow_counts *counts,
                                  flow_fills *fills, flow_arrays *arrays)
{
    wl_status status = flow_count_uses(s->kernel, s->proof, counts);
    if (status == WL_OK)
        status = flow_fills_of(s->kernel, arena, fills);
    return status == WL_OK ? flow_find_arrays(counts, fills, arrays) : status;
}

static wl_status analyse_kernel(ptx_run *r, const ir_module *module, ir_func *func, wl_arena *arena)
{
    ir_kernel code;
    flow_proof proof;
    if (!is_named(r, func->name))
        return WL_OK;
    wl_status status = ir_kernel_of(module, func, arena, &code);
    flow_kernel *kernel = status == WL_OK ? flow_kernel_new(&code, arena) : NULL;
    if (!kernel)
        return WL_NOMEM;
    status = flow_prove_kernel(kernel, arena, &proof);
    if (status == WL_OK && r->options->dump)
        status = flow_run(kernel, FLOW_PASS_ilp);
    const char *name = prof_demangle(arena, func->name);
    flow_counts counts;
    flow_fills fills;
    flow_arrays arrays;
    ptx_subject s = {.file = r->file,
                     .module = module,
                     .code = &code,
                     .kernel = kernel,
                     .proof = &proof,
                     .name = name ? name : func->name,
                     .lifted = r->lifted,
                     .counts = &counts,
                     .fills = &fills,
                     .arrays = &arrays};
    if (status == WL_OK && !r->options->summary && !r->options->dump)
        status = find_kernel_uses(&s, arena, &counts, &fills, &arrays);
    if (status == WL_OK)
        show_kernel(r, &s);
    return status;
}

static void tell_left_alone(ptx_run *r, const rewrite_kernel *k)
{
    r->shown++;
    if (k->refused && is_named(r, k->func->name))
        wl_log(WL_LOG_WARN, "%s is not probed: %s", k->func->name, k->refused);
    if (k->no_paths)
        wl_log(WL_LOG_INFO, "%s does not tell paths: %s", k->func->name, k->no_paths);
    for (uint32_t s = 0; s < k->nskips; s++)
        wl_log(WL_LOG_INFO, "%s: instruction %u is not probed: %s", k->func->name, k->skips[s].pc,
               k->skips[s].reason);
}

/* Prints the module with probes, or as it is where there is nothing to probe; says on stderr
 * what was left alone. */
static wl_status rewrite_whole(ptx_run *r, const ir_module *module, const rewrite_options *o,
                               wl_arena *arena, wl_error *err)
{
    rewrite_result out = {0};
    char *text = NULL;
    size_t length;
    wl_status status = rewrite_module(module, o, arena, &out, err);
    if (status == WL_OK && !out.text)
        status = ptx_print(module, &text, &length);
    if (status == WL_OK)
        fputs(out.text ? out.text : text, stdout);
    for (uint32_t i = 0; status == WL_OK && i < out.nkernels; i++)
        tell_left_alone(r, &out.kernels[i]);
    free(out.text);
    free(text);
    return status;
}

/* Of each kernel the module of its own, one after another. */
static wl_status rewrite_kernels(ptx_run *r, const ir_module *module, const rewrite_options *o,
                                 wl_arena *arena, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; status == WL_OK && i < module->nfuncs; i++) {
        const ir_func *func = module->funcs[i];
        rewrite_alone out = {0};
        if (!func->entry || !func->has_body || !is_named(o->ctx, func->name))
            continue;
        status = rewrite_kernel_alone(module, func, o, arena, &out, err);
        if (out.text)
            fputs(out.text, stdout);
        if (status == WL_OK)
            tell_left_alone(r, &out.kernel);
        free(out.text);
    }
    return status;
}

static wl_status rewrite_text(ptx_run *r, const ir_module *module, wl_error *err)
{
    rewrite_options o = {.probes = r->options->probes,
                         .everything = r->options->everything,
                         .wants = is_named,
                         .ctx = r};
    wl_arena *arena = wl_arena_new();
    if (!arena)
        return WL_NOMEM;
    wl_status status = r->options->alone ? rewrite_kernels(r, module, &o, arena, err)
                                         : rewrite_whole(r, module, &o, arena, err);
    wl_arena_free(arena);
    return status;
}

static wl_status analyse_text(void *ctx, const char *name, const char *text, size_t length,
                              wl_error *err)
{
    ptx_run *r = ctx;
    ir_module *module;
    wl_status status = ptx_parse(text, length, name, &module, err);
    if (status == WL_OK && r->options->rewrite && !r->options->dump) {
        status = rewrite_text(r, module, err);
        ir_module_free(module);
        return status;
    }
    for (uint32_t i = 0; status == WL_OK && i < module->nfuncs; i++) {
        if (!module->funcs[i]->entry || !module->funcs[i]->has_body)
            continue;
        wl_arena *arena = wl_arena_new();
        status = !arena                   ? WL_NOMEM
                 : r->options->dumps_plan ? dump_plan(r, module, module->funcs[i], arena)
                                          : analyse_kernel(r, module, module->funcs[i], arena);
        wl_arena_free(arena);
        if (status != WL_OK)
            wl_fail(err, status, "%s: no memory to analyse %s", name, module->funcs[i]->name);
    }
    ir_module_free(module);
    return status;
}

static wl_status analyse_lifted(void *ctx, const char *kernel, const sass_lifted *lifted,
                                json_t *object, wl_error *err)
{
    ptx_run *r = ctx;
    if (r->options->dumps_lifted) {
        machine_print_lifted(lifted);
        return WL_OK;
    }
    r->lifted = lifted;
    r->object = object;
    wl_status status = analyse_text(r, kernel, lifted->text, lifted->length, err);
    r->lifted = NULL;
    r->object = NULL;
    return status;
}

static wl_status list_machine_code(ptx_run *r, const char *path, wl_error *err)
{
    const ptx_options *o = r->options;
    uint64_t before = r->machine.kernels;
    machine_request request = {.wants = is_named,
                               .ctx = r,
                               .instructions = o->dumps_sass,
                               .quiet = o->dump && !o->dumps_sass,
                               .lifted = o->dumps_sass ? NULL : analyse_lifted,
                               .summary = o->summary,
                               .kernels = r->machine_code};
    wl_status status = machine_each(path, &request, &r->machine, err);
    r->shown += o->dumps_sass || o->dumps_lifted ? r->machine.kernels - before : 0;
    return status;
}

/* Where there is no PTX, the machine code is analysed. */
static wl_status analyse_any(ptx_run *r, const char *path, wl_error *err)
{
    if (r->options->dumps_sass || r->options->dumps_lifted)
        return list_machine_code(r, path, err);
    wl_status status = ptx_each(path, analyse_text, r, err);
    if (status != WL_NOENT || r->options->rewrite)
        return status;
    wl_error why = {0};
    wl_status listed = list_machine_code(r, path, &why);
    if (listed == WL_NOENT)
        return status;
    *err = why;
    return listed;
}

static bool analyse_file(ptx_run *r, const char *path)
{
    wl_error err = {0};
    r->file = path;
    r->kernels = r->options->json ? json_array() : NULL;
    r->machine_code = r->files ? json_array() : NULL;
    wl_status status = analyse_any(r, path, &err);
    r->totals.files++;
    if (status != WL_OK) {
        r->totals.unread++;
        wl_log(WL_LOG_ERROR, "%s", err.text);
    }
    if (r->files)
        json_array_append_new(r->files, json_pack("{s:s, s:o, s:o}", "file", path, "kernels",
                                                  r->kernels, "machine_code", r->machine_code));
    else
        json_decref(r->kernels);
    return status == WL_OK;
}

static void print_code_totals(const ptx_run *r)
{
    if (r->machine.kernels)
        machine_print_totals(&r->machine);
    if (r->totals.kernels || !r->machine.kernels)
        ptx_print_totals(&r->totals, stdout);
}

static int finish_ptx_run(ptx_run *r, bool failed)
{
    if (r->options->json) {
        json_t *all = json_object();
        json_object_set_new(all, "schema", json_string("warplens-ptx/1"));
        if (r->files)
            json_object_set_new(all, "files", r->files);
        json_object_set_new(all, "totals", ptx_totals_json(&r->totals));
        json_object_set_new(all, "machine_totals", machine_totals_json(&r->machine));
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(all);
    } else if (!r->options->dump && !r->options->rewrite)
        print_code_totals(r);
    wl_vec_free(&r->totals.seen);
    wl_error err = {0};
    int status = cli_finish(stdout, "the output", WL_OK, &err);
    return failed ? CLI_FAILED : status != CLI_OK ? status : r->shown ? CLI_OK : CLI_NOT_MEASURED;
}

static int analyse_all(const char **paths, const ptx_options *options)
{
    ptx_run r = {.options = options,
                 .files = options->json && !options->summary ? json_array() : NULL};
    bool failed = false;
    for (; *paths; paths++)
        failed |= !analyse_file(&r, *paths);
    return finish_ptx_run(&r, failed);
}

static int check_ptx_options(ptx_options *o, const char **paths)
{
    if (!paths || !*paths)
        return cli_usage_error(o->name, "no file was given");
    if (o->format && strcmp(o->format, "text") != 0 && strcmp(o->format, "json") != 0)
        return cli_usage_error(o->name, "--format is text or json, not '%s'", o->format);
    wl_error why = {0};
    if (o->kernel && prog_pattern_check(o->kernel, &why) != WL_OK)
        return cli_usage_error(o->name, "-k %s: %s", o->kernel, why.text);
    o->json = o->format && strcmp(o->format, "json") == 0;
    o->dumps_plan = o->dump && rewrite_has_pass(o->dump);
    o->dumps_lifted = o->dump && strcmp(o->dump, "lifted") == 0;
    o->dumps_sass = o->dump && strcmp(o->dump, "sass") == 0;
    if (o->dump && !o->dumps_plan && !o->dumps_sass && !o->dumps_lifted &&
        !flow_pass_find(o->dump, &o->pass))
        return cli_usage_error(o->name, "--dump: there is no pass '%s'", o->dump);
    if (o->dump && o->json)
        return cli_usage_error(o->name, "--dump is text only");
    if (o->rewrite && !rewrite_probes_parse(o->rewrite, &o->probes))
        return cli_usage_error(o->name,
                               "--rewrite takes names of probes, separated by commas, not '%s'",
                               o->rewrite);
    if (o->rewrite && (o->json || (o->dump && !o->dumps_plan) || o->summary))
        return cli_usage_error(o->name, "--rewrite prints PTX and nothing else");
    if ((o->everything || o->alone) && !o->rewrite)
        return cli_usage_error(o->name,
                               "--everything and --alone have no effect without --rewrite");
    if (o->summary && o->dump)
        return cli_usage_error(o->name, "--summary has no effect with --dump");
    return CLI_OK;
}

int cmd_code(int argc, const char **argv)
{
    ptx_options o = {.name = argv[0]};
    const struct poptOption options[] = {
        {"format", '\0', POPT_ARG_STRING, &o.format, 0, "text (default) or json", "FORMAT"},
        {"summary", 's', POPT_ARG_NONE, &o.summary, 0, "Only the totals over all files", NULL},
        CLI_KERNEL_NAME(o.kernel),
        {"dump", '\0', POPT_ARG_STRING, &o.dump, 0,
         "Print what a pass of the analysis found, or one that plans probes", "PASS"},
        {"rewrite", '\0', POPT_ARG_STRING, &o.rewrite, 0,
         "Print the PTX with these probes in its kernels: all, or some of objects, trace, touch, "
         "frequency, shared, "
         "blocks, separated by commas",
         "PROBES"},
        {"everything", '\0', POPT_ARG_NONE, &o.everything, 0,
         "With --rewrite: probe accesses that do not depend on data, too", NULL},
        {"alone", '\0', POPT_ARG_NONE, &o.alone, 0,
         "With --rewrite: each kernel in a module of its own, as it is loaded on a GPU", NULL},
        CLI_COMMON};
    int status;
    const cli_syntax syntax = {.options = options, .usage = "[options] FILE..."};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char **paths = context ? poptGetArgs(context) : NULL;
    if (context)
        status = check_ptx_options(&o, paths);
    if (context && status == CLI_OK)
        status = analyse_all(paths, &o);
    poptFreeContext(context);
    free(o.format), free(o.kernel), free(o.dump), free(o.rewrite);
    return status;
}
