import { joined, joined64 } from "./columns";
import { unpack } from "./decode";
import type { Model } from "./model";
import type { Course, Frame, MemoryChange, Site, Sites } from "./payload";

export const NONE = 0xffffffff; // no operation, object or site; a moment after the last

/** Kinds of operations, by number. */
export const KINDS = [
  "allocation",
  "free",
  "copy",
  "set",
  "launch",
  "event record",
  "wait for an event",
  "synchronisation with an event",
  "synchronisation with a stream",
  "synchronisation with the device",
] as const;
export const [ALLOCATION, FREE, COPY, SET, LAUNCH] = [0, 1, 2, 3, 4];

export const READ = 1;
export const WRITE = 2;

/** How an object's life ended, by number. */
export const ENDS = [
  "freed by the program",
  "given back with its context or module",
  "never freed",
  "how it ended is not known",
] as const;

/** Operations, in the program's order. */
export interface Ops {
  count: number;
  kind: Uint8Array;
  waits: (op: number) => boolean;
  unknown: (op: number) => boolean;
  repeat: Uint32Array; // launches that do the same, in one row
  level: Uint32Array;
  queue: Uint16Array;
  thread: Uint16Array;
  about: Uint32Array;
  accesses: Uint32Array; // a set
  kernel: Uint32Array;
  site: Uint32Array;
  start: Float64Array; // microseconds on the host since the process's start
  took: Float64Array; // seconds on the device; negative: not measured
  timed: boolean; // all starts are known
}

export interface Lives {
  count: number;
  id: Uint32Array;
  flags: Uint8Array;
  ended: Uint8Array;
  bytes: Float64Array;
  device: Uint16Array; // index in the row's devices
  allocate: Uint32Array;
  free: Uint32Array;
  begin: Uint32Array;
  end: Uint32Array;
  first: Uint32Array;
  last: Uint32Array;
}

export const COUNTED = 1;
export const FIXED = 2;
export const SEEN_BY_HOST = 4;
export const POOLED = 8;
export const POSSIBLY = 16;

export interface Hits {
  count: number;
  object: Uint32Array;
  other: Uint32Array;
  from: Uint32Array;
  to: Uint32Array;
  calls: Uint32Array;
  step: Uint32Array;
  bytes: Float64Array;
  adds: Float64Array;
  change: Uint32Array; // index in the row's changes
}

/** Who accesses each object: of object o the entries from start[o] to start[o + 1], by operation. */
export interface Touches {
  start: Uint32Array;
  op: Uint32Array;
  how: Uint8Array;
}

/** What a process did with its memory, ready to be drawn and replayed. */
export interface CourseData {
  row: Course;
  ops: Ops;
  lives: Lives;
  hits: Hits;
  setStart: Uint32Array; // of each set the first access; one more than sets
  accessObject: Uint32Array;
  accessHow: Uint8Array;
  touches: Touches;
  sites: Site[];
  stacks: Frame[][];
}

/** Sums before each element, and the sum of all behind them. */
export function sumsBefore(sizes: Uint32Array): Uint32Array {
  const sums = new Uint32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) sums[i + 1] = (sums[i] as number) + (sizes[i] as number);
  return sums;
}

function touchesOf(
  objects: number,
  accesses: Uint32Array,
  setStart: Uint32Array,
  accessObject: Uint32Array,
  accessHow: Uint8Array,
): Touches {
  const sizes = new Uint32Array(objects);
  const each = (take: (object: number, how: number, op: number) => void) => {
    for (let op = 0; op < accesses.length; op++) {
      const set = accesses[op] as number;
      for (let a = setStart[set] as number; a < (setStart[set + 1] as number); a++) {
        const how = accessHow[a] as number; // 0: it is not known that it is accessed
        if (how) take(accessObject[a] as number, how, op);
      }
    }
  };
  each((object) => {
    sizes[object] = (sizes[object] as number) + 1;
  });
  const start = sumsBefore(sizes);
  const at = start.slice();
  const op = new Uint32Array(start[objects] as number);
  const how = new Uint8Array(op.length);
  each((object, h, o) => {
    const place = at[object] as number;
    at[object] = place + 1;
    op[place] = o;
    how[place] = h;
  });
  return { start, op, how };
}

