/** What a report holds of the warps of a launch: sequences of steps, in pages, and which warps took which. */
import { joined } from "../columns";
import { unpack } from "../decode";
import type { Column, Explore } from "../payload";
import { warpsOf } from "./steps";
import type { Slot } from "./types";

const SPACES = ["global", "shared", "local", "const"]; // as src/access/spaces.def has them

export interface Page {
  part: number; // index in the row's `pages`
  from: number; // byte in the part
  bytes: number;
  steps: number;
}

/** Warps of one sequence over the same objects. */
export interface Group {
  sequence: number;
  slots: Slot[];
  warpPages: number[]; // bytes of each
}

export interface Table {
  sequences: Page[][];
  groups: Group[];
  blockPc: Uint32Array; // of the kernel's basic blocks
  blockInsns: Uint32Array;
}

/** Warps by block and number. Warps of one kind took one sequence over the same objects, from places that are equal in
 * each modulo 128 bytes: they cost the same. */
export interface Warps {
  count: number;
  block: Float64Array; // linear index
  number: Uint8Array;
  kind: Uint32Array;
  group: Uint32Array;
  begins: Float64Array; // of a warp from `beginAt` on, by slot
  beginAt: Uint32Array;
}

export interface Kind {
  group: number;
  warps: number;
  first: number; // warp
}

const PERIOD = 128; // bytes after which the cost of a request is the same

function sequencesOf(section: Uint8Array, c: NonNullable<Explore["columns"]>): Page[][] {
  const long = (column: Column) => joined(section, column, new Uint32Array(column[1]));
  const [pages, bytes, part, steps] = [
    long(c.pages),
    long(c.page_bytes),
    long(c.page_part),
    long(c.page_steps),
  ];
  const sequences: Page[][] = [];
  let [at, last, from] = [0, 0, 0];
  for (const n of pages) {
    const list: Page[] = [];
    for (let i = 0; i < n; i++, at++) {
      if (part[at] !== last) [last, from] = [part[at] as number, 0];
      const size = bytes[at] as number;
      list.push({ part: last, from, bytes: size, steps: steps[at] as number });
      from += size;
    }
    sequences.push(list);
  }
  return sequences;
}

function groupsOf(section: Uint8Array, c: NonNullable<Explore["columns"]>): Group[] {
  const long = (column: Column) => joined(section, column, new Uint32Array(column[1]));
  const byte = (column: Column) => joined(section, column, new Uint8Array(column[1]));
  const [sequence, slots, pages] = [
    long(c.group_sequence),
    byte(c.group_slots),
    long(c.group_pages),
  ];
  const [space, object, size] = [byte(c.slot_space), long(c.slot_object), long(c.warp_page_bytes)];
  const groups: Group[] = [];
  let [slotAt, pageAt] = [0, 0];
  for (let g = 0; g < sequence.length; g++) {
    const group: Group = { sequence: sequence[g] as number, slots: [], warpPages: [] };
    for (let i = 0; i < (slots[g] as number); i++, slotAt++)
      group.slots.push({
        space: SPACES[space[slotAt] as number] ?? "unknown",
        object: object[slotAt] as number,
      });
    for (let i = 0; i < (pages[g] as number); i++, pageAt++)
      group.warpPages.push(size[pageAt] as number);
    groups.push(group);
  }
  return groups;
}

export function tableOf(bytes: ArrayBuffer, columns: NonNullable<Explore["columns"]>): Table {
  const section = new Uint8Array(bytes);
  const long = (column: Column) => joined(section, column, new Uint32Array(column[1]));
  return {
    sequences: sequencesOf(section, columns),
    groups: groupsOf(section, columns),
    blockPc: long(columns.block_pc),
    blockInsns: long(columns.block_insns),
  };
}

