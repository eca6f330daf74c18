/* The end of `warplens stats`: what was observed, and what was not. */
#include "base/log.h"
#include "report/terminal.h"

#include <string.h>

/* Lines that are named of a kernel; kernels with gaps that have a line of their own, and kernels that are named for
 * one reason; columns of a kernel's name. */
enum { MOST_LINES = 8, MOST_FACTS = 8, MOST_NAMES = 3, BRIEF = 48 };

static void fact(const rep_terminal *t, bool good, const char *words)
{
    fprintf(t->out, "  %s%s%s ", good ? t->s.good : t->s.warn, good ? "+" : "!", t->s.off);
    rep_wrap(t, 4, words ? words : "");
}

static void tell_part(const rep_terminal *t, uint64_t n, uint64_t of, const char *what)
{
    fact(t, n == of,
         wl_arena_printf(t->arena, "%s of %s %s", rep_count(t->arena, n), rep_count(t->arena, of),
                         what));
}

/* ---- what was not observed ---- */

static const char *brief(const rep_terminal *t, const char *kernel)
{
    return t->o->full_names ? kernel : rep_brief_name(t->arena, kernel ? kernel : "unknown", BRIEF);
}

/* Instructions of one kernel that were not observed for one reason, in a line; false where that was
 * said before. */
static bool gap(const rep_terminal *t, uint32_t from)
{
    const prof_gap *rows = t->d->gaps.rows, *first = &rows[from];
    uint32_t count = t->d->gaps.count, n = 0;
    const char *lines = "";
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kernel != first->kernel || strcmp(rows[i].reason, first->reason) != 0)
            continue;
        if (i < from)
            return false;
        const prof_code *code = prof_find_code(&t->d->code, first->kernel, rows[i].pc);
        if (code && code->line && n < MOST_LINES && lines)
            lines = wl_arena_printf(t->arena, "%s%s%u", lines, *lines ? ", " : ", line ",
                                    code->line);
        n++;
    }
    fact(t, false,
         wl_arena_printf(t->arena, "%s of %s not observed%s%s: %s",
                         rep_plural(t->arena, n, "memory instruction", "memory instructions"),
                         brief(t, rep_kernel_name(t->d, first->kernel)), lines ? lines : "",
                         n > MOST_LINES ? ", ..." : "",
                         rep_readable(t->arena, first->reason, BRIEF)));
    return true;
}

static void gaps(const rep_terminal *t)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < t->d->gaps.count; i++) {
        if (told == MOST_FACTS && !t->o->all) {
            fact(t, false,
                 "memory instructions of more kernels were not observed: --all names them");
            return;
        }
        told += gap(t, i);
    }
}

/* Launches that were not observed for one reason, in a line, with the kernels' names. */
static void tell_skip(const rep_terminal *t, uint32_t from)
{
    const prof_skip *rows = t->d->skips.rows, *first = &rows[from];
    uint32_t most = t->o->all ? UINT32_MAX : MOST_NAMES, kernels = 0;
    uint64_t launches = 0;
    const char *names = "";
    for (uint32_t i = 0; i < t->d->skips.count; i++) {
        if (strcmp(rows[i].reason, first->reason) != 0)
            continue;
        if (i < from)
            return; /* said before */
        if (names && kernels < most)
            names = wl_arena_printf(t->arena, "%s%s%s", names, kernels ? ", " : "",
                                    brief(t, rows[i].kernel));
        launches += rows[i].count;
        kernels++;
    }
    const char *of = names;
    if (kernels > most)
        of = wl_arena_printf(t->arena, "%u kernels (%s and %u more)", kernels, names,
                             kernels - most);
    fact(t, false,
         wl_arena_printf(t->arena, "%s of %s not observed: %s",
                         rep_plural(t->arena, launches, "launch", "launches"), of ? of : "",
                         rep_readable(t->arena, first->reason, BRIEF)));
}

static void tell_failed(const rep_terminal *t)
{
    uint64_t n = t->d->coverage.launches_failed;
    if (n)
        fact(t, false,
             wl_arena_printf(t->arena, "%s failed: see the first lines",
                             rep_plural(t->arena, n, "launch", "launches")));
}

static void unsupported(const rep_terminal *t)
{
    const char *names = "";
    for (uint32_t i = 0; names && i < t->d->unsupported.count; i++)
        names = wl_arena_printf(t->arena, "%s%s%s", names, i > 0 ? ", " : "",
                                t->d->unsupported.rows[i].api);
    if (names && *names)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "CUDA functions that the program called, and that warplens does not "
                             "support: %s",
                             names));
}

static void left_out(const rep_terminal *t)
{
    const rep_data *d = t->d;
    if (d->coverage.launches_estimated)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s estimated, from some of the blocks or from a similar launch",
                             rep_plural(t->arena, d->coverage.launches_estimated, "launch is",
                                        "launches are")));
    gaps(t);
    for (uint32_t i = 0; i < d->skips.count; i++)
        tell_skip(t, i);
    unsupported(t);
    for (uint32_t i = 0; i < d->messages.count; i++)
        fact(t, d->messages.rows[i].level > WL_LOG_WARN,
             t->o->full_names ? d->messages.rows[i].text
                              : rep_readable(t->arena, d->messages.rows[i].text, BRIEF));
}

