import { COUNTED, type CourseData, NONE } from "./course";

/** Bytes in use after each operation on one device, and the first operation at the peak. */
export interface Curve {
  bytes: Float64Array;
  peak: number;
  moment: number; // NONE where nothing is in use
}

/** An object as it lives with changes made. */
interface Changed {
  bytes: Float64Array;
  begin: Float64Array;
  end: Float64Array;
  leftOut: Uint8Array;
  reuses: Uint32Array;
  reusedBy: Uint32Array;
}

/** The first operation at which the change takes nothing any more, and the first from which on it does again. */
export function boundsOf(d: CourseData, hit: number): [number, number] {
  const { hits, lives, ops } = d;
  const object = hits.object[hit] as number;
  const from = hits.from[hit] as number;
  const to = hits.to[hit] as number;
  return [
    from === NONE ? (lives.begin[object] as number) : from + 1,
    to === NONE ? Math.min(lives.end[object] as number, ops.count) : to,
  ];
}

function unchanged(d: CourseData): Changed {
  const { lives, ops } = d;
  return {
    bytes: lives.bytes.slice(),
    begin: Float64Array.from(lives.begin, (b) => Math.min(b, ops.count)),
    end: Float64Array.from(lives.end, (e) => Math.min(e, ops.count)),
    leftOut: new Uint8Array(lives.count),
    reuses: new Uint32Array(lives.count).fill(NONE),
    reusedBy: new Uint32Array(lives.count).fill(NONE),
  };
}

/** The rules of src/analysis/objects/savings.c. */
function changed(d: CourseData, made: Uint8Array): Changed {
  const c = unchanged(d);
  for (let hit = 0; hit < d.hits.count; hit++) {
    if (!made[hit]) continue;
    const object = d.hits.object[hit] as number;
    const other = d.hits.other[hit] as number;
    const [from, to] = boundsOf(d, hit);
    switch (d.row.changes[d.hits.change[hit] as number]?.effect) {
      case "later":
        c.begin[object] = to;
        break;
      case "sooner":
        if (d.hits.from[hit] !== NONE) c.end[object] = from;
        break;
      case "left-out":
        c.leftOut[object] = 1;
        break;
      case "smaller":
        c.bytes[object] = d.hits.bytes[hit] as number;
        break;
      case "reuse":
        c.reuses[object] = other;
        c.reusedBy[other] = object;
        break;
    }
  }
  return c;
}

/** Adds bytes to all operations from one up to another; the sums come later. */
function add(steps: Float64Array, from: number, to: number, bytes: number): void {
  if (from >= to) return;
  steps[from] = (steps[from] as number) + bytes;
  steps[to] = (steps[to] as number) - bytes;
}

/** What an object takes with all that live in its memory: the larger size, from the first allocation to the last free. */
function addOwner(c: Changed, owner: number, steps: Float64Array): void {
  let begin = c.begin[owner] as number;
  let end = c.end[owner] as number;
  let bytes = c.bytes[owner] as number;
  for (let i = c.reusedBy[owner] as number; i !== NONE; i = c.reusedBy[i] as number) {
    begin = Math.min(begin, c.begin[i] as number);
    end = Math.max(end, c.end[i] as number);
    bytes = Math.max(bytes, c.bytes[i] as number);
  }
  if (!c.leftOut[owner]) add(steps, begin, end, bytes);
}

function takeAway(d: CourseData, c: Changed, hit: number, steps: Float64Array): void {
  const object = d.hits.object[hit] as number;
  const alone = c.reuses[object] === NONE && c.reusedBy[object] === NONE;
  if (c.leftOut[object] || !alone) return;
  const [from, to] = boundsOf(d, hit);
  add(steps, from, to, -(c.bytes[object] as number));
}

function summed(steps: Float64Array, count: number): Curve {
  let peak = 0;
  let moment = NONE;
  for (let i = 0, sum = 0; i < count; i++) {
    sum += steps[i] as number;
    steps[i] = sum;
    if (sum > peak) {
      peak = sum;
      moment = i;
    }
  }
  return { bytes: steps.subarray(0, count), peak, moment };
}

/** Replays the allocations of a device with the changes of some hits made. */
export function replay(d: CourseData, device: number, made: Uint8Array): Curve {
  const c = changed(d, made);
  const steps = new Float64Array(d.ops.count + 1);
  for (let o = 0; o < d.lives.count; o++) {
    const here = d.lives.device[o] === device && ((d.lives.flags[o] as number) & COUNTED) !== 0;
    if (here && c.reuses[o] === NONE) addOwner(c, o, steps);
  }
  for (let hit = 0; hit < d.hits.count; hit++) {
    const away = d.row.changes[d.hits.change[hit] as number]?.effect === "away";
    const here = d.lives.device[d.hits.object[hit] as number] === device;
    if (made[hit] && away && here) takeAway(d, c, hit, steps);
  }
  return summed(steps, d.ops.count);
}

/** The hits that the plan makes. */
export const planned = (d: CourseData): Uint8Array =>
  Uint8Array.from(d.hits.step, (step) => (step > 0 ? 1 : 0));

export const nothing = (d: CourseData): Uint8Array => new Uint8Array(d.hits.count);

/** Whether all hits of a change are made, or some, or none. */
export function madeOf(d: CourseData, change: number, made: Uint8Array): "all" | "some" | "none" {
  const row = d.row.changes[change];
  if (!row) return "none";
  let n = 0;
  for (let i = row.first; i < row.first + row.count; i++) n += made[i] as number;
  return n === row.count ? "all" : n > 0 ? "some" : "none";
}

/** All hits of the change made; undone where they all were. */
export function toggled(d: CourseData, change: number, made: Uint8Array): Uint8Array {
  const row = d.row.changes[change];
  const next = made.slice();
  if (row) next.fill(madeOf(d, change, made) === "all" ? 0 : 1, row.first, row.first + row.count);
  return next;
}

/** Objects that are in use at an operation, the largest first. */
export function aliveAt(d: CourseData, device: number, op: number): number[] {
  const found: number[] = [];
  if (op === NONE) return found;
  for (let o = 0; o < d.lives.count; o++) {
    const here = d.lives.device[o] === device && ((d.lives.flags[o] as number) & COUNTED) !== 0;
    if (here && (d.lives.begin[o] as number) <= op && op < (d.lives.end[o] as number))
      found.push(o);
  }
  return found.sort((a, b) => (d.lives.bytes[b] as number) - (d.lives.bytes[a] as number));
}
