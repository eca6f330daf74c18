/** Where the parts of the picture of one request lie. */
import type { Asked, Transaction } from "./transactions";
import { lanesOf } from "./transactions";

/** Bytes that follow each other without a gap, drawn in one colour. */
export interface Range {
  begin: number;
  end: number;
}

/** A range for each run of transactions that touch or repeat each other, in order of address. */
export function rangesOf(transactions: Transaction[]): Range[] {
  const sorted = [...transactions].sort((a, b) => a.address - b.address);
  const ranges: Range[] = [];
  for (const t of sorted) {
    const last = ranges[ranges.length - 1];
    if (last && t.address <= last.end) last.end = Math.max(last.end, t.address + t.size);
    else ranges.push({ begin: t.address, end: t.address + t.size });
  }
  return ranges;
}

export const rangeOf = (ranges: Range[], address: number): number =>
  ranges.findIndex((r) => address >= r.begin && address < r.end);

/** Addresses on an axis: ranges as long as they are, with a gap between them. */
export interface Axis {
  ranges: Range[];
  scale: number; // pixels a byte
  gap: number;
  height: number;
}

export function axisOf(ranges: Range[], height: number): Axis {
  const bytes = ranges.reduce((sum, r) => sum + r.end - r.begin, 0);
  const gap = ranges.length > 1 ? Math.min(18, (height * 0.3) / (ranges.length - 1)) : 0;
  return { ranges, scale: (height - gap * (ranges.length - 1)) / Math.max(1, bytes), gap, height };
}

export function placeOf(axis: Axis, address: number): number {
  let y = 0;
  for (const r of axis.ranges) {
    if (address < r.end) return y + (address - r.begin) * axis.scale;
    y += (r.end - r.begin) * axis.scale + axis.gap;
  }
  return y;
}

/** Runs of bytes that lanes take, from and to within the transaction. */
export function runsOf(taken: boolean[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  taken.forEach((on, i) => {
    const last = runs[runs.length - 1];
    if (on && last && last[1] === i) last[1] = i + 1;
    else if (on) runs.push([i, i + 1]);
  });
  return runs;
}

/** What a lane takes of a transaction. */
export interface Piece {
  lane: number;
  from: number; // address
  to: number;
}

const WORD = 4;

/** A lane's bytes as the memory has them: of local memory words lie apart. */
function bytesOf(asked: Asked, lane: number): [number, number][] {
  const first = asked.addresses[lane] ?? Number.NaN;
  if (asked.space !== "local") return [[first, first + asked.bytes]];
  const places: [number, number][] = [];
  for (let at = first; at < first + asked.bytes; ) {
    const next = Math.min(Math.floor(at / WORD) * WORD + WORD, first + asked.bytes);
    const place = Math.floor(at / WORD) * WORD * 32 + lane * WORD + (at % WORD);
    places.push([place, place + next - at]);
    at = next;
  }
  return places;
}

export const piecesOf = (asked: Asked, t: Transaction): Piece[] =>
  lanesOf(t.lanes).flatMap((lane) =>
    bytesOf(asked, lane)
      .map(([from, to]) => ({
        lane,
        from: Math.max(from, t.address),
        to: Math.min(to, t.address + t.size),
      }))
      .filter((p) => p.from < p.to),
  );
