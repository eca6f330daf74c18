/* What launches would do with a change of their kernel, worked out by hand. */
#include <string.h>

#include "replay/session.h"
#include "support/test.h"

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"
/* %d2 becomes the address of out[i][j] in rows of 64 words: i goes with x, j with y. */
#define PLACE                                                               \
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n" \
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"                                    \
    "  mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y;\n" \
    "  mad.lo.u32 %r5, %r1, %r2, %r3; mad.lo.u32 %r5, %r4, 64, %r5;\n"      \
    "  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2;\n"
/* %r4 becomes the number of the thread; %d2 the address of the word %r4. */
#define INDEX                                                               \
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n" \
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
#define PLACE_OF_INDEX \
    "  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d1, %d2;\n"
#define STORE PLACE_OF_INDEX "  st.global.u32 [%d2], 0; ret; }\n"
/* Stores each of 4,096 words twice, and goes on by the size of the grid. */
#define STRIDES                                                                \
    INDEX "  ld.param.u64 %d1, [out];\n"                                       \
          "  mov.u32 %r1, %nctaid.x; mul.lo.u32 %r1, %r1, %r2;\n"              \
          "L: setp.ge.u32 %p, %r4, 8192; @%p bra E; and.b32 %r5, %r4, 4095;\n" \
          "  mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2;\n"               \
          "  st.global.u32 [%d2], 0; add.u32 %r4, %r4, %r1; bra L;\n"
/* A loop: loads the word at %d2, goes so many bytes further, so often. */
#define LOAD_AND_STEP "  mov.u32 %r5, 0;\nL: ld.global.u32 %r7, [%d2]; add.u64 %d2, %d2, "
#define UNTIL "; add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p, %r5, "
#define GO_ON "; @%p bra L;\n  "
#define WORD_OF_THREAD "  mov.u32 %r4, %tid.x; mov.u32 %r5, 0;\n" PLACE_OF_INDEX
#define TILE_OF(bytes)                                               \
    "  .shared .align 4 .b8 tile[" bytes "]; mov.u32 %r3, %tid.x;\n" \
    "  mov.u32 %r4, %r3; mov.u32 %r6, tile; mov.u32 %r5, 0;\n"       \
    "  mad.lo.u32 %r6, %r3, 4, %r6;\n" PLACE_OF_INDEX
#define TILE TILE_OF("1024")
#define LOAD_OWN "  ld.global.u32 %r7, [%d2];\n"
#define FILL "  st.shared.u32 [%r6], %r7; bar.sync 0;\n"
/* Four times adds to the word at %d2. */
#define FOLD                                                                 \
    "  mov.u32 %r5, 0;\nL: ld.global.u32 %r7, [%d2]; add.u32 %r7, %r7, 1;\n" \
    "  st.global.u32 [%d2], %r7" UNTIL "4" GO_ON "ret; }\n"
#define OPPOSITE "  mov.u32 %r5, 63; sub.u32 %r5, %r5, %r3;\n"
/* Reads the word %r5 of the tile. */
#define READ                                                                        \
    "  mov.u32 %r6, tile; mad.lo.u32 %r6, %r5, 4, %r6; ld.shared.u32 %r1, [%r6];\n" \
    "  ret; }\n"
/* Loads the thread's word of the table so often, then reads the word %r5 of the tile. */
#define TABLE_AND_READ                                                              \
    "  add.u64 %d3, %d2, 16777216; mov.u32 %r4, 0;\nL: ld.global.u32 %r7, [%d3];\n" \
    "  add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 4; @%p bra L;\n" READ
#define REGISTERS ".reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p;\n"

