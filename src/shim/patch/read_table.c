#include "shim/patch/read_table.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COPIES = 16, MOST_BYTES = 4 << 20 };

static uint64_t rows_bytes(uint64_t slots, uint32_t copies)
{
    return slots * copies * PATCH_SPACES * sizeof(patch_row);
}

/* ---- before the launch ---- */

void patch_plan_size(patch_plan *p)
{
    p->copies = MOST_COPIES;
    while (p->copies > 1 && rows_bytes(p->slots, p->copies) > MOST_BYTES)
        p->copies /= 2;
    p->bytes = patch_rows_at(p->insns) + rows_bytes(p->slots, p->copies);
}

void *patch_table_begin(const patch_plan *p, uint64_t begin, uint64_t *bytes)
{
    *bytes = patch_rows_at(p->insns);
    patch_head *head = calloc(1, *bytes);
    if (!head)
        return NULL;
    *head = (patch_head){.begin = begin,
                         .end = begin + (uint64_t)p->insns * PATCH_INSN_BYTES,
                         .copies = p->copies,
                         .slots = p->slots};
    memcpy(head + 1, p->slot_of, p->insns * sizeof *p->slot_of);
    return head;
}

/* ---- after it ---- */

static void add_copy(patch_row *sum, const patch_row *copy)
{
    if (!copy->requests)
        return;
    sum->requests += copy->requests;
    sum->lanes += copy->lanes;
    sum->sectors += copy->sectors;
    sum->sectors_min += copy->sectors_min;
    sum->wavefronts += copy->wavefronts;
    sum->wavefronts_min += copy->wavefronts_min;
    for (int i = 0; i < PATCH_SHAPES; i++)
        sum->shapes[i] += copy->shapes[i];
    sum->bytes = copy->bytes;
    sum->flags = copy->flags;
    sum->stride = sum->stride ? sum->stride : copy->stride;
    sum->not_low = copy->not_low > sum->not_low ? copy->not_low : sum->not_low;
    sum->high = copy->high > sum->high ? copy->high : sum->high;
}

static acc_op op_of_flags(uint32_t flags)
{
    bool reads = flags & PATCH_READS, writes = flags & PATCH_WRITES;
    return reads && writes ? ACC_ATOMIC : writes ? ACC_STORE : ACC_LOAD;
}

static cap_patched_insn insn_of(const patch_row *sum, uint32_t pc, uint32_t space)
{
    static const uint8_t spaces[PATCH_SPACES] = {
        [PATCH_GLOBAL] = ACC_GLOBAL, [PATCH_SHARED] = ACC_SHARED, [PATCH_LOCAL] = ACC_LOCAL};
    uint64_t told = sum->shapes[0] + sum->shapes[1] + sum->shapes[2] + sum->shapes[3];
    obs_insn row = {.pc = pc,
                    .space = spaces[space],
                    .op = (uint8_t)op_of_flags(sum->flags),
                    .bytes = (uint16_t)sum->bytes,
                    .requests = sum->requests,
                    .active_lanes = sum->lanes,
                    .sectors = sum->sectors,
                    .sectors_min = sum->sectors_min,
                    .wavefronts = sum->wavefronts,
                    .wavefronts_min = sum->wavefronts_min,
                    .uniform = sum->shapes[0],
                    .contiguous = sum->shapes[1],
                    .misaligned = sum->shapes[2],
                    .strided = sum->shapes[3],
                    .irregular = sum->requests - told,
                    .stride = sum->stride};
    return (cap_patched_insn){row, ~sum->not_low, sum->high};
}

/* Of one slot in one space, over all copies. */
static patch_row sum_of_copies(const patch_row *rows, const patch_head *head, uint64_t slot,
                               uint32_t space)
{
    patch_row sum = {0};
    for (uint64_t copy = 0; copy < head->copies; copy++)
        add_copy(&sum, &rows[(copy * head->slots + slot) * PATCH_SPACES + space]);
    return sum;
}

/* False where the sizes do not go together. */
static bool read_table_head(const void *table, uint64_t bytes, patch_head *head, uint64_t *insns)
{
    if (bytes < sizeof *head)
        return false;
    memcpy(head, table, sizeof *head);
    *insns = (head->end - head->begin) / PATCH_INSN_BYTES;
    return head->end >= head->begin && *insns <= UINT32_MAX && head->slots < UINT16_MAX &&
           head->copies && head->copies <= MOST_COPIES &&
           patch_rows_at(*insns) + rows_bytes(head->slots, head->copies) == bytes;
}

bool patch_table_read(const void *table, uint64_t bytes, cap_patched *out)
{
    patch_head head;
    uint64_t insns;
    *out = (cap_patched){0};
    if (!read_table_head(table, bytes, &head, &insns))
        return false;
    const uint16_t *slot_of = (const uint16_t *)((const patch_head *)table + 1);
    const patch_row *rows = (const patch_row *)((const char *)table + patch_rows_at(insns));
    out->elsewhere = head.elsewhere;
    out->insns = malloc(((size_t)head.slots * PATCH_SPACES + 1) * sizeof *out->insns);
    for (uint64_t i = 0; out->insns && i < insns; i++) {
        uint32_t slot = slot_of[i] & PATCH_MOST_SLOTS;
        for (uint32_t space = 0; slot && space < PATCH_SPACES; space++) {
            patch_row sum = {0};
            if (slot <= head.slots)
                sum = sum_of_copies(rows, &head, slot - 1, space);
            if (sum.requests && out->count < head.slots * PATCH_SPACES)
                out->insns[out->count++] = insn_of(&sum, (uint32_t)i, space);
        }
    }
    return out->insns != NULL;
}
