/** Which pattern of the analysis a stretch of an object looks like, so that a map of very many sectors can be told at first
 * sight. The thresholds are those of src/analysis/thresholds.def, which a test compares. */
import { type HeatTable, PLANES, WORDS } from "./heat";

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

const number = (region: Region): number => REGIONS.indexOf(region);
const [NONE, HOT, FALSE_SHARING, STRIDED] = (
  ["none", "hot", "false-sharing", "strided"] as const
).map(number) as [number, number, number, number];

/** The pattern of a run's sectors, each by itself: at random is a matter of several. */
function patternOf(t: HeatTable, warps: number, run: number): number {
  let hottest = 0;
  let coldest = warps;
  let used = 0;
  for (let w = 0; w < WORDS; w++) {
    const value = t.warmth[w * t.runs + run] as number;
    if (value === 0) continue;
    used++;
    if (value > hottest) hottest = value;
    if (value < coldest) coldest = value;
  }
  const sector = t.warmth[WORDS * t.runs + run] as number;
  if (sector >= 2 && sector >= SHARING_RATIO * hottest) return FALSE_SHARING;
  if (sector >= 2 && coldest >= Math.max(2, Math.ceil(HOT_SHARE * warps))) return HOT;
  return used <= STRIDED_WORDS * WORDS ? STRIDED : NONE;
}

/** How a run's sectors look, as a number: equal for equal ones. */
function shapeOf(t: HeatTable, run: number): number {
  let shape = 0;
  for (let p = 0; p < PLANES; p++) {
    shape = Math.imul(shape, 37) + ((t.warmth[p * t.runs + run] as number) + 1);
  }
  return shape;
}

/** Numbers, and how often each came. */
class Counts {
  private readonly counts = new Map<number, number>();

  add(key: number, n: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + n);
  }

  /** How often the `most` commonest came together. */
  commonest(most: number): number {
    const sorted = [...this.counts.values()].sort((a, b) => b - a);
    return sorted.slice(0, most).reduce((sum, n) => sum + n, 0);
  }
}

/** What the sectors of one stretch have in common. */
class Stretch {
  private touched = 0;
  private last = Number.NaN; // the sector touched before
  private neighbours = 0; // sectors at distance 1 of the one before
  private readonly patterns = new Float64Array(REGIONS.length);
  private readonly shapes = new Counts();
  private readonly distances = new Counts(); // beyond 1

  add(pattern: number, shape: number, first: number, n: number): void {
    this.patterns[pattern] = (this.patterns[pattern] as number) + n;
    this.shapes.add(shape, n);
    this.neighbours += n - 1;
    if (first === this.last + 1) this.neighbours++;
    else if (this.touched > 0) this.distances.add(first - this.last, 1);
    this.touched += n;
    this.last = first + n - 1;
  }

  private isRandom(): boolean {
    const equal = Math.max(this.neighbours, this.distances.commonest(1));
    return (
      this.touched >= FEWEST_SECTORS &&
      (this.shapes.commonest(COMMON_SHAPES) < RANDOM_SHAPES * this.touched ||
        equal < STRIDED_SHARE * (this.touched - 1))
    );
  }

  /** At random first: it is one cause, whatever single sectors look like. */
  region(): Region {
    const part = (pattern: number) => (this.patterns[pattern] as number) / this.touched;
    if (this.touched === 0) return "untouched";
    if (this.isRandom()) return "random";
    if (part(HOT) >= MAP_SHARE) return "hot";
    // Where the parts of two warps meet, a sector of four is shared: that is no pattern.
    if (part(FALSE_SHARING) >= STRIDED_SHARE) return "false-sharing";
    return part(STRIDED) >= STRIDED_SHARE ? "strided" : "none";
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
      const s = Math.min(stretches.length - 1, Math.floor(at / per));
      const to = s === stretches.length - 1 ? end : Math.min(end, Math.ceil((s + 1) * per));
      stretches[s]?.add(pattern, shape, at, to - at);
      at = to;
    }
  }
  const regions = stretches.map((s) => number(s.region()));
  return Uint8Array.from({ length: pixels }, (_, x) => {
    const at = Math.floor(((x + 0.5) * sectors) / pixels / per);
    return regions[Math.min(regions.length - 1, at)] ?? 0;
  });
}
