/* `warplens ptx` for people. */
#include "cli/ptx.h"
#include "ir/front.h"

#include <string.h>

static void print_verdict(const ptx_subject *s, const flow_verdict *v, FILE *out)
{
    char place[160], op[160];
    switch (v->through) {
    case FLOW_THROUGH_BRANCH:
        fprintf(out, "does not follow: whether it runs is decided at %s by ",
                v->branch == IR_NONE ? "the call" : ptx_place(s, v->branch, place, sizeof place));
        break;
    case FLOW_THROUGH_GUARD: fprintf(out, "does not follow: its predicate depends on "); break;
    default: fprintf(out, "does not follow: its address depends on ");
    }
    fprintf(out, "%s", flow_reason_text(v->reason));
    if (v->source != IR_NONE)
        fprintf(out, ", from %s (%s)", ptx_place(s, v->source, place, sizeof place),
                ptx_op(s, v->source, op, sizeof op));
    fputc('\n', out);
}

static void print_access_verdict(const ptx_subject *s, uint32_t pc, FILE *out)
{
    char place[160], op[160];
    const flow_verdict *v = &s->proof->verdicts[pc];
    fprintf(out, "  %-*s %-*s ", s->lifted ? 8 : 24, ptx_place(s, pc, place, sizeof place),
            s->lifted ? 40 : 24, ptx_op(s, pc, op, sizeof op));
    if (v->reason == FLOW_CLEAN)
        fprintf(out, "follows from the launch\n");
    else
        print_verdict(s, v, out);
    ptx_print_uses(s, pc, out);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void ptx_print_kernel(const ptx_subject *s, FILE *out)
{
    const flow_proof *p = s->proof;
    uint32_t all = ptx_count_insns(s, 0);
    fprintf(out, "%s%s%s", s->lifted ? "  " : s->name, s->lifted ? "" : ": ",
            flow_class_name(p->class_));
    if (p->memory)
        fprintf(out,
                ", %u of %u memory instruction%s from the launch alone, by %u of %u instruction%s",
                p->proven, p->memory, plural(p->memory), ptx_count_insns(s, FLOW_PC_SLICE), all,
                plural(all));
    fputc('\n', out);
    for (uint32_t pc = 0; pc < p->npcs; pc++)
        if (p->flags[pc] & FLOW_PC_MEMORY)
            print_access_verdict(s, pc, out);
    ptx_print_loops(s, out);
    ptx_print_arrays(s, out);
    fputc('\n', out);
}

/* ---- totals ---- */

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_class(const ptx_totals *t, const char *name, uint64_t count, FILE *out)
{
    fprintf(out, "  %-46s %7llu %6.1f %%\n", name, (unsigned long long)count,
            percent_of(count, t->kernels));
}

static void print_causes(const ptx_totals *t, FILE *out)
{
    uint64_t unproven = t->accesses - t->proven;
    bool done[FLOW_REASON_COUNT][4] = {{false}};
    if (!unproven)
        return;
    fprintf(out, "\n%-52s %9s %8s %8s\n", "why not", "accesses", "share", "kernels");
    for (;;) {
        int reason = 0, through = 0;
        for (int r = 1; r < FLOW_REASON_COUNT; r++)
            for (int w = 1; w < 4; w++)
                if (!done[r][w] && t->causes[r][w].accesses &&
                    (!reason || t->causes[r][w].accesses > t->causes[reason][through].accesses))
                    reason = r, through = w;
        if (!reason)
            return;
        done[reason][through] = true;
        ptx_cause cause = t->causes[reason][through];
        fprintf(out, "  %-8s %-41s %9llu %6.1f %% %8llu\n",
                flow_through_name((flow_through)through), flow_reason_text((flow_reason)reason),
                (unsigned long long)cause.accesses, percent_of(cause.accesses, unproven),
                (unsigned long long)cause.kernels);
    }
}

void ptx_print_totals(const ptx_totals *t, FILE *out)
{
    fprintf(out, "%llu kernel%s in %llu file%s", (unsigned long long)t->kernels, plural(t->kernels),
            (unsigned long long)t->files, plural(t->files));
    if (t->duplicates)
        fprintf(out, ", %llu more with the same code", (unsigned long long)t->duplicates);
    if (t->unread)
        fprintf(out, "; %llu file%s could not be read", (unsigned long long)t->unread,
                plural(t->unread));
    fprintf(out, "\n");
    print_class(t, "all accesses follow from the launch", t->classes[FLOW_INDEPENDENT], out);
    print_class(t, "half or more do", t->mostly, out);
    print_class(t, "less than half do", t->classes[FLOW_PARTLY] - t->mostly, out);
    print_class(t, "none does", t->classes[FLOW_DEPENDENT], out);
    print_class(t, "no memory instructions", t->classes[FLOW_NO_MEMORY], out);
    fprintf(out, "%llu of %llu memory instructions follow from the launch (%.1f %%)\n",
            (unsigned long long)t->proven, (unsigned long long)t->accesses,
            percent_of(t->proven, t->accesses));
    print_causes(t, out);
}
