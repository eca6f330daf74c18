/** Which pattern of the analysis a stretch of an object looks like, so that a map of very many sectors can be told at first
 * sight. The thresholds are those of src/analysis/thresholds.def, which a test compares. */
import { type HeatTable, PLANES, WORDS, warmthOf } from "./heat";

export const REGIONS = ["untouched", "none", "hot", "false-sharing", "strided", "random"] as const;
export type Region = (typeof REGIONS)[number];

export const HOT_SHARE = 0.5;
export const SHARING_RATIO = 2;
export const STRIDED_WORDS = 0.5;
export const STRIDED_SHARE = 0.5;
export const RANDOM_SHAPES = 0.75;
export const MAP_SHARE = 0.25;
const COMMON_SHAPES = 8; // a constant stride gives at most so many
const FEWEST_SECTORS = 16; // that can be called random
const FEWEST_OF_STRETCH = 64;

/** The pattern of a run's sectors, each by itself: at random is a matter of several. */
function patternOf(t: HeatTable, warps: number, run: number): Region {
  let hottest = 0;
  let coldest = warps;
  let used = 0;
  for (let w = 0; w < WORDS; w++) {
    const value = warmthOf(t, run, w);
    if (value === 0) continue;
    used++;
    hottest = Math.max(hottest, value);
    coldest = Math.min(coldest, value);
  }
  const sector = warmthOf(t, run, WORDS);
  if (sector >= 2 && sector >= SHARING_RATIO * hottest) return "false-sharing";
  if (sector >= 2 && coldest >= Math.max(2, Math.ceil(HOT_SHARE * warps))) return "hot";
  return used <= STRIDED_WORDS * WORDS ? "strided" : "none";
}

/** How a run's sectors look, as a number: equal for equal ones. */
function shapeOf(t: HeatTable, run: number): number {
  let shape = 0;
  for (let p = 0; p < PLANES; p++) shape = Math.imul(shape, 37) + (warmthOf(t, run, p) + 1);
  return shape;
}

const add = <Key>(counts: Map<Key, number>, key: Key, n: number): void => {
  if (n > 0) counts.set(key, (counts.get(key) ?? 0) + n);
};

/** What the sectors of one stretch have in common. */
class Stretch {
  private touched = 0;
  private last = Number.NaN; // the sector touched before
  private readonly patterns = new Map<Region, number>();
  private readonly shapes = new Map<number, number>();
  private readonly distances = new Map<number, number>();

  add(pattern: Region, shape: number, first: number, n: number): void {
    this.touched += n;
    add(this.patterns, pattern, n);
    add(this.shapes, shape, n);
    if (!Number.isNaN(this.last)) add(this.distances, first - this.last, 1);
    add(this.distances, 1, n - 1);
    this.last = first + n - 1;
  }

  private isRandom(): boolean {
    if (this.touched < FEWEST_SECTORS) return false;
    const commonest = (counts: Map<number, number>, n: number) =>
      [...counts.values()]
        .sort((a, b) => b - a)
        .slice(0, n)
        .reduce((sum, count) => sum + count, 0);
    return (
      commonest(this.shapes, COMMON_SHAPES) < RANDOM_SHAPES * this.touched ||
      commonest(this.distances, 1) < STRIDED_SHARE * (this.touched - 1)
    );
  }

  /** At random first: it is one cause, whatever single sectors look like. */
  region(): Region {
    const part = (pattern: Region) => (this.patterns.get(pattern) ?? 0) / this.touched;
    if (this.touched === 0) return "untouched";
    if (this.isRandom()) return "random";
    if (part("hot") >= MAP_SHARE) return "hot";
    // Where the parts of two warps meet, a sector of four is shared: that is no pattern.
    if (part("false-sharing") >= STRIDED_SHARE) return "false-sharing";
    return part("strided") >= STRIDED_SHARE ? "strided" : "none";
  }
}

/** An object of `sectors` in so many pixels: of each the pattern, as its number among REGIONS. */
export function regionsOf(
  t: HeatTable,
  warps: number,
  sectors: number,
  pixels: number,
): Uint8Array {
  const per = Math.max(FEWEST_OF_STRETCH, sectors / pixels);
  const stretches = Array.from({ length: Math.ceil(sectors / per) }, () => new Stretch());
  for (let run = 0; run < t.runs; run++) {
    const pattern = patternOf(t, warps, run);
    const shape = shapeOf(t, run);
    const end = (t.first[run] as number) + (t.repeat[run] as number);
    for (let at = Math.max(0, t.first[run] as number); at < end; ) {
      const number = Math.min(stretches.length - 1, Math.floor(at / per));
      const to =
        number === stretches.length - 1 ? end : Math.min(end, Math.ceil((number + 1) * per));
      stretches[number]?.add(pattern, shape, at, to - at);
      at = to;
    }
  }
  const regions = stretches.map((s) => REGIONS.indexOf(s.region()));
  return Uint8Array.from({ length: pixels }, (_, x) => {
    const at = Math.floor(((x + 0.5) * sectors) / pixels / per);
    return regions[Math.min(regions.length - 1, at)] ?? 0;
  });
}