/** As they stand in the pages, group after group. */
function rawWarps(table: Table, bytes: Uint8Array, count: number, nbegins: number) {
  const warps: Warps = {
    count,
    block: new Float64Array(count),
    number: new Uint8Array(count),
    kind: new Uint32Array(count),
    group: new Uint32Array(count),
    begins: new Float64Array(nbegins),
    beginAt: new Uint32Array(count),
  };
  let [at, from, begin] = [0, 0, 0];
  table.groups.forEach((group, g) => {
    for (const size of group.warpPages) {
      warpsOf(bytes.subarray(from, from + size), group.slots.length, (block, number, begins) => {
        warps.block[at] = block;
        warps.number[at] = number;
        warps.group[at] = g;
        warps.beginAt[at++] = begin;
        for (const b of begins) warps.begins[begin++] = b;
      });
      from += size;
    }
  });
  if (at !== count) throw new Error("The report's warps are not as many as it says.");
  return warps;
}

const NUMBERS = 32; // warps of a block, at most
const ROOM = 2 ** 53;

/** The places of the warps by block and number. */
function orderOf(raw: Warps): Uint32Array {
  const { count, block, number } = raw;
  const key = (i: number) => (block[i] as number) * NUMBERS + (number[i] as number);
  const most = block.reduce((m, b) => Math.max(m, b), 0) * NUMBERS + NUMBERS;
  if (most * count >= ROOM)
    return Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => key(a) - key(b));
  const keyed = Float64Array.from({ length: count }, (_, i) => key(i) * count + i).sort();
  return Uint32Array.from(keyed, (k) => k % count);
}

function sorted(raw: Warps): Warps {
  const order = orderOf(raw);
  return {
    ...raw,
    block: Float64Array.from(order, (i) => raw.block[i] as number),
    number: Uint8Array.from(order, (i) => raw.number[i] as number),
    group: Uint32Array.from(order, (i) => raw.group[i] as number),
    beginAt: Uint32Array.from(order, (i) => raw.beginAt[i] as number),
  };
}

const FEW = 4; // slots whose begins fit into one number beside the group's

/** Of warps of one kind the same. */
function kindKey(table: Table, warps: Warps, i: number): number | string {
  const group = warps.group[i] as number;
  const slots = table.groups[group]?.slots.length ?? 0;
  const at = warps.beginAt[i] as number;
  let [number, text] = [0, ""];
  for (let s = 0; s < slots; s++) {
    const begin = warps.begins[at + s] as number;
    const place = ((begin % PERIOD) + PERIOD) % PERIOD;
    if (slots <= FEW) number = number * PERIOD + place;
    else text += `${place} `;
  }
  // The group tells how many slots there are, so that numbers of different groups are different.
  return slots <= FEW ? number * table.groups.length + group : `${text}${group}`;
}

/** Numbers the kinds as they come, and gives each warp its own. */
function kindsOf(table: Table, warps: Warps): Kind[] {
  const known = new Map<number | string, number>();
  const kinds: Kind[] = [];
  for (let i = 0; i < warps.count; i++) {
    const key = kindKey(table, warps, i);
    let kind = known.get(key);
    if (kind === undefined) {
      kind = kinds.length;
      known.set(key, kind);
      kinds.push({ group: warps.group[i] as number, warps: 0, first: i });
    }
    warps.kind[i] = kind;
    (kinds[kind] as Kind).warps++;
  }
  return kinds;
}

export function warpsAndKinds(table: Table, bytes: ArrayBuffer, count: number) {
  const section = new Uint8Array(bytes);
  let nbegins = 0;
  let from = 0;
  for (const group of table.groups)
    for (const size of group.warpPages) {
      warpsOf(section.subarray(from, from + size), group.slots.length, () => {
        nbegins += group.slots.length;
      });
      from += size;
    }
  const warps = sorted(rawWarps(table, section, count, nbegins));
  return { warps, kinds: kindsOf(table, warps) };
}

/** All that one has to know before steps are looked at. Holds nothing but numbers, as a worker makes it. */
export interface Opened {
  table: Table;
  warps: Warps;
  kinds: Kind[];
}

export async function openLaunch(row: Explore, columns: string, members: string): Promise<Opened> {
  if (!row.columns) throw new Error("The report does not hold the steps of this launch.");
  const table = tableOf(await unpack(columns), row.columns);
  return { table, ...warpsAndKinds(table, await unpack(members), row.warps) };
}
