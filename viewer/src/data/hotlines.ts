import { findingsAt, type LineRow, lineExcess, lineUnit, type Model } from "./model";

/** What all kernels did at a line of a file. */
export interface LineHeat {
  line: number;
  rows: LineRow[];
  moved: number; // sectors and wavefronts
  excess: number; // of them, what the same bytes would not need
}

const known = new WeakMap<Model, Map<number, LineHeat[]>>();
const hotOf = new WeakMap<LineHeat[], LineHeat[]>(); // by all lines of a file
const NO_LINES: LineHeat[] = [];

function heatOf(line: number, rows: LineRow[]): LineHeat {
  const sum = (value: (r: LineRow) => number) => rows.reduce((all, r) => all + value(r), 0);
  return { line, rows, moved: sum((r) => r.now), excess: sum(lineExcess) };
}

function linesByFile(m: Model): Map<number, LineHeat[]> {
  const files = new Map<number, Map<number, LineRow[]>>();
  for (const row of [...m.linesOf.values()].flat()) {
    if (row.file === undefined || row.line === undefined) continue;
    const lines = files.get(row.file) ?? new Map<number, LineRow[]>();
    files.set(row.file, lines.set(row.line, [...(lines.get(row.line) ?? []), row]));
  }
  const hotter = (a: LineHeat, b: LineHeat) =>
    b.excess - a.excess || b.moved - a.moved || a.line - b.line;
  return new Map(
    [...files].map(([file, lines]) => [
      file,
      [...lines].map(([line, rows]) => heatOf(line, rows)).sort(hotter),
    ]),
  );
}

/** The lines of a file that access memory: those that move most beyond what they need first. */
export function accessLines(m: Model, file: number): LineHeat[] {
  const files = known.get(m) ?? linesByFile(m);
  known.set(m, files);
  return files.get(file) ?? NO_LINES;
}

/** Of them, those that move more than they need or that a finding names; all where there are no such lines. */
export function hotLines(m: Model, file: number): LineHeat[] {
  const lines = accessLines(m, file);
  const found = hotOf.get(lines);
  if (found) return found;
  const hot = lines.filter((l) => l.excess > 0 || findingsOf(m, l).length > 0);
  hotOf.set(lines, hot.length > 0 ? hot : lines);
  return hot.length > 0 ? hot : lines;
}

/** The kernels that a file's hot lines are part of, the hottest line's first. */
export const kernelsOf = (lines: LineHeat[]): number[] => [
  ...new Set(lines.flatMap((l) => l.rows.flatMap((r) => r.instructions[0]?.kernel ?? []))),
];

/** The findings that name a line. */
export const findingsOf = (m: Model, heat: LineHeat): number[] => [
  ...new Set(heat.rows.flatMap((r) => findingsAt(m, r))),
];

/** The unit of a line's numbers. */
export const unitOf = (heat: LineHeat): string =>
  [...new Set(heat.rows.map(lineUnit))].join(" and ");