static const char ptx[] = HEAD
    ".visible .entry columns(.param .u64 out)\n{ " REGISTERS PLACE
    "  st.global.u32 [%d2], 0; ret; }\n"
    /* x and y exchanged, a word further */
    ".visible .entry shifted(.param .u64 out)\n{ " REGISTERS
    "  mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r5, %r1, %r2, %r3; mad.lo.u32 %r5, %r4, 64, %r5;\n"
    "  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2;\n"
    "  st.global.u32 [%d2 + 4], 0; ret; }\n"
    /* the same with an array that has the block's shape */
    ".visible .entry tiled(.param .u64 out)\n{ " REGISTERS
    "  .shared .align 4 .b8 tile[1024];\n" PLACE
    "  mov.u32 %r6, tile; st.shared.u32 [%r6], 0; st.global.u32 [%d2], 0; ret; }\n"
    /* the same, but warps matter */
    ".visible .entry lanes(.param .u64 out)\n{ " REGISTERS PLACE
    "  mov.u32 %r6, %laneid; st.global.u32 [%d2], %r6; ret; }\n"
    /* the same where data decides */
    ".visible .entry gather(.param .u64 out)\n{ " REGISTERS PLACE
    "  ld.global.u32 %r6, [%d2]; mul.wide.u32 %d3, %r6, 4; add.u64 %d3, %d1, %d3;\n"
    "  st.global.u32 [%d3], 0; ret; }\n"
    /* tile[tid.x][tid.y] of 32 rows of words, and of doubles */
    ".visible .entry words(.param .u64 out)\n{ " REGISTERS "  .shared .align 4 .b8 tile[4096];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;\n"
    "  mad.lo.u32 %r3, %r1, 128, %r3; mad.lo.u32 %r3, %r2, 4, %r3; st.shared.u32 [%r3], 0; ret; }\n"
    /* the same, and a bulk copy takes some of the tile from there */
    ".visible .entry copied(.param .u64 out)\n{ " REGISTERS
    "  .shared .align 128 .b8 tile[4096]; ld.param.u64 %d1, [out]; mov.u32 %r4, 16;\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile; mov.u32 %r5, tile;\n"
    "  mad.lo.u32 %r3, %r1, 128, %r3; mad.lo.u32 %r3, %r2, 4, %r3; st.shared.u32 [%r3], 0;\n"
    "  bar.sync 0; or.b32 %r6, %r1, %r2; setp.ne.u32 %p, %r6, 0; @%p bra E;\n"
    "  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r5], %r4;\nE: ret; }\n"
    ".visible .entry doubles(.param .u64 out)\n{ " REGISTERS "  .shared .align 8 .b8 tile[8192];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;\n"
    "  mad.lo.u32 %r3, %r1, 256, %r3; mad.lo.u32 %r3, %r2, 8, %r3; mov.u64 %d1, 0;\n"
    "  st.shared.u64 [%r3], %d1; ret; }\n"
    /* s[2 * tid]: no rows */
    ".visible .entry pairs(.param .u64 out)\n{ " REGISTERS "  .shared .align 4 .b8 s[2048];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 8, %r3; st.shared.u32 [%r3], 0;\n"
    "  ret; }\n"
    /* a word for each of 96 threads of each row */
    ".visible .entry rows(.param .u64 out, .param .u32 pitch)\n{ " REGISTERS
    "  mov.u32 %r1, %ctaid.x; ld.param.u32 %r2, [pitch]; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3; " STORE
    /* what blocks of 100 threads take, one after the other */
    ".visible .entry line(.param .u64 out)\n{ " REGISTERS
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, 100, %r3;\n" STORE
    /* out[i + 1] = 0, and out[i] before it */
    ".visible .entry next(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX
    "  st.global.u32 [%d2 + 4], 0; ret; }\n"
    ".visible .entry both(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX
    "  st.global.u32 [%d2 + 4], 0; st.global.u32 [%d2], 0; ret; }\n"
    /* records of three words: the first and the last; all; as many words as the host says */
    ".visible .entry fields(.param .u64 out)\n{ " REGISTERS INDEX
    "  mul.lo.u32 %r4, %r4, 3; " PLACE_OF_INDEX
    "  st.global.u32 [%d2], 0; st.global.u32 [%d2 + 8], 0; ret; }\n"
    ".visible .entry all(.param .u64 out)\n{ " REGISTERS INDEX
    "  mul.lo.u32 %r4, %r4, 3; " PLACE_OF_INDEX
    "  st.global.u32 [%d2], 0; st.global.u32 [%d2 + 4], 0; st.global.u32 [%d2 + 8], 0; ret; }\n"
    ".visible .entry given(.param .u64 out, .param .u32 pitch)\n{ " REGISTERS INDEX
    "  ld.param.u32 %r1, [pitch]; mul.lo.u32 %r4, %r4, %r1; " STORE
    /* what all threads do together; a word for each block besides */
    ".visible .entry strides(.param .u64 out)\n{ " REGISTERS STRIDES "E: ret; }\n"
    ".visible .entry parts(.param .u64 out)\n{ " REGISTERS STRIDES
    "E: mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4;\n"
    "  add.u64 %d2, %d1, %d2; st.global.u32 [%d2], 0; ret; }\n"
    /* two arrays of 256 words */
    ".visible .entry arrays(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX
    "  st.global.u32 [%d2], 0; st.global.u32 [%d2 + 1024], 0; ret; }\n"
    /* eight words from each thread's on; the same stored to, too; memory of no object; with no shared memory left */
    ".visible .entry window(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX LOAD_AND_STEP
    "4" UNTIL "8" GO_ON "ret; }\n"
    ".visible .entry changing(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX LOAD_AND_STEP
    "4" UNTIL "8" GO_ON "st.global.u32 [%d1], 0; ret; }\n"
    ".visible .entry unknown(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX LOAD_AND_STEP
    "4" UNTIL "8" GO_ON "st.global.u32 [%d1 + 1048576], 0; ret; }\n"
    ".visible .entry crowded(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX
    "  .shared .align 4 .b8 all[49152]; mov.u32 %r6, all; st.shared.u32 [%r6], 0;\n" LOAD_AND_STEP
    "4" UNTIL "8" GO_ON "ret; }\n"
    /* a row of 32 words for each thread */
    ".visible .entry lines(.param .u64 out)\n{ " REGISTERS INDEX
    "  mul.lo.u32 %r4, %r4, 32;\n" PLACE_OF_INDEX LOAD_AND_STEP "4" UNTIL "32" GO_ON "ret; }\n"
    /* all warps the same 512 lines; a line more in each warp */
    ".visible .entry shared_lines(.param .u64 out)\n{ " REGISTERS
    "  mov.u32 %r4, %tid.x;\n" PLACE_OF_INDEX LOAD_AND_STEP "128" UNTIL "512" GO_ON "ret; }\n"
    ".visible .entry more_lines(.param .u64 out)\n{ " REGISTERS
    "  mov.u32 %r4, %tid.x; mov.u32 %r6, %tid.y; add.u32 %r6, %r6, "
    "512;\n" PLACE_OF_INDEX LOAD_AND_STEP "128" UNTIL "%r6" GO_ON "ret; }\n"
    /* all threads update one word; one of each warp */
    ".visible .entry common(.param .u64 out)\n{ " REGISTERS
    "  ld.param.u64 %d1, [out]; red.global.add.u32 [%d1], 1; ret; }\n"
    ".visible .entry lone(.param .u64 out)\n{ " REGISTERS
    "  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31;\n"
    "  setp.eq.u32 %p, %r1, 0; @%p atom.global.add.u32 %r2, [%d1], 1; ret; }\n"
    /* each thread of a block its word, four times */
    ".visible .entry scattered(.param .u64 out)\n{ " REGISTERS WORD_OF_THREAD
    "L: atom.global.add.u32 %r6, [%d2], 1" UNTIL "4" GO_ON "ret; }\n"
    /* what may not be made in another order; is used; is of two kinds; is looked at besides */
    ".visible .entry exchanged(.param .u64 out)\n{ " REGISTERS WORD_OF_THREAD
    "L: atom.global.exch.b32 %r6, [%d2], 1" UNTIL "4" GO_ON "ret; }\n"
    ".visible .entry returned(.param .u64 out)\n{ " REGISTERS WORD_OF_THREAD
    "L: atom.global.add.u32 %r6, [%d2], 1; st.shared.u32 [%r5], %r6" UNTIL "4" GO_ON "ret; }\n"
    ".visible .entry mixed(.param .u64 out)\n{ " REGISTERS WORD_OF_THREAD
    "L: red.global.add.u32 [%d2], 1; red.global.max.u32 [%d2], 7" UNTIL "4" GO_ON "ret; }\n"
    ".visible .entry looked_at(.param .u64 out)\n{ " REGISTERS WORD_OF_THREAD
    "L: red.global.add.u32 [%d2], 1; ld.global.u32 %r7, [%d2]" UNTIL "4" GO_ON "ret; }\n"
    /* a word for each of 64 threads, each read by the thread with the opposite number; with zeros where
     * the thread's number is 48 or more; with what is used besides; column by column */
    ".visible .entry reversed(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN FILL OPPOSITE READ
    ".visible .entry guarded(.param .u64 out)\n{ " REGISTERS TILE
    "  mov.u32 %r7, 0; setp.ge.u32 %p, %r3, 48; @%p bra F; ld.global.u32 %r7, [%d2];\nF:\n" FILL
        OPPOSITE READ
    ".visible .entry used(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN FILL OPPOSITE
    "  st.shared.u32 [%r5 + 512], %r7;\n" READ
    ".visible .entry columns_of_tile(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN FILL
    "  and.b32 %r5, %r3, 7; shl.b32 %r5, %r5, 3; shr.u32 %r2, %r3, 3; add.u32 %r5, %r5, %r2;\n" READ
    /* 32 rows of 384 words, all that a block may have, by a thread a row */
    ".visible .entry full(.param .u64 out)\n{ " REGISTERS "  .shared .align 128 .b8 tile[49152];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r3, tile; mad.lo.u32 %r3, %r1, 512, %r3;\n"
    "  st.shared.u32 [%r3], 0; ret; }\n"
    /* a tile that passes words on, and a table of which each word is loaded four times: with no shared
     * memory left beside the tile, with enough, and where the tile holds what is computed */
    ".visible .entry no_room(.param .u64 out)\n{ " REGISTERS TILE_OF("49152")
        LOAD_OWN FILL OPPOSITE TABLE_AND_READ
    ".visible .entry room(.param .u64 out)\n{ " REGISTERS TILE_OF("1024")
        LOAD_OWN FILL OPPOSITE TABLE_AND_READ
    ".visible .entry computes(.param .u64 out)\n{ " REGISTERS TILE_OF("49152") LOAD_OWN
    "  add.u32 %r7, %r7, 1;\n" FILL OPPOSITE TABLE_AND_READ
    /* each block's 64 words, of which each step adds the next to a thread's own; the same where blocks
     * take each other's */
    ".visible .entry folded(.param .u64 out)\n{ " REGISTERS INDEX PLACE_OF_INDEX FOLD
    ".visible .entry overlapping(.param .u64 out)\n{ " REGISTERS
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, 32, "
    "%r3;\n" PLACE_OF_INDEX FOLD
    /* what is computed; what is changed meanwhile; what an earlier turn of a loop loaded */
    ".visible .entry computed(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN
    "  add.u32 %r7, %r7, 1;\n" FILL OPPOSITE READ
    ".visible .entry written(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN
    "  st.global.u32 [%d2], 0;\n" FILL OPPOSITE READ
    ".visible .entry ahead(.param .u64 out)\n{ " REGISTERS TILE LOAD_OWN
    "  mov.u32 %r5, 0;\nL:" FILL "  ld.global.u32 %r7, [%d2 + 256]; add.u64 %d2, %d2, 256" UNTIL
    "4" GO_ON OPPOSITE READ;

