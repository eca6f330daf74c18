/** Loops in what a warp did, so that a view can show one round of each. */
import type { Operation } from "./types";

/** Operations from `start` up to `end`, of which each round begins at the loop's first instruction. */
export interface Loop {
  start: number;
  end: number;
  rounds: number[]; // where each begins; two at least
  inner: Loop[]; // in order
}

export type Row =
  | { kind: "operation"; index: number; depth: number }
  | { kind: "loop"; loop: Loop; round: number; depth: number };

interface Visit {
  pc: number;
  rounds: number[];
}

/** The last round goes on as long as it does what earlier ones did. */
function endOf(operations: Operation[], rounds: number[]): number {
  const last = rounds[rounds.length - 1] ?? 0;
  const seen = new Set(operations.slice(rounds[0], last).map((o) => o.pc));
  const head = operations[last]?.pc;
  let end = last + 1;
  while (end < operations.length) {
    const { pc } = operations[end] as Operation;
    if (pc === head || !seen.has(pc)) break;
    end++;
  }
  return end;
}

function nested(loops: Loop[]): Loop[] {
  const sorted = [...loops].sort((a, b) => a.start - b.start || b.end - a.end);
  const top: Loop[] = [];
  const open: Loop[] = [];
  for (const loop of sorted) {
    while (open.length > 0 && (open.at(-1) as Loop).end <= loop.start) open.pop();
    (open.at(-1)?.inner ?? top).push(loop);
    open.push(loop);
  }
  return top;
}

/** A loop is where an instruction comes again and none before it, by number, has come in between: calls lead to higher
 * numbers, and lanes that have parted take their ways one after the other. */
export function loopsOf(operations: Operation[]): Loop[] {
  const trail: Visit[] = []; // ascending by pc
  const loops: Loop[] = [];
  const close = (visit: Visit) => {
    const { rounds } = visit;
    if (rounds.length > 1)
      loops.push({ start: rounds[0] as number, end: endOf(operations, rounds), rounds, inner: [] });
  };
  operations.forEach(({ pc }, i) => {
    while (trail.length > 0 && (trail.at(-1) as Visit).pc > pc) close(trail.pop() as Visit);
    const top = trail.at(-1);
    if (top?.pc === pc) top.rounds.push(i);
    else trail.push({ pc, rounds: [i] });
  });
  for (const visit of trail.reverse()) close(visit);
  return nested(loops);
}

/** The loops around an operation, the outermost first. */
export function loopsAround(loops: Loop[], index: number): Loop[] {
  const loop = loops.find((l) => index >= l.start && index < l.end);
  return loop ? [loop, ...loopsAround(loop.inner, index)] : [];
}

/** Which round of the loop the operation is in. */
export function roundAt(loop: Loop, index: number): number {
  let round = 0;
  while (round + 1 < loop.rounds.length && (loop.rounds[round + 1] as number) <= index) round++;
  return round;
}

export const roundEnd = (loop: Loop, round: number): number => loop.rounds[round + 1] ?? loop.end;

/** What to show: each operation, or of loops one round, which `chosen` has by the loop's start. */
export function rowsOf(count: number, loops: Loop[], chosen: Map<number, number>): Row[] {
  const rows: Row[] = [];
  const emit = (from: number, to: number, inside: Loop[], depth: number): void => {
    const next = inside.filter((l) => l.start >= from && l.end <= to);
    for (let i = from, n = 0; i < to; ) {
      const loop = next[n];
      if (loop?.start !== i) {
        rows.push({ kind: "operation", index: i++, depth });
        continue;
      }
      const round = Math.min(chosen.get(loop.start) ?? 0, loop.rounds.length - 1);
      rows.push({ kind: "loop", loop, round, depth });
      emit(loop.rounds[round] as number, roundEnd(loop, round), loop.inner, depth + 1);
      i = loop.end;
      n++;
    }
  };
  emit(0, count, loops, 0);
  return rows;
}
