/* Compares texture results with a GPU's.
 *
 *   test_texture_replay results recording.zst
 *
 * Both are as texture_record writes them, the second one compressed. Results must be equal to the
 * bit, but for gradients: the length of a footprint is known to 2/256 of a level, and a result that
 * two levels make may differ by as much of the texels' difference. Of a cube map, gradients that
 * lead to another face are not compared: how the texture unit takes the difference between faces is
 * not known. */
#include "support/file.h"
#include "texture_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

typedef struct recording {
    char *data;
    size_t size, at;
} recording;

static char *whole_file(const char *path, size_t *size)
{
    char *data = file_read(path, size);
    if (data)
        return data;
    perror(path);
    exit(1);
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

/* The case's results; NULL where it was refused. Ends the test where the file holds another case.
 */
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

/* How far texels of neighbouring levels are apart at most. */
static double apart(const texture_case *c)
{
    return c->linear ? 1023 : 4 * 64 * 64 * 1024 + 4 * 64 * 1024 * 8;
}

static bool close_to(const texture_case *c, uint32_t got, uint32_t want)
{
    float a, b;
    memcpy(&a, &got, 4);
    memcpy(&b, &want, 4);
    return got == want ||
           (c->op == TO_GRAD && c->mip_linear && fabs((double)a - (double)b) <= apart(c) * 2 / 256);
}

static int face(const float v[3], const float step[3])
{
    float at[3] = {v[0] + step[0], v[1] + step[1], v[2] + step[2]};
    int axis = fabsf(at[2]) >= fabsf(at[0]) && fabsf(at[2]) >= fabsf(at[1]) ? 2
               : fabsf(at[1]) >= fabsf(at[0])                               ? 1
                                                                            : 0;
    return 2 * axis + (at[axis] < 0);
}

static bool compared(const texture_case *c, const uint32_t *inputs)
{
    static const float still[3] = {0};
    float at[TEXTURE_INPUTS];
    memcpy(at, inputs, sizeof at);
    return c->op != TO_GRAD || c->geometry != TG_CUBE ||
           (face(at, still) == face(at, at + 5) && face(at, still) == face(at, at + 8));
}

static unsigned compare(const texture_case *c, const char *got, const char *want)
{
    unsigned wrong = 0, lane = 0;
    uint32_t inputs[TEXTURE_LANES * TEXTURE_INPUTS], a, b;
    texture_case_inputs(c, inputs);
    for (unsigned k = 0; k < TEXTURE_LANES * TEXTURE_RESULTS; k++) {
        memcpy(&a, got + 4 * k, 4);
        memcpy(&b, want + 4 * k, 4);
        if (!close_to(c, a, b) && compared(c, inputs + k / TEXTURE_RESULTS * TEXTURE_INPUTS) &&
            !wrong++)
            lane = k;
    }
    if (!wrong)
        return 0;
    char text[512];
    float at[TEXTURE_INPUTS];
    texture_case_text(c, text, sizeof text);
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