function changeOfHits(changes: MemoryChange[], hits: number): Uint32Array {
  const change = new Uint32Array(hits);
  changes.forEach((c, i) => {
    change.fill(i, c.first, c.first + c.count);
  });
  return change;
}

/** Reads the columns of a course from its unpacked part, and puts its sites beside them. */
export function courseData(bytes: ArrayBuffer, row: Course, sites: Sites): CourseData {
  const section = new Uint8Array(bytes);
  const c = row.columns;
  const byte = (column: [number, number]) => joined(section, column, new Uint8Array(column[1]));
  const short = (column: [number, number]) => joined(section, column, new Uint16Array(column[1]));
  const long = (column: [number, number]) => joined(section, column, new Uint32Array(column[1]));
  const flags = byte(c.flags);
  const since = long(c.since);
  const start = new Float64Array(since.length);
  for (let i = 0, at = 0; i < since.length; i++) {
    at += since[i] as number;
    start[i] = at;
  }
  const ops: Ops = {
    count: row.operations,
    kind: byte(c.kind),
    waits: (op) => ((flags[op] as number) & 1) !== 0,
    unknown: (op) => ((flags[op] as number) & 2) !== 0,
    repeat: long(c.repeat),
    level: long(c.level),
    queue: short(c.queue),
    thread: short(c.thread),
    about: long(c.about),
    accesses: long(c.accesses),
    kernel: long(c.kernel),
    site: long(c.site),
    start,
    took: joined64(section, c.took).map((t) => (t > 0 ? (t - 1) * 1e-9 : -1)),
    timed: flags.every((f) => (f & 4) !== 0) && flags.length > 0,
  };
  const lives: Lives = {
    count: row.objects,
    id: long(c.object),
    flags: byte(c.object_flags),
    ended: byte(c.object_ended),
    bytes: joined64(section, c.bytes),
    device: short(c.device),
    allocate: long(c.allocate),
    free: long(c.free),
    begin: long(c.begin),
    end: long(c.end),
    first: long(c.first),
    last: long(c.last),
  };
  const hits: Hits = {
    count: c.hit_object[1],
    object: long(c.hit_object),
    other: long(c.hit_other),
    from: long(c.hit_from),
    to: long(c.hit_to),
    calls: long(c.hit_calls),
    step: long(c.hit_step),
    bytes: joined64(section, c.hit_bytes),
    adds: joined64(section, c.hit_adds),
    change: changeOfHits(row.changes, c.hit_object[1]),
  };
  const setStart = sumsBefore(long(c.set_size));
  const accessObject = long(c.access_object);
  const accessHow = byte(c.access_how);
  const touches = touchesOf(lives.count, ops.accesses, setStart, accessObject, accessHow);
  const { sites: rows, stacks } = sites;
  return {
    row,
    ops,
    lives,
    hits,
    setStart,
    accessObject,
    accessHow,
    touches,
    sites: rows,
    stacks,
  };
}

const loaded = new WeakMap<Course, Promise<CourseData>>();

/** A course, unpacked when it is first asked for. */
export function loadCourse(m: Model, row: Course): Promise<CourseData> {
  const known = loaded.get(row);
  if (known) return known;
  const part = (at: number) => unpack(m.report.parts[at] ?? "");
  const data = Promise.all([part(row.part), part(row.sites)]).then(([columns, sites]) =>
    courseData(columns, row, JSON.parse(new TextDecoder().decode(sites)) as Sites),
  );
  loaded.set(row, data);
  return data;
}

/** The accesses of an operation. */
export function accessesOf(d: CourseData, op: number): { object: number; how: number }[] {
  const set = d.ops.accesses[op] as number;
  const found = [];
  for (let a = d.setStart[set] as number; a < (d.setStart[set + 1] as number); a++) {
    found.push({ object: d.accessObject[a] as number, how: d.accessHow[a] as number });
  }
  return found;
}