static void without_lines(const rep_terminal *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->d->kernels.count; i++)
        n += t->d->kernels.rows[i].file == 0;
    if (n)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s without line information: compile with nvcc -lineinfo to see "
                             "source lines",
                             rep_plural(t->arena, n, "kernel", "kernels")));
}

static void unread_sources(const rep_terminal *t)
{
    enum { MOST = 5 };
    const char *names = "";
    uint64_t n = 0;
    for (uint32_t i = 0; names && i < t->d->files.count; i++) {
        const prof_file *f = &t->d->files.rows[i];
        if (f->has_text || f->system || ++n > MOST)
            continue;
        names = wl_arena_printf(t->arena, "%s%s%s (%s)", names, n > 1 ? ", " : "", f->name,
                                f->missing);
    }
    if (n)
        fact(t, false,
             wl_arena_printf(t->arena, "%s could not be read: %s%s",
                             rep_plural(t->arena, n, "source file", "source files"),
                             names ? names : "", n > MOST ? ", ..." : ""));
}

/* Blocks that are unlike the others, and have no heat map. */
static void unmapped(const rep_terminal *t)
{
    const prof_sample *first = NULL;
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->d->samples.count; i++) {
        const prof_sample *p = &t->d->samples.rows[i];
        n += p->s.mapped ? 0 : p->count;
        first = first || p->s.mapped ? first : p;
    }
    if (!first)
        return;
    const prof_kernel *k = prof_find_kernel(&t->d->kernels, first->kernel);
    const uint32_t *at = first->s.block_index;
    fact(t, false,
         wl_arena_printf(t->arena,
                         "%s no heat map, such as %u,%u,%u of launch %u (%s), %s: profile again "
                         "with --block %u,%u,%u to get it",
                         rep_plural(t->arena, n, "unusual block has", "unusual blocks have"), at[0],
                         at[1], at[2], first->launch, brief(t, k ? k->name : "unknown"),
                         rep_why(t->arena, first), at[0], at[1], at[2]));
}

static const char *maps_text(const rep_terminal *t, const prof_coverage *c)
{
    uint64_t all = c->launches_observed, mapped = c->launches_mapped;
    uint64_t each = all ? c->blocks_sampled / all : 0;
    bool even = each * all == c->blocks_sampled && all > 1;
    const char *blocks = rep_plural(t->arena, c->blocks_sampled, "block", "blocks");
    const char *of = mapped < all
                         ? wl_arena_printf(t->arena, " in %s of %s launches",
                                           rep_count(t->arena, mapped), rep_count(t->arena, all))
                     : even
                         ? wl_arena_printf(t->arena, " (%llu per launch)", (unsigned long long)each)
                         : "";
    const char *stand = c->blocks_sampled == c->blocks_run ? ""
                        : c->blocks_sampled == 1           ? ", which stands for the others"
                                                           : ", which stand for the others";
    return wl_arena_printf(t->arena, "%s with heat maps%s%s", blocks, of ? of : "", stand);
}

static void tell_dropped(const rep_terminal *t, const prof_coverage *c)
{
    if (c->records_dropped)
        fact(t, false,
             wl_arena_printf(t->arena, "%s not counted",
                             rep_plural(t->arena, c->records_dropped, "access", "accesses")));
    if (c->sectors_dropped)
        fact(t, false,
             wl_arena_printf(t->arena, "%s missing in heat maps, which were full",
                             rep_plural(t->arena, c->sectors_dropped, "sector", "sectors")));
    if (!c->records_dropped && !c->sectors_dropped)
        fact(t, true, "no accesses lost");
}

static void tell_thresholds(const rep_terminal *t)
{
    const char *set = rep_thresholds_set(t->d, t->arena);
    if (set)
        fact(t, false,
             wl_arena_printf(t->arena, "findings are by other thresholds than usual: %s", set));
}

void rep_coverage(const rep_terminal *t)
{
    const prof_coverage *c = &t->d->coverage;
    rep_title(t, "Coverage", NULL);
    tell_part(t, c->launches_observed, c->launches_seen, "launches observed");
    tell_failed(t);
    tell_part(t, c->kernels_observed, c->kernels_seen, "kernels observed");
    if (c->blocks_run)
        tell_part(t, c->blocks_observed, c->blocks_run, "blocks counted");
    if (c->blocks_sampled)
        fact(t, true, maps_text(t, c));
    tell_dropped(t, c);
    if (c->objects_dropped)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s by kernels are not objects of their own: there were too many",
                             rep_plural(t->arena, c->objects_dropped, "allocation",
                                        "allocations")));
    if (c->objects_without_site)
        fact(t, false,
             wl_arena_printf(
                 t->arena,
                 "%s without a source line: compile with nvcc -g to see where they are allocated",
                 rep_plural(t->arena, c->objects_without_site, "object", "objects")));
    tell_thresholds(t);
    unmapped(t);
    without_lines(t);
    unread_sources(t);
    left_out(t);
}
