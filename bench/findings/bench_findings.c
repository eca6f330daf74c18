/* How good the findings are: hundreds of generated kernels are run by the emulator, and what
 * warplens finds in them is compared with what a naive reference says from their raw accesses
 * (tests/analysis/reference.c, all blocks).
 *
 *   ninja bench_findings
 *   bin/bench_findings [-n kernels of each family] [-s seed] [-k seed] [-c] [-t] [-a percent]
 *
 * Precision and recall are over pairs of object and pattern; misses are listed. -c prints CSV, -k
 * one kernel and its PTX, -t lets the profile know which elements all blocks touch. Exit status 1
 * where precision or recall over all is below -a (99). */
#include "../../tests/analysis/reference.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct score {
    uint32_t right, false_alarms, misses;
} score;

typedef struct scores {
    score of[ANA_PATTERN_COUNT];
    uint32_t kernels, objects;
} scores;

/* Does an instruction pay that accesses the object? Arrays of one pool are told apart by that. */
static bool pays_for(const run *r, const ana_finding *f, uint32_t object)
{
    for (uint32_t i = 0; i < f->nlines; i++)
        for (size_t k = 0; k < r->accesses.log.count; k++)
            if (r->accesses.log.data[k].pc == f->lines[i].pc &&
                r->accesses.log.data[k].object == object + 1)
                return true;
    return false;
}

static bool finds(const run *r, uint32_t object, int pattern)
{
    const kernel_object *o = &r->kernel->objects[object];
    for (uint32_t i = 0; i < r->found.count; i++) {
        const ana_finding *f = &r->found.rows[i];
        if (f->object == o->pool && (int)f->pattern == pattern && pays_for(r, f, object))
            return true;
    }
    return false;
}

static void tell(const run *r, uint32_t object, int pattern, const char *what,
                 const reference *truth)
{
    fprintf(stderr,
            "kernel %u, %u blocks of %u x %u, object %u (%s): %s %s, costs %.0f by the reference\n",
            r->kernel->seed, r->kernel->blocks, r->kernel->block[0], r->kernel->block[1], object,
            r->kernel->objects[object].family, ana_pattern_get((ana_pattern)pattern)->name, what,
            truth->excess[pattern]);
}

/* What the reference says of each object, and of those of one allocation together, by the first. */
typedef struct truths {
    reference of[MAX_OBJECTS], pool[MAX_OBJECTS];
} truths;

static void find_truths(const run *r, truths *out)
{
    double sectors = reference_sectors(&r->accesses), passes = reference_passes(&r->accesses);
    *out = (truths){0};
    for (uint32_t i = 0; i < r->kernel->nobjects; i++) {
        const kernel_object *o = &r->kernel->objects[i];
        if (o->shared)
            reference_shared(&r->accesses, i + 1, passes, &out->of[i]);
        else
            reference_object(&r->accesses, i + 1, sectors, &out->of[i]);
        reference_join(&out->pool[o->pool], &out->of[i], o->shared ? passes : sectors);
    }
}

typedef enum verdict { ABSENT, PRESENT, TOO_LITTLE } verdict;

/* A pattern is told of an allocation, with the lines of all its arrays that pay for it. So what an
 * array pays need not be much by itself; below what is ever worth telling it is not judged. */
static verdict expected(const truths *t, uint32_t object, uint32_t pool, int pattern)
{
    const reference *own = &t->of[object];
    double least = ana_thresholds_default().min_excess;
    if (own->told[pattern])
        return PRESENT;
    if (!t->pool[pool].told[pattern] || own->excess[pattern] <= 0)
        return ABSENT;
    return own->excess[pattern] >= least ? PRESENT : TOO_LITTLE;
}

static void compare_object(const run *r, const truths *t, uint32_t i, scores *all)
{
    all->objects++;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        verdict truth = expected(t, i, r->kernel->objects[i].pool, p);
        bool found = finds(r, i, p);
        all->of[p].right += found && truth == PRESENT;
        all->of[p].false_alarms += found && truth == ABSENT;
        all->of[p].misses += !found && truth == PRESENT;
        if (truth == (found ? ABSENT : PRESENT))
            tell(r, i, p, found ? "is found, but not there" : "is missed", &t->of[i]);
    }
}

static void compare(const run *r, scores *all)
{
    truths t;
    find_truths(r, &t);
    all->kernels++;
    for (uint32_t i = 0; i < r->kernel->nobjects; i++)
        compare_object(r, &t, i, all);
}

static double part(uint32_t right, uint32_t wrong)
{
    return right + wrong ? 100.0 * right / (right + wrong) : 100;
}

static void print_row(const char *name, const score *s, bool csv)
{
    printf(csv ? "%s,%u,%u,%u,%.2f,%.2f\n" : "%-22s %8u %13u %8u %10.2f %8.2f\n", name, s->right,
           s->false_alarms, s->misses, part(s->right, s->false_alarms), part(s->right, s->misses));
}

static score print(const scores *all, bool csv)
{
    score sum = {0};
    if (csv)
        puts("pattern,right,false_alarms,misses,precision,recall");
    else
        printf("%u kernels, %u objects\n%-22s %8s %13s %8s %10s %8s\n", all->kernels, all->objects,
               "pattern", "right", "false alarms", "misses", "precision", "recall");
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        print_row(ana_pattern_get((ana_pattern)p)->name, &all->of[p], csv);
        sum.right += all->of[p].right;
        sum.false_alarms += all->of[p].false_alarms;
        sum.misses += all->of[p].misses;
    }
    print_row("all", &sum, csv);
    return sum;
}

int main(int argc, char **argv)
{
    uint32_t each = 40, seed = 1, one = 0;
    double least = 99;
    bool csv = false, elements = false;
    char scratch[64];
    scores all = {0};
    for (int c; (c = getopt(argc, argv, "n:s:k:a:ct")) != -1;) {
        switch (c) {
        case 'n': each = (uint32_t)atoi(optarg); break;
        case 's': seed = (uint32_t)atoi(optarg); break;
        case 'k': one = (uint32_t)atoi(optarg); break;
        case 'a': least = atof(optarg); break;
        case 'c': csv = true; break;
        case 't': elements = true; break;
        default: return 2;
        }
    }
    snprintf(scratch, sizeof scratch, "findings-%d.wlprof", (int)getpid());
    for (uint32_t i = 0; i < each * kernel_families(); i++) {
        kernel k;
        run r;
        if (one && one != seed * 100000 + i)
            continue;
        kernel_draw(seed * 100000 + i, i % kernel_families(), &k);
        if (one)
            puts(kernel_ptx(&k));
        run_kernel(&k, elements, scratch, &r);
        compare(&r, &all);
        run_clear(&r);
    }
    score sum = print(&all, csv);
    return part(sum.right, sum.false_alarms) < least || part(sum.right, sum.misses) < least;
}
