/** Which basic blocks of two paths belong together, as src/analysis/explore/align.c has it: a shortest edit script (Myers
 * 1986) in pieces, so that one more iteration does not set all that follows against something else. */
import { Cursor, lengthOf, type Path } from "./path";

/** So many of the first that have a partner each, in order; or of one of them that have none. */
export interface Run {
  a: number;
  b: number; // where it begins in each
  na: number;
  nb: number; // as many of each: partners; one of them 0: what only the other has
}

const MOST = 256; // differences of a piece
const NOWHERE = -1;

class Aligner {
  readonly runs: Run[] = [];
  private readonly furthest: Int32Array; // on diagonal k = x - y, at k + most + 1
  private kept: Int32Array[] = []; // of each number of differences d: those of diagonals -d .. d

  constructor(
    private readonly a: Uint32Array,
    private readonly b: Uint32Array,
    private readonly na: number, // without what both end with
    private readonly nb: number,
    private readonly most: number,
  ) {
    this.furthest = new Int32Array(2 * most + 3);
  }

  add(r: Run): void {
    const last = this.runs.at(-1);
    if (r.na === 0 && r.nb === 0) return;
    const same =
      last &&
      last.na > 0 === r.na > 0 &&
      last.nb > 0 === r.nb > 0 &&
      last.a + last.na === r.a &&
      last.b + last.nb === r.b;
    if (same) {
      last.na += r.na;
      last.nb += r.nb;
    } else this.runs.push(r);
  }

  /** Where the step begins that leads to diagonal k as the last of d differences; `down`: it is one of b. */
  private stepTo(v: Int32Array, zero: number, k: number, d: number, la: number, lb: number) {
    let above = k < d ? (v[zero + k + 1] as number) : NOWHERE;
    let left = k > -d ? (v[zero + k - 1] as number) : NOWHERE;
    if (above - k > lb) above = NOWHERE;
    if (left >= la) left = NOWHERE;
    const down = above > left;
    return { down, from: down ? above : left };
  }

  /** The best way from there with at most `most` differences; gives where it ends. */
  private piece(a0: number, b0: number): [number, number] {
    const { a, b, furthest: v, most } = this;
    const [la, lb, zero] = [this.na - a0, this.nb - b0, most + 1];
    let best = { d: 0, k: 0, x: -1 };
    this.kept = [];
    for (let d = 0, end = false; d <= most && !end; d++) {
      for (let k = -d; k <= d && !end; k += 2) {
        const { down, from } = d > 0 ? this.stepTo(v, zero, k, d, la, lb) : { down: true, from: 0 };
        let x = from === NOWHERE ? NOWHERE : down ? from : from + 1;
        if (x !== NOWHERE) while (x < la && x - k < lb && a[a0 + x] === b[b0 + x - k]) x++;
        v[zero + k] = x;
        if (x === NOWHERE) continue;
        if (2 * x - k > 2 * best.x - best.k) best = { d, k, x };
        end = x === la && x - k === lb;
      }
      this.kept.push(v.slice(zero - d, zero + d + 1));
    }
    this.take(a0, b0, best, la, lb);
    return [a0 + best.x, b0 + best.x - best.k];
  }

  /** Goes back along the way, and adds its runs in order. */
  private take(
    a0: number,
    b0: number,
    end: { d: number; k: number; x: number },
    la: number,
    lb: number,
  ) {
    const steps: Run[] = [];
    let { d, k, x } = end;
    for (; d > 0; d--) {
      const { down, from } = this.stepTo(this.kept[d - 1] as Int32Array, d - 1, k, d, la, lb);
      const after = down ? from : from + 1;
      const before = down ? k + 1 : k - 1;
      steps.push({ a: a0 + after, b: b0 + after - k, na: x - after, nb: x - after });
      steps.push({ a: a0 + from, b: b0 + from - before, na: down ? 0 : 1, nb: down ? 1 : 0 });
      [k, x] = [before, from];
    }
    steps.push({ a: a0, b: b0, na: x, nb: x });
    for (const step of steps.reverse()) this.add(step);
  }

