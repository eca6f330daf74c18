import type { Finding, Pattern, Remedy } from "../data/payload";

/** What each remedy does, as a picture and a few lines of code; docs/patterns tells it at length.
 *
 * A grid's rows are sectors of 8 words (or rows of banks). A word is written as a token: a digit is the warp that uses it; a
 * letter with "!" is used by the request that is drawn, without it only moved along; "-" is not touched. */
export interface Trips {
  from: string[];
  to: string;
  /** all: each makes a trip; via: one for all, through what this names; own: each has it with itself; exchange: they hand it
   * to each other. */
  how: { all: true } | { via: string } | { own: true } | { exchange: true };
}
export interface Side {
  picture: { grid: string[] } | Trips;
  note: string;
  code: string;
}
export interface Sketch {
  before: Side;
  after: Side;
  legend: string;
}

const repeat = (row: string, n: number): string[] => Array.from({ length: n }, () => row);
const WARPS = ["warp 0", "warp 1", "warp 2", "warp 3"];

export const SKETCHES: Partial<Record<Pattern, Sketch>> = {
  hot: {
    legend: "arrows: transfers of one sector",
    before: {
      picture: { from: WARPS, to: "sector in memory", how: { all: true } },
      note: "every warp fetches the sector for itself",
      code: "for (int k = 0; k < n; k++)\n    sum += A[row * n + k] * b;",
    },
    after: {
      picture: { from: WARPS, to: "sector in memory", how: { via: "tile in shared memory" } },
      note: "the block fetches it once",
      code: "__shared__ float tile[32][32];\nfor (int k0 = 0; k0 < n; k0 += 32) {\n    tile[ty][tx] = A[row * n + k0 + tx];\n    __syncthreads();\n    for (int k = 0; k < 32; k++)\n        sum += tile[ty][k] * b;\n    __syncthreads();\n}",
    },
  },
  "hot-random": {
    legend: "a row is a sector; blue: the words that one request takes",
    before: {
      picture: {
        grid: ["- - x! - - - - -", "- - - - - - x! -", "x! - - - - - - -", "- - - - x! - - -"],
      },
      note: "each lane takes another sector",
      code: "y = x[index[i]]; // any order",
    },
    after: {
      picture: { grid: ["x! x! x! x! - - - -", ...repeat("- - - - - - - -", 3)] },
      note: "neighbours gather neighbours",
      code: "// sort or renumber once:\n// index[i] close to index[i + 1]\ny = x[index[i]];",
    },
  },
  "false-sharing": {
    legend: "a row is a sector; numbers: the warp that uses the word",
    before: {
      picture: { grid: repeat("0 1 2 3 4 5 6 7", 4) },
      note: "a sector moves once for every warp",
      code: "int row = … threadIdx.x; // lanes: rows\nint col = … threadIdx.y; // warps: columns\nC[row * n + col] = sum;",
    },
    after: {
      picture: {
        grid: ["0 0 0 0 0 0 0 0", "1 1 1 1 1 1 1 1", "2 2 2 2 2 2 2 2", "3 3 3 3 3 3 3 3"],
      },
      note: "a sector moves once",
      code: "int row = … threadIdx.y; // warps: rows\nint col = … threadIdx.x; // lanes: columns\nC[row * n + col] = sum;",
    },
  },
  misaligned: {
    legend: "a row is a sector; blue: the words of one request",
    before: {
      picture: {
        grid: [
          "- - - - - x! x! x!",
          ...repeat("x! x! x! x! x! x! x! x!", 3),
          "x! x! x! x! x! - - -",
        ],
      },
      note: "five sectors; the first and last also serve the neighbouring warps",
      code: "int pitch = 1021; // elements\nx[row * pitch + i]",
    },
    after: {
      picture: { grid: [...repeat("x! x! x! x! x! x! x! x!", 4), "- - - - - - - -"] },
      note: "four sectors",
      code: "int pitch = 1024; // a multiple of 8\nx[row * pitch + i]",
    },
  },
  strided: {
    legend: "a row is a sector; blue: used, orange: moved for nothing",
    before: {
      picture: { grid: repeat("m! x y z a b c d", 4) },
      note: "one word of each sector is ever used",
      code: "struct particle { float m, x, y, z, … };\nmass = p[i].m;",
    },
    after: {
      picture: { grid: ["m! m! m! m! m! m! m! m!", ...repeat("- - - - - - - -", 3)] },
      note: "all words of a sector are used",
      code: "struct particles { float *m, *x, *y, *z, … };\nmass = p.m[i];",
    },
  },
  uncoalesced: {
    legend: "a row is a sector; blue: the words of one request",
    before: {
      picture: { grid: repeat("x! x x x x x x x", 4) },
      note: "a chunk for each thread: each lane takes another sector",
      code: "int first = thread * 8;\nfor (int i = first; i < first + 8; i++)\n    z[i] = x[i] + y[i];",
    },
    after: {
      picture: { grid: ["x! x! x! x! x! x! x! x!", ...repeat("- - - - - - - -", 3)] },
      note: "neighbouring lanes, neighbouring words",
      code: "for (int i = thread; i < n; i += threads)\n    z[i] = x[i] + y[i];",
    },
  },
  divergent: {
    legend: "a row is a sector, a list of one lane; blue: the words of one request",
    before: {
      picture: {
        grid: ["x x x x! x x x x", "x x x x x x x x", "x x x x x x x x", "x x x x x! x x x"],
      },
      note: "two lanes insert, the others wait",
      code: "float *list = best + point * 8;\nfor (; list[at - 1] > d; at--)\n    list[at] = list[at - 1];",
    },
    after: {
      picture: { from: ["lane 0", "lane 1", "lane 2"], to: "registers", how: { own: true } },
      note: "all lanes do the same, without a trip",
      code: "for (int j = 0; j < 8; j++) // unrolled\n    order(&list[j], &d);",
    },
  },
  "local-memory": {
    legend: "arrows: trips to local memory, through the L1 cache",
    before: {
      picture: {
        from: ["thread 0", "thread 1", "thread 2"],
        to: "local memory",
        how: { all: true },
      },
      note: "an index that the compiler does not know",
      code: "float list[8];\nfor (int k = 0; k < keep; k++)\n    sum += list[k];",
    },
    after: {
      picture: { from: ["thread 0", "thread 1", "thread 2"], to: "registers", how: { own: true } },
      note: "every index is a constant: no trip at all",
      code: "float list[8];\n#pragma unroll\nfor (int k = 0; k < 8; k++)\n    sum += list[k];",
    },
  },
  "same-address": {
    legend: "arrows: atomic updates, which wait for each other where they meet",
    before: {
      picture: { from: ["lane 0", "lane 1", "lane 2"], to: "one word", how: { all: true } },
      note: "each lane's update waits for those before it",
      code: "atomicAdd(&sum, x);",
    },
    after: {
      picture: {
        from: ["lane 0", "lane 1", "lane 2"],
        to: "one word",
        how: { via: "sum of the warp" },
      },
      note: "one update for all of them",
      code: "x = __reduce_add_sync(0xffffffff, x);\nif (lane == 0)\n    atomicAdd(&sum, x);",
    },
  },
  "scattered-atomics": {
    legend: "arrows: atomic updates of device memory, carried out in the L2 cache",
    before: {
      picture: { from: WARPS, to: "bins in memory", how: { all: true } },
      note: "each lane's update goes to the L2 cache, and meets others there",
      code: "atomicAdd(&bins[x[i]], 1);",
    },
    after: {
      picture: { from: WARPS, to: "bins in memory", how: { via: "bins of the block" } },
      note: "a copy in shared memory, added up once",
      code: "__shared__ unsigned own[256]; // all 0\n__syncthreads();\natomicAdd(&own[x[i]], 1);\n__syncthreads();\n// at the end, once a bin:\natomicAdd(&bins[b], own[b]);",
    },
  },
  "shared-thread-local": {
    legend: "arrows: accesses to shared memory",
    before: {
      picture: {
        from: ["thread 0", "thread 1", "thread 2"],
        to: "shared array",
        how: { all: true },
      },
      note: "nobody else reads it",
      code: "__shared__ float part[128];\npart[threadIdx.x] += v[i];",
    },
    after: {
      picture: { from: ["thread 0", "thread 1", "thread 2"], to: "registers", how: { own: true } },
      note: "no trip at all",
      code: "float part = 0;\npart += v[i];",
    },
  },
  "shared-warp-local": {
    legend: "arrows: accesses to shared memory",
    before: {
      picture: { from: ["lane 0", "lane 1", "lane 2"], to: "shared array", how: { all: true } },
      note: "the lanes of one warp talk through shared memory",
      code: "if (lane == 0)\n    total[warp] = count;\n__syncthreads();\nint t = total[warp];",
    },
    after: {
      picture: { from: ["lane 0", "lane 1", "lane 2"], to: "shuffle", how: { exchange: true } },
      note: "they hand it over directly",
      code: "int t = __shfl_sync(0xffffffff, count, 0);",
    },
  },
  "bank-conflict": {
    legend: "columns are banks (8 of 32 drawn); blue: the words of one request",
    before: {
      picture: { grid: repeat("x! - - - - - - -", 5) },
      note: "a column is one bank: a wavefront for each lane",
      code: "__shared__ float tile[32][32];\nv = tile[threadIdx.x][j];",
    },
    after: {
      picture: {
        grid: [
          "x! - - - - - - -",
          "- x! - - - - - -",
          "- - x! - - - - -",
          "- - - x! - - - -",
          "- - - - x! - - -",
        ],
      },
      note: "padded: all lanes in one wavefront",
      code: "__shared__ float tile[32][33];\nv = tile[threadIdx.x][j];",
    },
  },
};