enum { OUT = 1, TABLE = 2, MODULE = 1 };
static const uint64_t base = 0x7f0000000000;

typedef struct arguments {
    uint64_t out;
    uint32_t pitch;
} arguments;

typedef struct fixture {
    replay_session *session;
    cap_trials trials;
    wl_error err;
} fixture;

static void see(fixture *f, const cap_record *record)
{
    assert_int_equal(replay_see(f->session, record, &f->err), WL_OK);
}

static int begin(void **state)
{
    static fixture f;
    const replay_settings settings = {.threads = 1, .blocks = {.automatic = true}};
    f = (fixture){0};
    assert_int_equal(replay_session_new(&settings, NULL, NULL, &f.session, &f.err), WL_OK);
    see(&f, &(cap_record){.type = CAP_DEVICE,
                          .device = {.cc_major = 9, .num_sms = 132, .global_bytes = 1 << 30}});
    see(&f, &(cap_record){
                .type = CAP_MODULE,
                .module = {.id = MODULE, .name = "m", .code = ptx, .length = sizeof ptx - 1}});
    see(&f, &(cap_record){.type = CAP_OBJECT,
                          .object = {.id = OUT, .base = base, .bytes = 128 << 10, .name = ""}});
    see(&f,
        &(cap_record){
            .type = CAP_OBJECT,
            .object = {.id = TABLE, .base = base + (16 << 20), .bytes = 128 << 10, .name = ""}});
    *state = &f;
    return 0;
}

