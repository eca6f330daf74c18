import type { Instruction, Shapes } from "../data/payload";

/** Which bytes the lanes of one request take, and how that falls into sectors or banks. Addresses are relative. */
export interface Lanes {
  address: number[]; // by lane
  bytes: number; // per lane
  shape: keyof Shapes;
  share: number; // of the instruction's requests that have this shape
  /** No constant pattern: addresses are made up to show the measured number of sectors, or passes. */
  schematic: boolean;
  /** No request is known to have been just so: addresses are made up, or lanes are a mean. */
  example: boolean;
  /** Atomic: lanes that take one word are served one after the other. */
  updates: boolean;
}

export interface Piece {
  lane: number;
  from: number; // byte in the sector
  to: number;
}

export interface SectorUse {
  sector: number;
  pieces: Piece[];
  used: number; // distinct bytes
}

/** A pass through shared memory: by bank, the lanes that it serves. */
export type Wavefront = Map<number, number[]>;

const SECTOR = 32;
const BANKS = 32;
const WARP = 32;

/** The shape of most requests. One address moves one sector: where they move more than that on average, it is another's. */
function commonestShape(i: Instruction): keyof Shapes {
  const others: (keyof Shapes)[] = ["strided", "irregular", "misaligned", "contiguous"];
  const best = others.reduce((a, b) => (i.shapes[b] > i.shapes[a] ? b : a));
  const spread = i.space !== "shared" && i.sectors >= 1.5 * i.requests && i.shapes[best] > 0;
  return spread || i.shapes[best] >= i.shapes.uniform ? best : "uniform";
}

// A small generator with a fixed seed, so that the same report always draws the same picture.
function scattered(lanes: number, sectors: number, bytes: number): number[] {
  const slots = Math.max(1, Math.round(sectors));
  const perSector = Math.max(1, Math.floor(SECTOR / bytes));
  // A step that comes past every slot: a prime that does not divide their number.
  const step = [7, 11, 13].find((prime) => slots % prime !== 0) ?? 1;
  const addresses: number[] = [];
  let state = 0x2545f491;
  for (let lane = 0; lane < lanes; lane++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const slot = lane < slots ? (lane * step) % slots : state % slots;
    addresses.push(slot * SECTOR * 2 + ((state >>> 8) % perSector) * bytes);
  }
  return addresses;
}

/** As many lanes in one bank as there are passes, the others in banks of their own. */
function colliding(lanes: number, passes: number, bytes: number): number[] {
  const row = BANKS * 4;
  const together = Math.max(1, Math.min(lanes, Math.round(passes)));
  return Array.from({ length: lanes }, (_, lane) =>
    lane < together ? lane * row : (lane * bytes) % row,
  );
}

const isUpdate = (i: Instruction): boolean => i.op === "atomic" || i.op === "reduction";

function madeUp(i: Instruction, lanes: number): number[] {
  const requests = Math.max(1, i.requests);
  return i.space === "shared"
    ? colliding(lanes, i.wavefronts / requests, i.bytes)
    : scattered(lanes, i.sectors / requests, i.bytes);
}

export const activeLanes = (i: Instruction): number =>
  i.requests > 0 ? Math.min(WARP, Math.max(1, Math.round(i.active_lanes / i.requests))) : WARP;

export function lanesOf(i: Instruction, misalignment: number): Lanes {
  const shape = commonestShape(i);
  const n = activeLanes(i);
  const step = shape === "uniform" ? 0 : shape === "strided" ? i.stride : i.bytes;
  const first = step < 0 ? -step * (n - 1) : shape === "misaligned" ? misalignment : 0;
  const schematic = shape === "irregular";
  return {
    address: schematic ? madeUp(i, n) : Array.from({ length: n }, (_, lane) => first + lane * step),
    bytes: i.bytes,
    shape,
    share: i.requests > 0 ? i.shapes[shape] / i.requests : 0,
    schematic,
    example: schematic || shape === "misaligned" || i.active_lanes !== n * i.requests,
    updates: isUpdate(i),
  };
}

/** The same lanes taking neighbouring elements from a sector boundary on. */
export const ideal = (lanes: Lanes): Lanes => ({
  ...lanes,
  address: lanes.address.map((_, lane) => lane * lanes.bytes),
  shape: "contiguous",
  share: 1,
  schematic: false,
});

/** What is left where the lanes' updates of one address are added up first. */
export const combined = (lanes: Lanes): Lanes => ({
  ...lanes,
  address: lanes.address.slice(0, 1),
  schematic: false,
});

function distinctBytes(pieces: Piece[]): number {
  const used = new Uint8Array(SECTOR);
  for (const p of pieces) used.fill(1, p.from, p.to);
  return used.reduce((sum, u) => sum + u, 0);
}

export function sectorsOf(lanes: Lanes): SectorUse[] {
  const found = new Map<number, Piece[]>();
  lanes.address.forEach((address, lane) => {
    const end = address + lanes.bytes;
    for (let s = Math.floor(address / SECTOR); s * SECTOR < end; s++) {
      const piece = {
        lane,
        from: Math.max(0, address - s * SECTOR),
        to: Math.min(SECTOR, end - s * SECTOR),
      };
      const pieces = found.get(s);
      if (pieces) pieces.push(piece);
      else found.set(s, [piece]);
    }
  });
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([sector, pieces]) => ({ sector, pieces, used: distinctBytes(pieces) }));
}

/** Lanes served together: a whole warp up to 4 bytes a lane, half of it for 8, a quarter for 16. */
const groupOf = (bytes: number): number => (bytes <= 4 ? WARP : bytes <= 8 ? WARP / 2 : WARP / 4);

function addWord(
  groups: Wavefront[],
  words: Map<number, number>[],
  word: number,
  lane: number,
  updates: boolean,
) {
  const bank = ((word % BANKS) + BANKS) % BANKS;
  let pass = words.findIndex((m) => !m.has(bank) || (!updates && m.get(bank) === word));
  if (pass < 0) {
    pass = words.length;
    words.push(new Map());
    groups.push(new Map());
  }
  words[pass]?.set(bank, word);
  const served = groups[pass]?.get(bank);
  if (served) served.push(lane);
  else groups[pass]?.set(bank, [lane]);
}

/** Passes through shared memory of compute capability 5.0 and later: a bank gives one word a pass, to all who want it;
 * but atomic updates of one word are carried out one after the other. */
export function wavefrontsOf(lanes: Lanes): Wavefront[] {
  const all: Wavefront[] = [];
  const size = groupOf(lanes.bytes);
  for (let start = 0; start < lanes.address.length; start += size) {
    const passes: Wavefront[] = [];
    const words: Map<number, number>[] = [];
    const end = Math.min(start + size, lanes.address.length);
    for (let lane = start; lane < end; lane++) {
      const first = lanes.address[lane] ?? 0;
      for (let a = Math.floor(first / 4); a * 4 < first + lanes.bytes; a++) {
        addWord(passes, words, a, lane, lanes.updates);
      }
    }
    all.push(...passes);
  }
  return all;
}
