import type { Report } from "./decode";
import type {
  Finding,
  HeatMap,
  Instruction,
  Kernel,
  Launch,
  MemoryObject,
  Op,
  Payload,
  Shapes,
  SourceFile,
  Space,
  Unit,
} from "./payload";

/** What one source line did in one way, all its loads from global memory, say; or one instruction without line
 * information. Loads and stores stand apart because their sectors a request mean different things. */
export interface LineRow {
  key: string;
  op: Op;
  space: Space;
  file: number | undefined;
  line: number | undefined;
  pc: number;
  instructions: Instruction[];
  requests: number;
  now: number; // sectors; wavefronts for shared memory
  min: number;
  lanes: number;
}

export interface Model {
  report: Report;
  payload: Payload;
  guest: string | undefined; // what another profile than the page's own is called
  kernelById: Map<number, Kernel>;
  fileById: Map<number, SourceFile>;
  linesOf: Map<number, LineRow[]>; // by kernel id
  objectById: Map<number, MemoryObject>;
  launchById: Map<number, Launch>;
  mapsOf: Map<number, HeatMap[]>; // by object id
}

const emptyLine = (i: Instruction, key: string): LineRow => ({
  key,
  op: i.op,
  space: i.space,
  file: i.file,
  line: i.line,
  pc: i.pc,
  instructions: [],
  requests: 0,
  now: 0,
  min: 0,
  lanes: 0,
});

function addTo(row: LineRow, i: Instruction): void {
  row.instructions.push(i);
  row.requests += i.requests;
  row.now += i.space === "shared" ? i.wavefronts : i.sectors;
  row.min += i.space === "shared" ? i.wavefronts_min : i.sectors_min;
  row.lanes += i.active_lanes;
}

function lineRows(payload: Payload): Map<number, LineRow[]> {
  const tables = new Map(payload.kernels.map((k) => [k.id, new Map<string, LineRow>()]));
  for (const i of payload.instructions) {
    const table = tables.get(i.kernel);
    if (!table) continue;
    const where = i.line === undefined ? `pc ${i.pc}` : `${i.file}:${i.line}`;
    const key = `${where} ${i.op} ${i.space}`;
    let row = table.get(key);
    if (!row) {
      row = emptyLine(i, key);
      table.set(key, row);
    }
    addTo(row, i);
  }
  return new Map([...tables].map(([kernel, table]) => [kernel, [...table.values()]]));
}

function mapsByObject(payload: Payload): Map<number, HeatMap[]> {
  const maps = new Map<number, HeatMap[]>();
  for (const map of payload.maps) {
    const list = maps.get(map.object);
    if (list) list.push(map);
    else maps.set(map.object, [map]);
  }
  return maps;
}

export function buildModel(report: Report, guest?: string): Model {
  const { payload } = report;
  return {
    report,
    payload,
    guest,
    kernelById: new Map(payload.kernels.map((k) => [k.id, k])),
    fileById: new Map(payload.files.map((f) => [f.id, f])),
    linesOf: lineRows(payload),
    objectById: new Map(payload.objects.map((o) => [o.id, o])),
    launchById: new Map(payload.launches.map((l) => [l.id, l])),
    mapsOf: mapsByObject(payload),
  };
}

export const kernelOf = (m: Model, id: number | undefined): Kernel | undefined =>
  id === undefined ? undefined : m.kernelById.get(id);

/** The launch that a finding about accesses takes as its example. */
export const exampleOf = (m: Model, { access }: Finding): Launch | undefined =>
  access && m.launchById.get(access.example_launch);

/** Whether a finding is about one object. */
export const isAboutObject = ({ subject }: Finding): boolean =>
  subject === "object" || subject === "kernel-and-object";

const MODULE_VARIABLES = ["symbol", "constant"];
const accessed = new WeakMap<Model, Set<number | undefined>>();

/** Whether it is a variable of a module that no kernel touched, as far as is known. */
export function isIdleVariable(m: Model, o: MemoryObject): boolean {
  if (!MODULE_VARIABLES.includes(o.kind) || o.use?.touched_bytes) return false;
  const known = accessed.get(m) ?? new Set(m.payload.instructions.map((i) => i.object));
  accessed.set(m, known);
  return !known.has(o.id);
}

/** The costliest line that is known; the compiler gives some instructions none. */
export const lineOf = (f: Pick<Finding, "lines">): Finding["lines"][number] | undefined =>
  f.lines.find((l) => l.file !== undefined) ?? f.lines[0];

export const objectOf = (m: Model, id: number | undefined): MemoryObject | undefined =>
  id === undefined ? undefined : m.objectById.get(id);

const lines = new WeakMap<SourceFile["chunks"][number], string[]>();