static int end(void **state)
{
    replay_session_free(((fixture *)*state)->session);
    return 0;
}

static replay_outcome launch(fixture *f, const char *kernel, const arguments *given,
                             const uint32_t grid[2], const uint32_t block[2])
{
    replay_outcome out;
    cap_note note = {.id = 1,
                     .module = MODULE,
                     .kernel = kernel,
                     .grid = {grid[0], grid[1], 1},
                     .block = {block[0], block[1], 1},
                     .cluster = {1, 1, 1},
                     .params = (const char *)given,
                     .nparams = sizeof *given};
    assert_int_equal(replay_note(f->session, &note, &out, &f->err), WL_OK);
    assert_int_equal(out.kind, REPLAY_LAUNCH);
    out.launch.params = note.params;
    out.launch.nparams = note.nparams;
    return out;
}

/* Replays the launch, and tries it. */
static void try_kernel(fixture *f, const char *kernel, const arguments *given,
                       const uint32_t grid[2], const uint32_t block[2])
{
    replay_outcome out = launch(f, kernel, given, grid, block);
    assert_int_equal(replay_trials(f->session, &out.launch, &f->trials, &f->err), WL_OK);
}

#define SIZE(x, y) ((const uint32_t[]){x, y})
#define TRY(f, kernel, gx, gy, bx, by) \
    try_kernel((f), (kernel), &(arguments){.out = base}, SIZE(gx, gy), SIZE(bx, by))

static uint64_t sectors_of_rows(const obs_insn *rows, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += rows[i].sectors;
    return sum;
}

static void expect_transposed(const obs_trial *t, uint32_t x, uint32_t y, uint64_t before,
                              uint64_t after)
{
    assert_int_equal(t->kind, OBS_TRIAL_TRANSPOSED);
    assert_int_equal(t->block[0], x);
    assert_int_equal(t->block[1], y);
    assert_int_equal(t->blocks, 16);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), before);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), after);
}

/* 128 warps store to 32 rows each; then each along one row: 128 bytes. The block keeps its shape,
 * since nothing else depends on it. */
static void lanes_run_along_rows(void **state)
{
    fixture *f = *state;
    TRY(f, "columns", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 1);
    expect_transposed(f->trials.trials, 32, 8, 128 * 32, 128 * 4);
    assert_int_equal(f->trials.trials[0].after[0].contiguous, 128);
    assert_int_equal(f->trials.trials[0].pc, 2); /* mov.u32 %r3, %tid.x */
}

/* A warp has 8 words of each of 4 rows then: a sector each. */
static void shape_of_blocks_is_exchanged(void **state)
{
    fixture *f = *state;
    TRY(f, "tiled", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 1);
    expect_transposed(f->trials.trials, 8, 32, 128 * 32, 128 * 4);
    assert_int_equal(f->trials.trials[0].after[0].space == ACC_GLOBAL
                         ? f->trials.trials[0].after[0].contiguous
                         : 0,
                     0);
}

static void expect_widened(const cap_trials *trials, uint64_t before, uint64_t after)
{
    assert_int_equal(trials->count, 2); /* the first exchanges x and y */
    const obs_trial *t = &trials->trials[1];
    assert_int_equal(t->kind, OBS_TRIAL_WIDENED);
    assert_int_equal(t->block[0], 32);
    assert_int_equal(t->block[1], 4);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), before);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), after);
}

