import { joined, joined64 } from "./columns";
import type { Column, HeatMap } from "./payload";

export const WORDS = 8;
export const PLANES = WORDS + 1; // the words, and the sector as a whole
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

/** A heat map's runs with their places. Made in a worker, so it holds nothing but numbers. */
export interface HeatTable {
  runs: number;
  first: Float64Array; // the run's first sector, counted from the object's start
  repeat: Uint32Array; // its sectors
  word: Uint32Array; // 8 planes: the warps that touched word 0, 1, ...; empty where the report only tells how many
  history: Uint32Array; // the warps that touched the sector; as `word`
  reads: Uint32Array;
  writes: Uint32Array;
  atomics: Uint32Array;
  owner: Uint16Array;
  pcset: Uint16Array;
  warmth: Uint8Array; // 9 planes: temperatures of the words, then of the sector
}

function places(map: HeatMap, skip: Float64Array, repeat: Uint32Array): Float64Array {
  const first = new Float64Array(map.rows);
  let at = map.first_sector;
  for (let i = 0; i < map.rows; i++) {
    at += skip[i] as number;
    first[i] = at;
    at += repeat[i] as number;
  }
  return first;
}

/** Undoes the difference from word to word, in place. */
function wordsOf(words: Uint32Array, runs: number): Uint32Array {
  for (let i = runs; i < words.length; i++) {
    words[i] = (words[i] as number) ^ (words[i - runs] as number);
  }
  return words;
}

function anyWord(words: Uint32Array, runs: number): Uint32Array {
  const history = words.slice(0, runs);
  for (let w = 1; w < WORDS; w++) {
    for (let i = 0; i < runs; i++) {
      history[i] = (history[i] as number) | (words[w * runs + i] as number);
    }
  }
  return history;
}

function temperatures(words: Uint32Array, history: Uint32Array): Uint8Array {
  const warmth = new Uint8Array(words.length + history.length);
  for (let i = 0; i < words.length; i++) warmth[i] = popcount(words[i] as number);
  for (let i = 0; i < history.length; i++) {
    warmth[words.length + i] = popcount(history[i] as number);
  }
  return warmth;
}

/** Reads a map's columns from its unpacked part. */
export function heatTable(bytes: ArrayBuffer, map: HeatMap): HeatTable {
  const section = new Uint8Array(bytes);
  const runs = map.rows;
  const c = map.columns;
  const long = (column: Column) => joined(section, column, new Uint32Array(runs));
  const short = (column: Column) => joined(section, column, new Uint16Array(runs));
  const repeat = long(c.repeat);
  const raw = c.word ? joined(section, c.word, new Uint32Array(WORDS * runs)) : new Uint32Array(0);
  const word = wordsOf(raw, runs);
  const history = anyWord(word, c.word ? runs : 0);
  return {
    runs,
    first: places(map, joined64(section, c.skip), repeat),
    repeat,
    word,
    history,
    reads: long(c.reads),
    writes: long(c.writes),
    atomics: long(c.atomics),
    owner: short(c.owner),
    pcset: short(c.pcset),
    warmth: c.warmth
      ? joined(section, c.warmth, new Uint8Array(PLANES * runs))
      : temperatures(word, history),
  };
}

/** The arrays' memory, to hand a table from a worker to the page without copying. */
export const buffersOf = (t: HeatTable): ArrayBuffer[] =>
  Object.values(t)
    .filter((v) => ArrayBuffer.isView(v))
    .map((v) => v.buffer as ArrayBuffer);

/** How many warps touched a plane of a run. */
export const warmthOf = (t: HeatTable, run: number, plane: number): number =>
  t.warmth[plane * t.runs + run] ?? 0;

/** The warps that touched a plane of a run: a word, or 8 for the sector. */
export const warpsOf = (t: HeatTable, run: number, plane: number): number =>
  (plane === WORDS ? t.history[run] : t.word[plane * t.runs + run]) ?? 0;

const endOf = (t: HeatTable, run: number): number =>
  (t.first[run] as number) + (t.repeat[run] as number);

/** The first run that ends behind a sector; `runs` where none does. */
export function runFrom(t: HeatTable, sector: number): number {
  let low = 0;
  let high = t.runs;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (endOf(t, mid) <= sector) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** The run that holds a sector, or -1; looks from `run` on. */
export function runAt(t: HeatTable, sector: number, run = runFrom(t, sector)): number {
  let at = run;
  while (at < t.runs && endOf(t, at) <= sector) at++;
  return at < t.runs && (t.first[at] as number) <= sector ? at : -1;
}

/** The sector behind the last one that was touched. */
export const lastSector = (t: HeatTable): number => (t.runs > 0 ? endOf(t, t.runs - 1) : 0);
