/* Random requests and what each row of archs.def makes of them, as lines of JSON for the test that
 * compares the viewer's: write_transactions COUNT. Bits of lanes and banks are numbers, bytes taken
 * a string of 0 and 1. */
#include "../observe/patterns.h"
#include "analysis/explore/transactions.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const ops[] = {
#define X(id, text) text,
#include "access/ops.def"
#undef X
};

static const char *const spaces[] = {
#define X(id, text) text,
#include "access/spaces.def"
#undef X
};

static void put_request(const acc_request *r)
{
    printf("{\"op\":\"%s\",\"space\":\"%s\",\"bytes\":%" PRIu32 ",\"mask\":%" PRIu32
           ",\"matrix\":%s,\"meeting\":%s,\"addresses\":[",
           ops[r->op], spaces[r->space], r->bytes, r->mask,
           r->flags & ACC_MATRIX ? "true" : "false", r->flags & ACC_BARRIER ? "true" : "false");
    for (int lane = 0; lane < ACC_LANES; lane++)
        printf("%s%" PRIu64, lane ? "," : "", r->addr[lane]);
    printf("],\"archs\":{");
}

static void put_transaction(const ana_transaction *t)
{
    printf("{\"address\":%" PRIu64 ",\"size\":%" PRIu32 ",\"lanes\":%" PRIu32 ",\"used\":%" PRIu32
           ",\"turns\":%" PRIu32 ",\"taken\":\"",
           t->address, t->size, t->lanes, t->used, t->turns);
    for (uint32_t i = 0; i < t->size; i++)
        putchar(t->taken[i / 64] >> i % 64 & 1 ? '1' : '0');
    printf("\"}");
}

static void put_numbers(const uint32_t *banks)
{
    for (int i = 0; i < ANA_MOST_BANKS; i++)
        printf("%s%" PRIu32, i ? "," : "", banks[i]);
}

static void put_pass(const ana_pass *p)
{
    printf("{\"lanes\":%" PRIu32 ",\"group\":%" PRIu32 ",\"banks\":[", p->lanes, p->group);
    put_numbers(p->banks);
    printf("],\"units\":[");
    for (int i = 0; i < ANA_MOST_BANKS; i++)
        printf("%s%" PRIu64, i ? "," : "", p->units[i]);
    printf("]}");
}

static void put_served(const ana_arch *arch, const ana_served *served)
{
    printf("\"%s\":{\"transactions\":[", arch->id);
    for (size_t i = 0; i < served->transactions.count; i++) {
        if (i)
            putchar(',');
        put_transaction(&served->transactions.data[i]);
    }
    printf("],\"passes\":[");
    for (size_t i = 0; i < served->passes.count; i++) {
        if (i)
            putchar(',');
        put_pass(&served->passes.data[i]);
    }
    printf("],\"fewestPasses\":%" PRIu32 ",\"moved\":%" PRIu64 ",\"used\":%" PRIu64 "}",
           served->passes_min, served->moved, served->used);
}

static uint32_t draw_flags(pattern_rng *rng, const acc_request *r)
{
    uint32_t kind = pattern_below(rng, 12);
    if (kind == 0 && r->bytes == 16)
        return ACC_MATRIX;
    return kind == 1 && r->bytes <= 16 ? ACC_BARRIER : 0;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    if (argc != 2 || sscanf(argv[1], "%u", &count) != 1) {
        fprintf(stderr, "usage: write_transactions COUNT\n");
        return 2;
    }
    pattern_rng rng = {0x2545f4914f6cdd1du};
    ana_served served = {0};
    for (unsigned n = 0; n < count; n++) {
        uint64_t addr[ACC_LANES];
        acc_request r = pattern_draw(&rng, 0, 1u << 15, true, addr);
        r.flags = r.space == ACC_SHARED ? draw_flags(&rng, &r) : 0;
        put_request(&r);
        for (uint32_t i = 0; ana_arch_at(i); i++) {
            if (i)
                putchar(',');
            if (!ana_serve(ana_arch_at(i), &r, &served))
                return 1;
            put_served(ana_arch_at(i), &served);
        }
        printf("}}\n");
    }
    ana_served_free(&served);
    return 0;
}