/* Blocks of 8 x 16 over 64 x 64 threads: a warp has 8 words of 4 rows, each row a word off the
 * boundary: 2 sectors each. Then 32 words of one row: 5 sectors. */
static void narrow_blocks_are_widened(void **state)
{
    fixture *f = *state;
    TRY(f, "shifted", 8, 4, 8, 16);
    expect_widened(&f->trials, 128 * 8, 128 * 5);
}

/* The grid of blocks of 32 x 8 would not come out even over 64 x 24 threads. */
static void uneven_grids_exchange_the_shape(void **state)
{
    fixture *f = *state;
    TRY(f, "columns", 2, 3, 32, 8);
    assert_int_equal(f->trials.count, 1);
    assert_int_equal(f->trials.trials[0].block[0], 8);
    assert_int_equal(f->trials.trials[0].block[1], 32);
}

static void what_cannot_be_tried(void **state)
{
    fixture *f = *state;
    TRY(f, "lanes", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 0);
    TRY(f, "gather", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 0);
    TRY(f, "columns", 64, 1, 1, 64); /* lanes run along y as it is */
    assert_int_equal(f->trials.count, 0);
}

/* The second launch of a shape tells nothing new. */
static void shapes_are_tried_once(void **state)
{
    fixture *f = *state;
    TRY(f, "columns", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 1);
    TRY(f, "columns", 2, 8, 32, 8);
    assert_int_equal(f->trials.count, 0);
    TRY(f, "columns", 4, 8, 16, 8); /* may be widened, too */
    assert_int_equal(f->trials.count, 2);
}

static void expect_padded(const cap_trials *trials, uint32_t pitch, uint32_t pad, uint64_t before,
                          uint64_t after)
{
    assert_int_equal(trials->count, 1);
    const obs_trial *t = trials->trials;
    assert_int_equal(t->kind, OBS_TRIAL_PADDED);
    assert_true(strstr("tile s", trials->shared[t->object].name) != NULL);
    assert_int_equal(t->pitch, pitch);
    assert_int_equal(t->pad, pad);
    assert_int_equal(t->nbefore, 1);
    assert_int_equal(t->nafter, 1);
    assert_int_equal(t->before[0].wavefronts, before);
    assert_int_equal(t->after[0].wavefronts, after);
    assert_int_equal(t->after[0].object, t->object);
}

/* 32 warps, each to one bank; with a word more a row, each to all banks. */
static void rows_of_words_are_padded(void **state)
{
    fixture *f = *state;
    TRY(f, "words", 1, 1, 32, 32);
    expect_padded(&f->trials, 128, 4, 32 * 32, 32);
}

/* The copy takes rows as they are. */
static void arrays_of_bulk_copies_are_not_padded(void **state)
{
    fixture *f = *state;
    TRY(f, "copied", 1, 1, 32, 32);
    assert_int_equal(f->trials.count, 0);
}

/* Two halves of a warp; 16 lanes to one pair of banks. A double after each 256 bytes suffices; after
 * each 128 it would not. */
static void rows_of_doubles_are_padded(void **state)
{
    fixture *f = *state;
    TRY(f, "doubles", 1, 1, 32, 32);
    expect_padded(&f->trials, 256, 8, 32 * 32, 32 * 2);
}

/* 256 threads: 8 warps to every second bank, twice; a word after every 32. Lanes 0 to 15 then fall
 * into even banks, the others into odd ones. */
static void arrays_without_rows_are_padded(void **state)
{
    fixture *f = *state;
    TRY(f, "pairs", 4, 1, 256, 1);
    expect_padded(&f->trials, 128, 4, 4 * 8 * 2, 4 * 8);
}

/* ---- objects laid out otherwise ---- */

static void expect_layout(const fixture *f, obs_trial_kind kind, uint32_t pitch, uint32_t pad,
                          uint64_t before, uint64_t after)
{
    assert_int_equal(f->trials.count, 1);
    const obs_trial *t = f->trials.trials;
    assert_int_equal(t->kind, kind);
    assert_int_equal(t->object, OUT);
    assert_int_equal(t->pitch, pitch);
    assert_int_equal(t->pad, pad);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), before);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), after);
    assert_int_equal(t->after[0].object, OUT);
}

/* What a launch does that is as the trial has it. */
static void expect_same(fixture *f, const char *kernel, const arguments *given,
                        const uint32_t grid[2], const uint32_t block[2])
{
    uint64_t tried = sectors_of_rows(f->trials.trials->after, f->trials.trials->nafter);
    replay_outcome out = launch(f, kernel, given, grid, block);
    assert_int_equal(sectors_of_rows(out.launch.summary.insns, out.launch.summary.ninsns), tried);
}

/* 32 rows of 500 bytes, three warps each: every eighth row begins where a sector does. With 12 bytes
 * more all do. */
static void rows_are_spread(void **state)
{
    fixture *f = *state;
    const arguments packed = {base, 125}, apart = {base, 128};
    try_kernel(f, "rows", &packed, SIZE(32, 1), SIZE(96, 1));
    expect_layout(f, OBS_TRIAL_SPREAD, 500, 12, (4 * 4 + 28 * 5) * 3, 32 * 4 * 3);
    expect_same(f, "rows", &apart, SIZE(32, 1), SIZE(96, 1));
}

