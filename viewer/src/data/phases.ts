import { joined } from "./columns";
import { unpack } from "./decode";
import { ranges } from "./heat";
import type { Model } from "./model";
import type { Phases } from "./payload";

export const BANKS = 32;
export const BLOCK_END = 0xffffffff;

/** Where a live range's first value came from; the numbers are the profile's. */
export const ORIGINS = [
  { name: "unfilled", words: "not stored to by the block" },
  { name: "loaded", words: "filled from device memory" },
  { name: "copied", words: "filled by an asynchronous copy" },
  { name: "computed", words: "computed" },
  { name: "somehow", words: "stored; from where is not known" },
] as const;

/** What sampled blocks do to an array: runs of words that fare alike, phase after phase. */
export interface PhaseData {
  row: Phases;
  start: Uint32Array; // the first run of each phase, and the number of runs
  end: Uint32Array; // pc of the barrier that ends a phase; BLOCK_END
  first: Uint32Array; // word of a run
  repeat: Uint32Array;
  loads: Uint32Array;
  stores: Uint32Array;
  atomics: Uint32Array;
  readers: Uint32Array; // bit w: warp w
  writers: Uint32Array;
  pcset: Uint32Array;
  begun: Uint32Array; // ranges
  accesses: Uint32Array; // in the range at the phase's end
  origin: Uint8Array;
  updated: Uint8Array;
}

function startsOf(size: Uint32Array): Uint32Array {
  const start = new Uint32Array(size.length + 1);
  for (let i = 0; i < size.length; i++) start[i + 1] = (start[i] as number) + (size[i] as number);
  return start;
}

export function phaseData(bytes: ArrayBuffer, row: Phases): PhaseData {
  const section = new Uint8Array(bytes);
  const c = row.columns;
  const long = (column: [number, number]) => joined(section, column, new Uint32Array(column[1]));
  const byte = (column: [number, number]) => joined(section, column, new Uint8Array(column[1]));
  return {
    row,
    start: startsOf(long(c.size)),
    end: long(c.end),
    first: long(c.first),
    repeat: long(c.repeat),
    loads: long(c.loads),
    stores: long(c.stores),
    atomics: long(c.atomics),
    readers: long(c.readers),
    writers: long(c.writers),
    pcset: long(c.pcset),
    begun: long(c.begun),
    accesses: long(c.accesses),
    origin: byte(c.origin),
    updated: byte(c.updated),
  };
}

const loaded = new WeakMap<Phases, Promise<PhaseData>>();

/** Unpacked when it is first asked for. */
export function loadPhases(m: Model, row: Phases): Promise<PhaseData> {
  const known = loaded.get(row);
  if (known) return known;
  const data = unpack(m.report.parts[row.part] ?? "").then((bytes) => phaseData(bytes, row));
  loaded.set(row, data);
  return data;
}

/** The run that tells of each word at the end of a phase, -1 where nothing accessed it until then. */
export function runsAt(d: PhaseData, phase: number): Int32Array {
  const at = new Int32Array(d.row.words).fill(-1);
  const end = d.start[phase + 1] as number;
  for (let run = 0; run < end; run++) {
    const first = d.first[run] as number;
    at.fill(run, first, first + (d.repeat[run] as number));
  }
  return at;
}

/** Whether the run is of the phase, and not of one before. */
export const isOf = (d: PhaseData, phase: number, run: number): boolean =>
  run >= (d.start[phase] as number) && run < (d.start[phase + 1] as number);

/** How a word's current range is doing: how often it was accessed since its fill, in classes. */
export const LEVELS = ["0", "1", "2–3", "4–15", "16 and more"];
export function level(accesses: number): number {
  if (accesses < 2) return accesses;
  return accesses < 4 ? 2 : accesses < 16 ? 3 : 4;
}

/** A phase in which a word is accessed. */
export interface WordPhase {
  phase: number;
  run: number;
}

export function phasesOf(d: PhaseData, word: number): WordPhase[] {
  const found: WordPhase[] = [];
  for (let phase = 0; phase < d.row.phases; phase++) {
    for (let run = d.start[phase] as number; run < (d.start[phase + 1] as number); run++) {
      const first = d.first[run] as number;
      if (word >= first && word < first + (d.repeat[run] as number)) found.push({ phase, run });
    }
  }
  return found;
}

/** A live range of a word. What several ranges of one phase did apart is known of the last one only. */
export interface WordRange {
  from: number; // phase
  to: number; // the last one that accesses it
  origin: number;
  accesses: number;
  updated: boolean;
  warps: string; // that stored the first value
  others: number; // ranges that began and ended in phase `from`
  alike: number; // ranges side by side that are like this one, which are told of as one
}

export function rangesOf(d: PhaseData, word: number): WordRange[] {
  const found: WordRange[] = [];
  for (const { phase, run } of phasesOf(d, word)) {
    const begun = d.begun[run] as number;
    if (begun > 0 || found.length === 0) {
      found.push({
        from: phase,
        to: phase,
        origin: d.origin[run] as number,
        accesses: 0,
        updated: false,
        warps: begun > 0 ? ranges(d.writers[run] as number) : "",
        others: Math.max(0, begun - 1),
        alike: 1,
      });
    }
    const last = found[found.length - 1] as WordRange;
    last.to = phase;
    last.accesses = d.accesses[run] as number;
    last.updated = d.updated[run] === 1;
  }
  return found;
}

const areAlike = (a: WordRange, b: WordRange): boolean =>
  a.origin === b.origin &&
  a.accesses === b.accesses &&
  a.updated === b.updated &&
  a.warps === b.warps &&
  a.others === b.others;

/** Puts ranges side by side that are alike together. */
export function grouped(all: WordRange[]): WordRange[] {
  const groups: WordRange[] = [];
  for (const range of all) {
    const last = groups[groups.length - 1];
    if (last && areAlike(last, range)) {
      last.to = range.to;
      last.alike++;
    } else groups.push({ ...range });
  }
  return groups;
}

/** What instructions with one key do in a phase. */
export interface PhaseLine {
  pc: number; // the first of them
  words: number; // that they access
}

export interface PhaseSum {
  stored: number; // words
  read: number;
  loads: number; // accesses
  stores: number;
  atomics: number;
  readers: number;
  writers: number;
  lines: PhaseLine[];
}

/** `keyOf`: instructions of one key are told of together, as those that an unrolled loop makes of one line. */
export function sumOf(d: PhaseData, phase: number, keyOf: (pc: number) => string): PhaseSum {
  const sum: PhaseSum = {
    stored: 0,
    read: 0,
    loads: 0,
    stores: 0,
    atomics: 0,
    readers: 0,
    writers: 0,
    lines: [],
  };
  const lines = new Map<string, PhaseLine>();
  for (let run = d.start[phase] as number; run < (d.start[phase + 1] as number); run++) {
    const n = d.repeat[run] as number;
    sum.stored += d.writers[run] ? n : 0;
    sum.read += d.readers[run] ? n : 0;
    sum.loads += n * (d.loads[run] as number);
    sum.stores += n * (d.stores[run] as number);
    sum.atomics += n * (d.atomics[run] as number);
    sum.readers |= d.readers[run] as number;
    sum.writers |= d.writers[run] as number;
    const pcs = d.row.pcsets[d.pcset[run] as number] ?? [];
    for (const [key, pc] of new Map([...pcs].reverse().map((pc) => [keyOf(pc), pc] as const))) {
      const line = lines.get(key) ?? { pc, words: 0 };
      line.words += n;
      lines.set(key, line);
    }
  }
  sum.lines = [...lines.values()].sort((a, b) => a.pc - b.pc);
  return sum;
}
