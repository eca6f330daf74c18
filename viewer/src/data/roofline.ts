import type { Arithmetic, LevelBytes, Prediction, Roofline } from "./payload";

/** A level of memory, and what it lets a launch do. Rates are operations a second. */
export interface RooflinePoint {
  level: LevelBytes;
  intensity: number; // operations a byte
  allowed: number; // at the level's full bandwidth
  reachable: number; // of accesses like these; no more than `allowed`
}

export interface RooflineChart {
  operations: number; // of a launch
  words: string; // what they are: "FP32", "FP32 and FP64"
  integer: boolean; // there is no floating point
  compute: Arithmetic[]; // the ceilings
  computeAllowed: number; // of its mix of arithmetic
  points: RooflinePoint[]; // the nearest to the lanes first
  tightest: RooflinePoint; // the level that allows least
  predicted: number;
  measured?: number;
  x: [least: number, most: number]; // operations a byte, whole powers of ten
  y: [least: number, most: number]; // operations a second, likewise
}

const ROOM = 1.5; // between what is drawn and the edge

/** Whole powers of ten around the values. */
function decades(values: number[]): [number, number] {
  const least = Math.floor(Math.log10(Math.min(...values) / ROOM));
  const most = Math.ceil(Math.log10(Math.max(...values) * ROOM));
  return [10 ** least, 10 ** most];
}

function pointOf(level: LevelBytes, operations: number): RooflinePoint {
  const intensity = operations / level.bytes;
  return {
    level,
    intensity,
    allowed: intensity * level.ceiling,
    reachable: intensity * Math.min(level.reachable, level.ceiling),
  };
}

const sum = (rows: Arithmetic[]): number => rows.reduce((all, a) => all + a.operations, 0);

/** Kinds of arithmetic run side by side: the one that takes longest is the ceiling. */
function allowedBy(r: Roofline): number {
  return sum(r.arithmetic) / Math.max(...r.arithmetic.map((a) => a.operations / a.ceiling));
}

/** Undefined where nothing is computed, or nothing is moved. */
export function rooflineChart(p: Prediction): RooflineChart | undefined {
  const { arithmetic, levels } = p.roofline;
  const operations = sum(arithmetic);
  const points = levels.map((level) => pointOf(level, operations));
  const first = points[0];
  if (!first || !(operations > 0) || !(p.seconds > 0)) return undefined;
  const predicted = operations / p.seconds;
  const measured = p.measured === undefined ? undefined : operations / p.measured;
  const ceilings = arithmetic.map((a) => a.ceiling);
  const top = Math.max(...ceilings);
  const ridge = top / Math.min(...levels.map((l) => l.ceiling));
  const heights = points.map((q) => Math.min(q.reachable, top));
  return {
    operations,
    words: arithmetic.map((a) => a.words).join(" and "),
    integer: arithmetic.every((a) => a.name === "integer"),
    compute: arithmetic,
    computeAllowed: allowedBy(p.roofline),
    points,
    tightest: points.reduce((least, q) => (q.allowed < least.allowed ? q : least), first),
    predicted,
    ...(measured !== undefined && { measured }),
    x: decades([ridge, ...points.map((q) => q.intensity)]),
    y: decades([predicted, measured ?? predicted, ...heights, ...ceilings]),
  };
}

/** Where a value stands on a log axis: 0 at the least, 1 at the most. */
export const onLog = (value: number, [least, most]: [number, number]): number =>
  Math.log10(value / least) / Math.log10(most / least);

/** The powers of ten of an axis. */
export function ticks([least, most]: [number, number]): number[] {
  const first = Math.round(Math.log10(least));
  const count = Math.round(Math.log10(most)) - first;
  return Array.from({ length: count + 1 }, (_, i) => 10 ** (first + i));
}

/** The roof of a level: it rises to the highest ceiling, from where it enters the chart. */
export function roofOf(
  chart: RooflineChart,
  level: LevelBytes,
): [from: { x: number; y: number }, to: { x: number; y: number }] {
  const top = Math.max(...chart.compute.map((a) => a.ceiling));
  const x = Math.max(chart.x[0], chart.y[0] / level.ceiling);
  return [
    { x, y: x * level.ceiling },
    { x: top / level.ceiling, y: top },
  ];
}
