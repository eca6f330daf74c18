import { f64, type Report, u16, u32 } from "./decode";
import type { HeatMap } from "./payload";

export const WORDS = 8;
export const SECTOR_BYTES = 32;
export const WORD_BYTES = 4;

export function popcount(bits: number): number {
  let v = bits - ((bits >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** The numbers of the set bits as ranges: 0-7, 12. */
export function ranges(bits: number): string {
  const parts: string[] = [];
  for (let i = 0; i < 32; i++) {
    if (!((bits >>> i) & 1)) continue;
    let j = i;
    while (j < 31 && (bits >>> (j + 1)) & 1) j++;
    parts.push(i === j ? `${i}` : `${i}–${j}`);
    i = j;
  }
  return parts.join(", ");
}

export const OWNERS = ["nobody", "one thread", "one warp", "several warps"] as const;

/** A heat map's runs with their places: `first[i]` is the run's first sector, counted from the object's start. */
export interface HeatTable {
  map: HeatMap;
  first: Float64Array;
  repeat: Uint32Array;
  history: Uint32Array;
  word: Uint32Array; // 8 planes
  reads: Uint32Array;
  writes: Uint32Array;
  atomics: Uint32Array;
  owner: Uint16Array;
  pcset: Uint16Array;
}

export function heatTable(report: Report, map: HeatMap): HeatTable {
  const c = map.columns;
  const skip = f64(report, c.skip);
  const repeat = u32(report, c.repeat);
  const first = new Float64Array(map.rows);
  let at = map.first_sector;
  for (let i = 0; i < map.rows; i++) {
    at += skip[i] ?? 0;
    first[i] = at;
    at += repeat[i] ?? 0;
  }
  return {
    map,
    first,
    repeat,
    history: u32(report, c.history),
    word: u32(report, c.word),
    reads: u32(report, c.reads),
    writes: u32(report, c.writes),
    atomics: u32(report, c.atomics),
    owner: u16(report, c.owner),
    pcset: u16(report, c.pcset),
  };
}

export const wordHistory = (t: HeatTable, run: number, word: number): number =>
  t.word[word * t.map.rows + run] ?? 0;

function sameTemperatures(t: HeatTable, a: number, b: number): boolean {
  if (popcount(t.history[a] ?? 0) !== popcount(t.history[b] ?? 0)) return false;
  for (let w = 0; w < WORDS; w++) {
    if (popcount(wordHistory(t, a, w)) !== popcount(wordHistory(t, b, w))) return false;
  }
  return true;
}

/** A row as drawn: consecutive sectors with equal temperatures, or the untouched ones between two runs. */
export interface DisplayRow {
  run: number; // first run; -1 for untouched sectors
  runs: number;
  first: number; // sector
  sectors: number;
}

// Beyond so many rows a browser has no room to scroll; then runs stay together, which loses nothing.
const MOST_ROWS = 200_000;

/** The rows of a map; nothing is drawn before the first sector that was touched. */
export function displayRows(t: HeatTable, collapse: boolean): DisplayRow[] {
  const rows: DisplayRow[] = [];
  const single = !collapse && t.map.sectors <= MOST_ROWS;
  let end = t.first[0] ?? 0;
  for (let i = 0; i < t.map.rows; i++) {
    const first = t.first[i] ?? 0;
    const repeat = t.repeat[i] ?? 0;
    if (first > end) rows.push({ run: -1, runs: 0, first: end, sectors: first - end });
    const last = rows[rows.length - 1];
    if (collapse && last && last.run >= 0 && first === end && sameTemperatures(t, last.run, i)) {
      last.runs++;
      last.sectors += repeat;
    } else if (!single) {
      rows.push({ run: i, runs: 1, first, sectors: repeat });
    } else {
      for (let k = 0; k < repeat; k++) rows.push({ run: i, runs: 1, first: first + k, sectors: 1 });
    }
    end = first + repeat;
  }
  return rows;
}

/** The run that holds a sector, or -1. */
export function runAt(t: HeatTable, sector: number): number {
  let low = 0;
  let high = t.map.rows - 1;
  while (low <= high) {
    const mid = (low + high) >> 1;
    const first = t.first[mid] ?? 0;
    if (sector < first) high = mid - 1;
    else if (sector >= first + (t.repeat[mid] ?? 0)) low = mid + 1;
    else return mid;
  }
  return -1;
}