/** The lines of a part of a file. */
export function chunkLines(chunk: SourceFile["chunks"][number]): string[] {
  const known = lines.get(chunk);
  if (known) return known;
  const split = chunk.text.replace(/\n$/, "").split("\n");
  lines.set(chunk, split);
  return split;
}

/** The text of a source line; undefined where the report does not hold it. */
export function sourceLine(m: Model, file: number | undefined, line: number | undefined) {
  if (file === undefined || line === undefined) return undefined;
  for (const chunk of m.fileById.get(file)?.chunks ?? []) {
    const text = line < chunk.first ? undefined : chunkLines(chunk)[line - chunk.first];
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Counts of two instructions together; the rest is of the first. */
function joined(a: Instruction, b: Instruction): Instruction {
  const shapes = { ...a.shapes };
  for (const shape of Object.keys(shapes) as (keyof Shapes)[]) shapes[shape] += b.shapes[shape];
  return {
    ...a,
    shapes,
    executions: a.executions + b.executions,
    requests: a.requests + b.requests,
    active_lanes: a.active_lanes + b.active_lanes,
    sectors: a.sectors + b.sectors,
    sectors_min: a.sectors_min + b.sectors_min,
    wavefronts: a.wavefronts + b.wavefronts,
    wavefronts_min: a.wavefronts_min + b.wavefronts_min,
  };
}

/** The instruction that a finding's costliest line names, together with its copies: what an unrolled loop makes of one
 * access does the same at the same line to the same object. */
export function costliest(m: Model, finding: Finding): Instruction | undefined {
  const pc = finding.lines[0]?.pc;
  const kernel = m.payload.instructions.filter((i) => i.kernel === finding.kernel);
  const here = kernel.filter((i) => i.pc === pc);
  const first = here.find((i) => i.object === finding.object) ?? here[0];
  if (!first || first.line === undefined) return first;
  return kernel
    .filter((i) => i !== first && isCopy(first, i))
    .reduce((sum, i) => joined(sum, i), first);
}

const isCopy = (a: Instruction, b: Instruction): boolean =>
  a.file === b.file &&
  a.line === b.line &&
  a.object === b.object &&
  a.op === b.op &&
  a.space === b.space &&
  a.bytes === b.bytes &&
  a.stride === b.stride;

/** Sectors or wavefronts of a line, now and at the least. */
export function cost(
  row: { sectors: number; sectors_min: number; wavefronts: number; wavefronts_min: number },
  unit: Unit,
): { now: number; min: number } {
  return unit === "wavefronts"
    ? { now: row.wavefronts, min: row.wavefronts_min }
    : { now: row.sectors, min: row.sectors_min };
}

/** What shares of the program are parts of, for costs in this unit. */
export function wholeOf(unit: Unit): string {
  if (unit === "bytes") return "the program's memory";
  return isTraffic(unit) ? "the program's traffic" : "the device idle";
}

export const isTraffic = (unit: Unit): boolean => unit === "sectors" || unit === "wavefronts";

export const lineExcess = (row: LineRow): number => Math.max(0, row.now - row.min);

export const lineUnit = (row: LineRow): Unit => (row.space === "shared" ? "wavefronts" : "sectors");

/** The findings of a group, which one change fixes, costliest first. Groups are numbered from 1. */
export function placesOf(m: Model, number: number): Finding[] {
  const group = m.payload.groups[number - 1];
  return group ? m.payload.findings.slice(group.first, group.first + group.count) : [];
}

/** What the findings of a kernel cost together; without any, what its requests move beyond the fewest possible. */
export function kernelExcess(m: Model, k: Kernel): number {
  const findings = m.payload.findings.filter((f) => f.kernel === k.id && isTraffic(f.unit));
  const found = findings.reduce((sum, f) => sum + f.excess, 0);
  if (found > 0) return Math.min(found, kernelTraffic(k));
  return Math.max(0, k.sectors - k.sectors_min) + Math.max(0, k.wavefronts - k.wavefronts_min);
}

export const kernelTraffic = (k: Kernel): number => k.sectors + k.wavefronts;

/** The numbers of the groups whose findings name the line and are about what the row does there. */
export function findingsAt(m: Model, r: LineRow): number[] {
  const kernel = r.instructions[0]?.kernel;
  const objects = new Set(r.instructions.map((i) => i.object));
  const numbers = m.payload.findings.flatMap((f) => {
    const about = !isAboutObject(f) || objects.has(f.object);
    const here = f.kernel === kernel && f.access?.space === r.space && about;
    const named = f.lines.some((l) =>
      l.line === undefined ? l.pc === r.pc : l.file === r.file && l.line === r.line,
    );
    return here && named ? [f.number] : [];
  });
  return [...new Set(numbers)];
}