/* Rows of 132 bytes would grow by a fifth. What blocks take of a line are no rows. */
static void what_is_no_row(void **state)
{
    fixture *f = *state;
    const arguments shorter = {base, 33};
    try_kernel(f, "rows", &shorter, SIZE(32, 1), SIZE(32, 1));
    assert_int_equal(f->trials.count, 0);
    TRY(f, "line", 32, 1, 100, 1);
    assert_int_equal(f->trials.count, 0);
}

/* 8 warps, each a word after a line: 5 sectors; 124 bytes further on, 4. */
static void objects_are_moved(void **state)
{
    fixture *f = *state;
    const arguments further = {base + 124, 0}, before_it = {base + 4, 0};
    TRY(f, "next", 4, 1, 64, 1);
    expect_layout(f, OBS_TRIAL_MOVED, 0, 124, 8 * 5, 8 * 4);
    expect_same(f, "next", &further, SIZE(4, 1), SIZE(64, 1));
    try_kernel(f, "next", &before_it, SIZE(8, 1), SIZE(64, 1)); /* two words after a line */
    expect_layout(f, OBS_TRIAL_MOVED, 0, 120, 16 * 5, 16 * 4);
}

/* Then out[i] would lie off the sectors. */
static void what_does_not_help_is_not_told(void **state)
{
    fixture *f = *state;
    TRY(f, "both", 4, 1, 64, 1);
    assert_int_equal(f->trials.count, 0);
}

/* 32 records of 12 bytes lie in 12 sectors, 32 words in 4; 8 warps take two of the words. */
static void records_are_split(void **state)
{
    fixture *f = *state;
    const arguments given = {base, 0};
    TRY(f, "fields", 4, 1, 64, 1);
    expect_layout(f, OBS_TRIAL_SPLIT, 12, 8, 8 * 2 * 12, 8 * 2 * 4);
    expect_same(f, "arrays", &given, SIZE(4, 1), SIZE(64, 1));
}

/* Where all words are used, they may be pieces of a plain array; a distance that the host gives may
 * be a row. */
static void what_are_no_records(void **state)
{
    fixture *f = *state;
    const arguments three = {base, 3};
    TRY(f, "all", 4, 1, 64, 1);
    assert_int_equal(f->trials.count, 0);
    try_kernel(f, "given", &three, SIZE(4, 1), SIZE(64, 1));
    assert_int_equal(f->trials.count, 0);
}

/* ---- parts of objects in shared memory ---- */

static const obs_trial *trial_of(const fixture *f, obs_trial_kind kind)
{
    for (uint32_t i = 0; i < f->trials.count; i++)
        if (f->trials.trials[i].kind == kind)
            return &f->trials.trials[i];
    return NULL;
}

static uint64_t passes_of_rows(const obs_insn *rows, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += rows[i].space == ACC_SHARED ? rows[i].wavefronts : 0;
    return sum;
}

static void expect_kept(const fixture *f, obs_trial_kind kind, uint32_t turns, uint32_t bytes,
                        uint64_t before, uint64_t after, uint64_t passes)
{
    assert_int_equal(f->trials.count, 1);
    const obs_trial *t = f->trials.trials;
    assert_int_equal(t->kind, kind);
    assert_int_equal(t->object, OUT);
    assert_int_equal(t->pitch, turns);
    assert_int_equal(t->pad, bytes);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), before);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), after);
    assert_int_equal(passes_of_rows(t->after, t->nafter), passes);
}

/* Two warps, 4 sectors in the first turn and 5 in the seven others. 71 words lie in 9 sectors: 64
 * threads load 64, then 7. They are stored in three passes, and loaded in one a turn. */
static void parts_are_staged(void **state)
{
    fixture *f = *state;
    TRY(f, "window", 1, 1, 64, 1);
    expect_kept(f, OBS_TRIAL_STAGED, 0, 71 * 4, 2 * (4 + 7 * 5), 9, 3 + 2 * 8);
    const obs_insn *load = &f->trials.trials->after[2]; /* the array has no number */
    assert_int_equal(load->object, OUT);
    assert_int_equal(load->requests, 3);
    assert_int_equal(load->active_lanes, 71);
}

/* Of many blocks 32 suffice. */
static void parts_of_few_blocks_are_staged(void **state)
{
    fixture *f = *state;
    TRY(f, "window", 256, 1, 64, 1);
    assert_int_equal(f->trials.trials->blocks, 32);
    expect_kept(f, OBS_TRIAL_STAGED, 0, 71 * 4, 32 * 2 * (4 + 7 * 5), 32 * 9, 32 * (3 + 2 * 8));
}

/* 32 rows of a line; each turn takes a word of each, all of one bank. */
static void staged_rows_conflict(void **state)
{
    fixture *f = *state;
    TRY(f, "lines", 1, 1, 32, 1);
    expect_kept(f, OBS_TRIAL_STAGED, 0, 32 * 128, 32 * 32, 32 * 4, 32 + 32 * 32);
}