  run(begin: number): void {
    let [a, b] = [begin, begin];
    while (a < this.na && b < this.nb) [a, b] = this.piece(a, b);
    this.add({ a, b, na: this.na - a, nb: 0 });
    this.add({ a: this.na, b, na: 0, nb: this.nb - b });
  }
}

/** Aligns two lists of blocks. */
export function align(a: Uint32Array, b: Uint32Array, most = MOST): Run[] {
  const shorter = Math.min(a.length, b.length);
  let [begin, end] = [0, 0];
  while (begin < shorter && a[begin] === b[begin]) begin++;
  while (end < shorter - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const bound = Math.max(1, Math.min(most, a.length + b.length));
  const aligner = new Aligner(a, b, a.length - end, b.length - end, bound);
  aligner.add({ a: 0, b: 0, na: begin, nb: begin });
  aligner.run(begin);
  aligner.add({ a: a.length - end, b: b.length - end, na: end, nb: end });
  return aligner.runs;
}

/* ---- folded paths ---- */

function divisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b];
  return a;
}

/** After how many visits the parts of both are where they were. */
export const commonRound = (a: Cursor, b: Cursor): number =>
  a.round === b.round ? a.round : (a.round / divisor(a.round, b.round)) * b.round;

function commonBegin(a: Path, b: Path): number {
  const [x, y] = [new Cursor(a, 0), new Cursor(b, 0)];
  let all = 0;
  for (;;) {
    const n = Math.min(x.left, y.left);
    if (n === 0) return all;
    const length = Math.min(n, commonRound(x, y));
    for (let i = 0; i < length; i++) if (x.visit(i).pc !== y.visit(i).pc) return all + i;
    x.goOn(n); // the rounds that are left are like the first
    y.goOn(n);
    all += n;
  }
}

/** The cursor behind the visits before the place; `at`: how many of them are of its part. */
function before(path: Path, index: number): Cursor {
  const c = new Cursor(path, index - 1);
  c.at++;
  return c;
}

function commonEnd(a: Path, b: Path, most: number): number {
  let all = 0;
  while (all < most) {
    const [x, y] = [before(a, lengthOf(a) - all), before(b, lengthOf(b) - all)];
    const n = Math.min(most - all, x.at, y.at);
    const length = Math.min(n, commonRound(x, y));
    for (let i = 1; i <= length; i++) if (x.visit(-i).pc !== y.visit(-i).pc) return all + i - 1;
    all += n;
  }
  return all;
}

function keysOf(path: Path, from: number, count: number): Uint32Array {
  const keys = new Uint32Array(count);
  const c = new Cursor(path, from);
  for (let done = 0; done < count; ) {
    const n = Math.min(count - done, c.left);
    for (let i = 0; i < n; i++) keys[done + i] = c.visit(i).pc;
    c.goOn(n);
    done += n;
  }
  return keys;
}

/** Aligns paths as `align` does their unfolded blocks; what both begin and end with is not unfolded. */
export function alignPaths(a: Path, b: Path): Run[] {
  const begin = commonBegin(a, b);
  const end = commonEnd(a, b, Math.min(lengthOf(a), lengthOf(b)) - begin);
  const [na, nb] = [lengthOf(a) - begin - end, lengthOf(b) - begin - end];
  const middle =
    na > 0 && nb > 0 ? align(keysOf(a, begin, na), keysOf(b, begin, nb)) : [{ a: 0, b: 0, na, nb }];
  return [
    { a: 0, b: 0, na: begin, nb: begin },
    ...middle.map((r) => ({ ...r, a: r.a + begin, b: r.b + begin })),
    { a: lengthOf(a) - end, b: lengthOf(b) - end, na: end, nb: end },
  ].filter((r) => r.na + r.nb > 0);
}