/** Of uncoalesced requests that are pieces of rows. */
const NARROW_BLOCK: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: {
    picture: {
      grid: Array.from({ length: 4 }, () => ["- - - - - x! x! x!", "x! x! x! x! x! - - -"]).flat(),
    },
    note: "pieces of four rows, two sectors each",
    code: "dim3 block(8, 32);\ndim3 grid((w + 7) / 8, (h + 31) / 32);",
  },
  after: {
    picture: {
      grid: [
        "- - - - - x! x! x!",
        ...repeat("x! x! x! x! x! x! x! x!", 3),
        "x! x! x! x! x! - - -",
        ...repeat("- - - - - - - -", 3),
      ],
    },
    note: "one row, five sectors",
    code: "dim3 block(32, 8);\ndim3 grid((w + 31) / 32, (h + 7) / 8);",
  },
};

/** Where lanes run along the rows of one array and across those of another. */
const TILES: Sketch = {
  legend: "a row is a sector of what is stored; numbers: the warp that uses the word",
  before: {
    picture: { grid: repeat("0 1 2 3 4 5 6 7", 4) },
    note: "lanes run along rows of in, and across rows of out",
    code: "out[x * n + y] = in[y * n + x];",
  },
  after: {
    picture: {
      grid: ["0 0 0 0 0 0 0 0", "1 1 1 1 1 1 1 1", "2 2 2 2 2 2 2 2", "3 3 3 3 3 3 3 3"],
    },
    note: "lanes run along rows of both",
    code: "__shared__ float tile[32][33];\ntile[ty][tx] = in[y * n + x];\n__syncthreads();\nout[(x0 + ty) * n + y0 + tx] = tile[tx][ty];",
  },
};