/* 64 KiB: 8 turns of 32 words each give each of 256 threads one, so that there are 64 tiles. */
static void what_does_not_fit_is_staged_by_tiles(void **state)
{
    fixture *f = *state;
    TRY(f, "shared_lines", 1, 1, 32, 8);
    expect_kept(f, OBS_TRIAL_STAGED, 8, 256 * 4, 512 * 8 * 4, 512 * 4, 64 * 8 + 512 * 8);
}

/* A barrier in a loop that warps leave one after the other would wait for ever; what is stored to,
 * or may be, changes under the copy; and no array fits beside one of 48 KiB. */
static void what_cannot_be_staged(void **state)
{
    fixture *f = *state;
    TRY(f, "more_lines", 1, 1, 32, 8);
    assert_int_equal(f->trials.count, 0);
    TRY(f, "changing", 1, 1, 64, 1);
    assert_null(trial_of(f, OBS_TRIAL_STAGED));
    TRY(f, "unknown", 1, 1, 64, 1);
    assert_int_equal(f->trials.count, 0);
    TRY(f, "crowded", 1, 1, 64, 1);
    assert_int_equal(f->trials.count, 0);
}

/* 4 blocks of two warps: a request and a sector a warp. A block clears its word, changes it by a
 * lane of each warp, loads it, and updates the other. */
static void updates_are_combined(void **state)
{
    fixture *f = *state;
    TRY(f, "common", 4, 1, 64, 1);
    expect_kept(f, OBS_TRIAL_COMBINED, 0, 4, 8, 4, 4 * (1 + 2 + 1));
    const obs_insn *update = &f->trials.trials->after[f->trials.trials->nafter - 1];
    assert_int_equal(update->object, OUT);
    assert_int_equal(update->active_lanes, 4);
    TRY(f, "lone", 4, 1, 64, 1);
    expect_kept(f, OBS_TRIAL_COMBINED, 0, 4, 8, 4, 4 * (1 + 2 + 1));
}

/* Two warps, four times 4 sectors each: 64 words, cleared, changed, loaded and added at the end. */
static void copies_are_updated(void **state)
{
    fixture *f = *state;
    TRY(f, "scattered", 1, 1, 64, 1);
    expect_kept(f, OBS_TRIAL_PRIVATE, 0, 64 * 4, 2 * 4 * 4, 2 * 4, 2 + 2 * 4 + 2);
}

static void what_may_not_be_made_later(void **state)
{
    fixture *f = *state;
    static const char *const kernels[] = {"exchanged", "returned", "mixed", "looked_at"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        TRY(f, kernels[i], 1, 1, 64, 1);
        assert_int_equal(f->trials.count, 0);
    }
}

/* ---- data that a shared array passes on ---- */

static void expect_direct(const fixture *f, uint64_t requests, uint64_t sectors, uint64_t lanes)
{
    const obs_trial *t = trial_of(f, OBS_TRIAL_DIRECT);
    assert_non_null(t);
    assert_string_equal(f->trials.shared[t->object].name, "tile");
    assert_int_equal(t->nbefore, 3); /* load, store, load */
    assert_int_equal(t->nafter, 1);
    assert_int_equal(t->after->space, ACC_GLOBAL);
    assert_int_equal(t->after->object, OUT);
    assert_int_equal(t->after->requests, requests);
    assert_int_equal(t->after->sectors, sectors);
    assert_int_equal(t->after->active_lanes, lanes);
}

/* Two warps of 4 sectors, in the opposite order. Zeros are not loaded: the first warp's lanes 0 to 15
 * take those of threads 63 to 48. */
static void what_is_passed_on_is_read_directly(void **state)
{
    fixture *f = *state;
    TRY(f, "reversed", 1, 1, 64, 1);
    expect_direct(f, 2, 8, 64);
    TRY(f, "guarded", 1, 1, 64, 1);
    expect_direct(f, 2, 6, 48);
}

/* A load whose data is used besides stays: 8 sectors more. The two stores are of one array. */
static void what_is_used_besides_stays(void **state)
{
    fixture *f = *state;
    TRY(f, "used", 1, 1, 64, 1);
    const obs_trial *t = trial_of(f, OBS_TRIAL_DIRECT);
    assert_non_null(t); /* both stores fill the array */
    assert_int_equal(sectors_of_rows(t->after, t->nafter), 8);
}

static void what_is_not_only_passed_on(void **state)
{
    fixture *f = *state;
    static const char *const kernels[] = {"columns_of_tile", "computed", "written", "ahead"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        TRY(f, kernels[i], 1, 1, 64, 1);
        assert_null(trial_of(f, OBS_TRIAL_DIRECT));
    }
}

/* ---- elements permuted, parts kept ---- */

/* Rows of 512 bytes: all lanes store to one bank. Padding has no room; with column ^ row each has its
 * own bank. Where there is room, rows are padded, and nothing is left to permute. */
