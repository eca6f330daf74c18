#include "small.h"

#include <string.h>

void small_begin_knowing(small *c, const char *ptx, const char *probes, bool everything,
                         uint32_t words, uint32_t known)
{
    uint32_t set;
    memset(c, 0, sizeof *c);
    assert_true(rewrite_probes_parse(probes, &set));
    probed_begin(&c->p, ptx, set, everything);
    c->k = &c->p.result.kernels[0];
    uint32_t *data = fixture_alloc(&c->p.f, 4 * (uint64_t)words);
    for (int i = 0; i < (int)words; i++)
        data[i] = i == 4 || i == 9 ? 2 : 7;
    c->s = (shape){.grid = {2, 1, 1},
                   .block = {32, 1, 1},
                   .nargs = c->k->func->nparams,
                   .args = {P(data), 40},
                   .data = data,
                   .bytes = 4 * (uint64_t)words};
    c->object = (rewrite_object){P(data), 4 * (uint64_t)known};
    rewrite_setup setup = {.rows = 16, .nobjects = 1, .objects = &c->object, .shared_bytes = 1024};
    const uint64_t block = 1;
    shoot_probed(&c->p, c->k->func->name, &c->s, false, &setup, &block, 1, &c->shot, &c->left);
}

void small_begin_with(small *c, const char *ptx, const char *probes, bool everything,
                      uint32_t words)
{
    small_begin_knowing(c, ptx, probes, everything, words, words);
}

void small_begin(small *c, const char *ptx, const char *probes, bool everything)
{
    small_begin_with(c, ptx, probes, everything, WORDS);
}

void small_end(small *c)
{
    shot_end(&c->shot);
    left_end(&c->left);
    probed_end(&c->p);
}