/** Neighbouring elements one after the other: no alignment suits all of them. */
const STENCIL: Sketch = {
  legend: "a row is a sector; blue: the words of one request, of three",
  before: {
    picture: {
      grid: ["- - - - - - - x!", ...repeat("x! x! x! x! x! x! x! x!", 3), "x! x! x! x! x! x! x! -"],
    },
    note: "three requests for nearly the same data; two of them need a fifth sector",
    code: "sum = a[i - 1] + a[i] + a[i + 1];",
  },
  after: {
    picture: { grid: [...repeat("x! x! x! x! x! x! x! x!", 4), "- - - - - - - -"] },
    note: "one request of four sectors; the edges come besides",
    code: "__shared__ float part[256 + 2];\nint t = threadIdx.x;\npart[t + 1] = a[i];\nif (t < 2) // the edges\n    part[t * 257] = a[i - t - 1 + t * 257];\n__syncthreads();\nsum = part[t] + part[t + 1] + part[t + 2];",
  },
};

/** All accesses begin equally far after a boundary. */
const SHIFTED: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: {
    picture: SKETCHES.misaligned?.before.picture ?? { grid: [] },
    note: "five sectors; the first and last also serve the neighbouring warps",
    code: "float *x = pool + 5; // elements",
  },
  after: {
    picture: SKETCHES.misaligned?.after.picture ?? { grid: [] },
    note: "four sectors",
    code: "float *x = pool + 8; // a multiple of 8",
  },
};

/** Of a sum in shared memory. */
const SUM: Sketch = {
  legend: "columns are threads (8 of 32 drawn), a row is a warp; blue: those that add",
  before: {
    picture: { grid: repeat("x! - x! - x! - x! -", 4) },
    note: "every warp goes through the step, with half of its lanes",
    code: "for (int d = 1; d < n; d *= 2) {\n    if (t % (2 * d) == 0)\n        s[t] += s[t + d];\n    __syncthreads();\n}",
  },
  after: {
    picture: {
      grid: [...repeat("x! x! x! x! x! x! x! x!", 2), ...repeat("- - - - - - - -", 2)],
    },
    note: "whole warps add, the others do nothing",
    code: "for (int d = n / 2; d >= 64; d /= 2) {\n    if (t < d)\n        s[t] += s[t + d];\n    __syncthreads();\n}\n// one warp adds the last 64 values by shuffles",
  },
};