static void elements_are_permuted_where_padding_has_no_room(void **state)
{
    fixture *f = *state;
    TRY(f, "full", 1, 1, 32, 1);
    const obs_trial *t = trial_of(f, OBS_TRIAL_SWIZZLED);
    assert_null(trial_of(f, OBS_TRIAL_PADDED));
    assert_non_null(t);
    assert_int_equal(t->pitch, 512);
    assert_int_equal(t->pad, 4);
    assert_int_equal(t->before->wavefronts, 32);
    assert_int_equal(t->after->wavefronts, 1);
    TRY(f, "words", 1, 1, 32, 32);
    assert_null(trial_of(f, OBS_TRIAL_SWIZZLED));
}

/* Two warps, four times 4 sectors loaded and stored; once each with the part kept. The copy is
 * filled, loaded and stored four times, and read at the end. */
static void parts_that_change_are_kept(void **state)
{
    fixture *f = *state;
    TRY(f, "folded", 4, 1, 64, 1);
    const obs_trial *t = trial_of(f, OBS_TRIAL_KEPT);
    assert_non_null(t);
    assert_int_equal(t->object, OUT);
    assert_int_equal(t->pad, 64 * 4);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), 4 * 2 * 4 * (4 + 4));
    assert_int_equal(sectors_of_rows(t->after, t->nafter), 4 * 2 * (4 + 4));
    assert_int_equal(passes_of_rows(t->after, t->nafter), 4 * 2 * (1 + 4 + 4 + 1));
}

/* Two warps of 4 sectors load the table four times, and the tile's words; then the table once, and the
 * words where they are read. The copy is filled, and read four times. */
static void parts_take_the_place_of_arrays(void **state)
{
    fixture *f = *state;
    TRY(f, "no_room", 1, 1, 64, 1);
    const obs_trial *t = trial_of(f, OBS_TRIAL_EXCHANGED);
    assert_non_null(t);
    assert_null(trial_of(f, OBS_TRIAL_STAGED));
    assert_int_equal(t->object, TABLE);
    assert_int_equal(t->pad, 64 * 4);
    assert_int_equal(t->nbefore, 4); /* the table's load; load, store and load of the tile */
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), 2 * 4 * 4 + 2 * 4);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), 2 * 4 + 2 * 4);
    assert_int_equal(passes_of_rows(t->after, t->nafter), 2 * (1 + 4));
    TRY(f, "room", 1, 1, 64, 1);
    assert_non_null(trial_of(f, OBS_TRIAL_STAGED));
    assert_null(trial_of(f, OBS_TRIAL_EXCHANGED));
    TRY(f, "computes", 1, 1, 64, 1);
    assert_null(trial_of(f, OBS_TRIAL_EXCHANGED));
}

static void what_other_blocks_change_is_not_kept(void **state)
{
    fixture *f = *state;
    TRY(f, "overlapping", 4, 1, 64, 1);
    assert_null(trial_of(f, OBS_TRIAL_KEPT));
}

/* ---- more blocks ---- */

/* A warp that stores 256 times; then 132 that store twice at most. */
static void loops_go_on_by_the_grid(void **state)
{
    fixture *f = *state;
    TRY(f, "strides", 1, 1, 32, 1);
    assert_int_equal(f->trials.count, 1);
    const obs_trial *t = f->trials.trials;
    assert_int_equal(t->kind, OBS_TRIAL_REGRIDDED);
    assert_int_equal(t->block[0], 132);
    assert_int_equal(t->blocks, 132);
    assert_int_equal(sectors_of_rows(t->before, t->nbefore), 8192 / 8);
    assert_int_equal(sectors_of_rows(t->after, t->nafter), 8192 / 8);
}

/* More blocks would store beyond the words that there are for them. */
static void what_each_block_stores_is_more(void **state)
{
    fixture *f = *state;
    TRY(f, "parts", 1, 1, 32, 1);
    assert_int_equal(f->trials.count, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        T(lanes_run_along_rows),
        T(shape_of_blocks_is_exchanged),
        T(uneven_grids_exchange_the_shape),
        T(narrow_blocks_are_widened),
        T(what_cannot_be_tried),
        T(shapes_are_tried_once),
        T(rows_of_words_are_padded),
        T(arrays_of_bulk_copies_are_not_padded),
        T(rows_of_doubles_are_padded),
        T(arrays_without_rows_are_padded),
        T(rows_are_spread),
        T(what_is_no_row),
        T(objects_are_moved),
        T(what_does_not_help_is_not_told),
        T(records_are_split),
        T(what_are_no_records),
        T(parts_are_staged),
        T(parts_of_few_blocks_are_staged),
        T(staged_rows_conflict),
        T(what_does_not_fit_is_staged_by_tiles),
        T(what_cannot_be_staged),
        T(updates_are_combined),
        T(copies_are_updated),
        T(what_may_not_be_made_later),
        T(parts_take_the_place_of_arrays),
        T(what_is_passed_on_is_read_directly),
        T(what_is_used_besides_stays),
        T(what_is_not_only_passed_on),
        T(elements_are_permuted_where_padding_has_no_room),
        T(parts_that_change_are_kept),
        T(what_other_blocks_change_is_not_kept),
        T(loops_go_on_by_the_grid),
        T(what_each_block_stores_is_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
