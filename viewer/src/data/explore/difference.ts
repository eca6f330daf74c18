/** How much two warps differ, operation by operation (paper's formula, with active lanes compared as sets). */
import { popcount } from "../heat";
import { align } from "./align";
import type { Costs } from "./cost";

/** What each operation differs by, summed up: of operations a to b it is sum[b] - sum[a]. */
export interface Curve {
  ops: number;
  total: Float64Array; // ops + 1; each operation at most 1
  threads: Float64Array;
  shared: Float64Array;
  global: Float64Array;
}

const LANES = 32;
const GLOBAL = 1024; // bytes that count as much as another instruction
const CONFLICTS = 8; // likewise passes through shared memory

interface Parts {
  threads: number;
  shared: number;
  global: number;
}

/** |size of A's i-th transaction - size of B's|, summed up; both by address. */
function sizesApart(a: Costs, i: number, b: Costs | undefined, j: number): number {
  const [a0, a1] = [a.sizesFrom[i] as number, a.sizesFrom[i + 1] as number];
  const [b0, b1] = b ? [b.sizesFrom[j] as number, b.sizesFrom[j + 1] as number] : [0, 0];
  let sum = 0;
  for (let k = 0; k < Math.max(a1 - a0, b1 - b0); k++) {
    const x = a0 + k < a1 ? (a.sizes[a0 + k] as number) : 0;
    const y = b && b0 + k < b1 ? (b.sizes[b0 + k] as number) : 0;
    sum += Math.abs(x - y);
  }
  return sum;
}

/** Of operation i of A and j of B; B undefined: it has none there. */
export function apart(a: Costs, i: number, b: Costs | undefined, j: number): Parts {
  const other = b ? (b.mask[j] as number) : 0;
  return {
    threads: popcount((a.mask[i] as number) ^ other) / LANES,
    shared: Math.abs((a.conflicts[i] as number) - (b ? (b.conflicts[j] as number) : 0)) / CONFLICTS,
    global: sizesApart(a, i, b, j) / GLOBAL,
  };
}

const clamp = (value: number): number => Math.min(1, value);

/** A's operations as compared to B's. What only B has counts where A goes on without it. */
export function curveOf(a: Costs, b: Costs): Curve {
  const n = a.pc.length;
  const { match, missed } = align(a.pc, b.pc);
  const curve: Curve = {
    ops: n,
    total: new Float64Array(n + 1),
    threads: new Float64Array(n + 1),
    shared: new Float64Array(n + 1),
    global: new Float64Array(n + 1),
  };
  for (let i = 0; i < n; i++) {
    const j = match[i] as number;
    const p = apart(a, i, j < 0 ? undefined : b, j);
    const alone = j < 0 || (missed[i] as number) > 0 || (i === n - 1 && (missed[n] as number) > 0);
    const all = (alone ? 1 : 0) + p.threads + p.global + p.shared;
    curve.total[i + 1] = (curve.total[i] as number) + clamp(all);
    curve.threads[i + 1] = (curve.threads[i] as number) + clamp(p.threads);
    curve.shared[i + 1] = (curve.shared[i] as number) + clamp(p.shared);
    curve.global[i + 1] = (curve.global[i] as number) + clamp(p.global);
  }
  return curve;
}

/** The mean of operations from..to that there are; NaN where there are none. */
export function meanOf(sum: Float64Array, ops: number, from: number, to: number): number {
  const end = Math.min(ops, to);
  return end > from ? ((sum[end] as number) - (sum[from] as number)) / (end - from) : Number.NaN;
}