/** Columns of a matrix. */
const TRANSPOSED: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: {
    picture: { grid: repeat("x! x x x x x x x", 4) },
    note: "lanes take a column: one word of each sector",
    code: "x = a[threadIdx.x * n + k];",
  },
  after: {
    picture: { grid: ["x! x! x! x! x! x! x! x!", ...repeat("- - - - - - - -", 3)] },
    note: "lanes run along a row",
    code: "x = transposed[k * n + threadIdx.x];",
  },
};

/** Lanes that took a column take a row: the same elements, by other threads. */
const ALONG: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: {
    picture: { grid: repeat("x! x x x x x x x", 4) },
    note: "lanes take a column: one word of each sector",
    code: "int row = … threadIdx.x; // lanes: rows\nint col = … blockIdx.x;\nx = a[row * n + col];",
  },
  after: {
    picture: { grid: ["x! x! x! x! x! x! x! x!", ...repeat("- - - - - - - -", 3)] },
    note: "lanes run along a row",
    code: "int row = … blockIdx.x;\nint col = … threadIdx.x; // lanes: columns\nx = a[row * n + col];",
  },
};

/** A row for each thread, as far as it goes through the row by itself. */
const OWN_ROWS: Side = {
  picture: { grid: repeat("x! x x x x x x x", 4) },
  note: "a row for each thread: each lane takes another sector",
  code: "for (int k = 0; k < n; k++)\n    sum += a[thread * n + k];",
};

const SHARED_ROWS: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: OWN_ROWS,
  after: {
    picture: { grid: ["x! x! x! x! x! x! x! x!", ...repeat("- - - - - - - -", 3)] },
    note: "a row for each warp: its lanes run along it",
    code: "for (int k = lane; k < n; k += 32)\n    sum += a[warp * n + k];\nfor (int d = 16; d > 0; d /= 2)\n    sum += __shfl_down_sync(~0u, sum, d);",
  },
};

const TILES_OF_ROWS: Sketch = {
  legend: "a row is a sector; blue: the words of one request",
  before: OWN_ROWS,
  after: {
    picture: { grid: ["x! x! x! x! x! x! x! x!", ...repeat("- - - - - - - -", 3)] },
    note: "lanes run along rows; each thread reads its row from the tile",
    code: "__shared__ float tile[32][33];\nfor (int k0 = 0; k0 < n; k0 += 32) {\n    for (int r = 0; r < 32; r++)\n        tile[r][lane] = a[(first + r) * n + k0 + lane];\n    __syncthreads();\n    for (int k = 0; k < 32; k++)\n        sum += tile[lane][k];\n    __syncthreads();\n}",
  },
};

type Drawn = Partial<Record<Pattern | "all", Sketch | undefined>>;

/** What draws a remedy: of findings of one pattern, or of all. None where a sketch would show something else. */
const DRAWN: Partial<Record<Remedy, Drawn>> = {
  "swap-indices": { all: SKETCHES["false-sharing"] },
  "widen-blocks": { all: NARROW_BLOCK },
  "pad-shared-array": { all: SKETCHES["bank-conflict"] },
  "stage-in-shared-memory": { hot: SKETCHES.hot, "hot-random": SKETCHES.hot, misaligned: STENCIL },
  "let-lanes-take-neighbours": {
    "false-sharing": SKETCHES["false-sharing"],
    uncoalesced: SKETCHES.uncoalesced,
  },
  "work-together": { all: SKETCHES.divergent },
  "renumber-index": { all: SKETCHES["hot-random"] },
  "transpose-data": { all: TRANSPOSED },
  "run-along-rows": { all: ALONG },
  "share-rows": { all: SHARED_ROWS },
  "pass-tiles-through-shared-memory": { all: TILES, uncoalesced: TILES_OF_ROWS },
  "pad-rows": { all: SKETCHES.misaligned },
  align: { all: SHIFTED },
  "split-records": { all: SKETCHES.strided },
  "combine-atomics": { "same-address": SKETCHES["same-address"] },
  "add-up-in-whole-warps": { all: SUM },
  "private-copies": { "scattered-atomics": SKETCHES["scattered-atomics"] },
  "keep-in-registers": { all: SKETCHES["shared-thread-local"] },
  "exchange-by-shuffles": { all: SKETCHES["shared-warp-local"] },
  "keep-out-of-local-memory": { all: SKETCHES["local-memory"] },
};

type Advised = Pick<Finding, "pattern" | "remedies">;

/** By what is advised; by the pattern where nothing is. */
export const sketchOf = (f: Advised): Sketch | undefined => {
  const remedy = f.remedies?.[0];
  if (!remedy) return SKETCHES[f.pattern];
  const drawn = DRAWN[remedy.name];
  return drawn?.[f.pattern] ?? drawn?.all;
};
