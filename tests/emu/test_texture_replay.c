/* Compares texture results with a GPU's.
 *
 *   test_texture_replay results recording.zst
 *
 * Both are as texture_record writes them, the second one compressed. Results must be equal to the bit, except that filtered
 * fetches and gradients may differ by TOLERANCE of the largest texel (weights have 8 bits, and the hardware's sums are not
 * documented), and levels between two may as well. */
#include "texture_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const double tolerance = 1.0 / 128; /* two steps of a weight */

typedef struct recording {
    char *data;
    size_t size, at;
} recording;

static char *whole_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, f) != *size)
        exit(1);
    data[*size] = '\0';
    fclose(f);
    return data;
}

static recording opened(const char *path, bool packed)
{
    recording r;
    r.data = whole_file(path, &r.size);
    if (packed) {
        unsigned long long size = ZSTD_getFrameContentSize(r.data, r.size);
        char *data = size < 1u << 30 ? malloc(size + 1) : NULL;
        size_t got = data ? ZSTD_decompress(data, size, r.data, r.size) : 0;
        if (!data || ZSTD_isError(got))
            exit(1);
        data[got] = '\0';
        free(r.data);
        r.data = data;
        r.size = got;
    }
    char *body = strstr(r.data, "\n\n");
    r.at = body ? (size_t)(body + 2 - r.data) : r.size;
    printf("%.*s", (int)r.at, r.data);
    return r;
}

/* The case's results; NULL where it was refused. Ends the test where the file holds another case. */
static const char *results(recording *r, const char *text)
{
    size_t length = strlen(text), bytes = (size_t)TEXTURE_LANES * TEXTURE_RESULTS * 4;
    const char *at = r->data + r->at;
    if (r->size - r->at < length || memcmp(at, text, length) != 0) {
        printf("%s: not in the recording at this place\n", text);
        exit(1);
    }
    const char *end = memchr(at, '\n', r->size - r->at);
    bool refused = at[length] == ' ';
    r->at += (size_t)(end + 1 - at) + (refused ? 0 : bytes);
    return refused ? NULL : end + 1;
}

static double largest(const texture_case *c)
{
    switch (c->format) {
    case 16: return 16;
    case 32: return c->fraction ? 4 : c->linear ? 1024 : 1 << 28;
    default: return 1;
    }
}

static bool approximate(const texture_case *c)
{
    return c->result != 's' && c->result != 'u' &&
           ((c->linear && c->op != TO_GATHER) || c->mip_linear || c->op == TO_GRAD);
}

static double half_of(uint32_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static bool close_to(const texture_case *c, uint32_t got, uint32_t want)
{
    if (!approximate(c))
        return got == want;
    double most = tolerance * largest(c);
    if (c->result == 'h')
        return fabs(half_of(got & 0xffff) - half_of(want & 0xffff)) <= most &&
               fabs(half_of(got >> 16) - half_of(want >> 16)) <= most;
    float a, b;
    memcpy(&a, &got, 4);
    memcpy(&b, &want, 4);
    return fabs((double)a - (double)b) <= most;
}

static unsigned compare(const texture_case *c, const char *got, const char *want)
{
    unsigned wrong = 0, lane = 0;
    for (unsigned k = 0; k < TEXTURE_LANES * TEXTURE_RESULTS; k++) {
        uint32_t a, b;
        memcpy(&a, got + 4 * k, 4);
        memcpy(&b, want + 4 * k, 4);
        if (!close_to(c, a, b) && !wrong++)
            lane = k;
    }
    if (!wrong)
        return 0;
    char text[512];
    uint32_t inputs[TEXTURE_LANES * TEXTURE_INPUTS], a, b;
    float at[TEXTURE_INPUTS];
    texture_case_text(c, text, sizeof text);
    texture_case_inputs(c, inputs);
    memcpy(at, inputs + lane / TEXTURE_RESULTS * TEXTURE_INPUTS, sizeof at);
    memcpy(&a, got + 4 * lane, 4);
    memcpy(&b, want + 4 * lane, 4);
    printf("%s: %u differ; first at %.9g %.9g %.9g level %g: %08x instead of %08x\n", text, wrong,
           (double)at[0], (double)at[1], (double)at[2], (double)at[4], a, b);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    recording got = opened(argv[1], false), want = opened(argv[2], true);
    texture_case c;
    unsigned cases = 0, bad = 0, refused = 0;
    char text[512];
    for (; texture_case_get(cases, &c); cases++) {
        texture_case_text(&c, text, sizeof text);
        const char *a = results(&got, text), *b = results(&want, text);
        refused += !b;
        if (b && !a)
            printf("%s: refused\n", text);
        bad += b && (!a || compare(&c, a, b));
    }
    printf("%u cases, %u differ, %u refused by the GPU\n", cases, bad, refused);
    free(got.data);
    free(want.data);
    return bad != 0;
}
