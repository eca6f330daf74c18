/* Local memory: what each thread keeps to itself, but not in registers.
 *
 * The cost is every sector that the kernel's accesses to local memory move, since registers would
 * move none. Nothing else is charged for them: the other detectors look at global and shared
 * memory.
 *
 * What is seen is the program's PTX: arrays with an index that the compiler does not know, and
 * variables whose address is taken. What ptxas makes of it is not seen: it may find registers after
 * all, or spill some that PTX does not show. So a finding is possible rather than counted, and the
 * advice says so. */
#include "analysis/input.h"

#define BEYOND_PTX                                                                         \
    " This is what the program's PTX asks for: ptxas may still find registers for it, or " \
    "spill others, which PTX does not show. nvcc -Xptxas -v says what it did."

static const char one_element[] =
    "Registers cannot be indexed, so an array stays in them only where the compiler knows every "
    "index. "
    "The lanes of a warp take the same element at a time here: unroll the loops around these "
    "accesses completely (constant bounds, #pragma unroll), or give the elements names of their "
    "own." BEYOND_PTX;

static const char different_elements[] =
    "Registers cannot be indexed, and each lane takes an element of its own choice here. Choose "
    "among "
    "few elements by comparisons, or keep the array in shared memory with one column for each "
    "thread, where such accesses do not collide." BEYOND_PTX;

typedef struct local_counts {
    uint64_t requests, sectors;
    uint64_t apart; /* requests whose lanes take different elements */
} local_counts;

/* Charges the kernel's instructions on local memory. */
static local_counts charge_local(const ana_input *input, ana_draft *d)
{
    local_counts sum = {0};
    uint64_t most = 0;
    for (uint32_t i = 0; i < d->ninsns; i++) {
        const obs_insn *c = &d->insns[i].c;
        if (c->space != ACC_LOCAL)
            continue;
        d->insn_excess[i] = (double)c->sectors;
        sum.requests += c->requests;
        sum.sectors += c->sectors;
        sum.apart += c->strided + c->irregular;
        if (c->sectors > most) {
            most = c->sectors;
            d->example_launch = d->insns[i].launch;
        }
    }
    for (uint32_t g = 0; g < input->ngroups; g++) {
        const ana_group *group = &input->groups[g];
        bool more = group->space == ACC_LOCAL && group->launches > d->launches;
        d->launches = more ? (uint32_t)group->launches : d->launches;
    }
    return sum;
}

/* The most that a launch of the kernel gave each thread; 0 where that is not known. */
static uint32_t bytes_a_thread(const ana_input *input)
{
    const prof_launch_rows *launches = &input->program->launches;
    uint32_t most = 0;
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        most = l->kernel == input->kernel->id && l->local_bytes > most ? l->local_bytes : most;
    }
    return most;
}

static bool set_words(const ana_input *input, ana_draft *d, const local_counts *sum)
{
    uint32_t bytes = bytes_a_thread(input);
    const char *room = bytes ? wl_arena_printf(input->arena, ", %u bytes of it", bytes) : "";
    double total = input->totals[ANA_SECTORS];
    d->kind = REMEDY_UNSPILL;
    d->remedy = 2 * sum->apart > sum->requests ? different_elements : one_element;
    d->summary = room ? wl_arena_printf(input->arena,
                                        "Each thread keeps data in local memory%s, and accesses to "
                                        "it move %.0f %% of the kernel's sectors.",
                                        room, total > 0 ? 100 * d->excess / total : 0)
                      : NULL;
    if (bytes)
        ana_add_evidence(d, "local_bytes", "local memory of a thread", bytes, "bytes");
    return d->summary != NULL;
}

wl_status ana_detect_local(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    ana_draft *d = ana_draft_add(drafts, input, ANA_LOCAL_MEMORY);
    if (!d)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    local_counts sum = charge_local(input, d);
    if (!sum.sectors) {
        drafts->count--;
        return WL_OK;
    }
    d->excess = d->alone = (double)sum.sectors;
    d->certainty = ANA_CERTAINTY_POSSIBLE;
    ana_add_evidence(d, "requests", "requests", (double)sum.requests, "");
    ana_add_evidence(d, "sectors_per_request", "sectors per request",
                     (double)sum.sectors / (double)sum.requests, "sectors");
    ana_add_evidence(d, "lanes_apart", "requests whose lanes take different elements",
                     100.0 * (double)sum.apart / (double)sum.requests, "%");
    return set_words(input, d, &sum)
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}
