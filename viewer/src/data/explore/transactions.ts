/** What one request does on each generation of GPUs, as src/analysis/explore/transactions.c has it: a test holds the two
 * together. Words there explain the rules. */
import { ARCHS, type Arch, type Serving } from "./archs";
import type { Request } from "./types";

export const LANES = 32;
export const BANKS = 32;
const WORD = 4;
const PART_BYTES = 128;
const TWO_WORDS = 256;
const HALF = 16;
const SECTOR = 32;

/** A request with what changes how shared memory serves it. */
export interface Asked extends Request {
  matrix?: boolean; // ldmatrix, stmatrix: each lane gives the address of a row
  meeting?: boolean; // an operation on an mbarrier
}

export interface Transaction {
  address: number;
  size: number;
  lanes: number; // a bit each
  used: number; // bytes that lanes take
  turns: number; // of an atomic in global memory; else 0
  taken: boolean[]; // by byte
}

export interface Pass {
  lanes: number; // 0: the pass is lost
  group: number;
  banks: number[]; // by bank: the lanes that it serves, a bit each
  units: number[]; // by bank: which word, or pair of words, it gives
}

export interface Served {
  transactions: Transaction[];
  passes: Pass[];
  fewestPasses: number; // without bank conflicts
  moved: number;
  used: number;
}

/** The row of that id; the newest where there is none. */
export const archOf = (id: string): Arch => ARCHS.find((a) => a.id === id) ?? (ARCHS[0] as Arch);

/** The row of a device of compute capability "9.0". */
export function archOfDevice(capability: string): Arch {
  const [major = 0, minor = 0] = capability.split(".").map(Number);
  return ARCHS.find((a) => a.capability <= major * 10 + minor) ?? (ARCHS.at(-1) as Arch);
}

export const isActive = (mask: number, lane: number): boolean => ((mask >>> lane) & 1) === 1;

/** The lanes of a mask, in order. */
export const lanesOf = (mask: number): number[] =>
  Array.from({ length: LANES }, (_, lane) => lane).filter((lane) => isActive(mask, lane));

const withLane = (lanes: number, lane: number) => (lanes | (1 << lane)) >>> 0;
const floorTo = (n: number, size: number) => Math.floor(n / size) * size;
const isAtomic = (r: Asked) => r.op === "atomic" || r.op === "reduction";
const addressOf = (r: Asked, lane: number) => r.addresses[lane] ?? Number.NaN;

const localPlace = (lane: number, offset: number) =>
  Math.floor(offset / WORD) * WORD * LANES + lane * WORD + (offset % WORD);

// ---- global and local memory ----

const transaction = (address: number, size: number): Transaction => ({
  address,
  size,
  lanes: 0,
  used: 0,
  turns: 0,
  taken: new Array<boolean>(size).fill(false),
});

/** The transaction at the address among those from `from` on, which stay sorted. */
function transactionAt(list: Transaction[], from: number, size: number, address: number) {
  let at = list.length;
  while (at > from && (list[at - 1] as Transaction).address >= address) at--;
  const there = list[at];
  if (there?.address === address) return there;
  const made = transaction(address, size);
  list.splice(at, 0, made);
  return made;
}

function take(
  list: Transaction[],
  from: number,
  size: number,
  lane: number,
  first: number,
  bytes: number,
): void {
  const end = first + bytes;
  for (let at = first; at < end; ) {
    const begin = floorTo(at, size);
    const stop = Math.min(end, begin + size);
    const t = transactionAt(list, from, size, begin);
    t.lanes = withLane(t.lanes, lane);
    t.taken.fill(true, at - begin, stop - begin);
    at = stop;
  }
}

/** What the lane takes, word by word where these lie apart. */
function takeOfLane(list: Transaction[], from: number, size: number, r: Asked, lane: number): void {
  const first = addressOf(r, lane);
  if (r.space !== "local") {
    take(list, from, size, lane, first, r.bytes);
    return;
  }
  for (let at = first; at < first + r.bytes; ) {
    const next = Math.min(floorTo(at, WORD) + WORD, first + r.bytes);
    take(list, from, size, lane, localPlace(lane, at), next - at);
    at = next;
  }
}

/** Lanes that are served together: as many as ask for `most` bytes. */
function lanesTogether(bytes: number, most: number): number {
  let lanes = LANES;
  while (lanes > 1 && lanes * bytes > most) lanes /= 2;
  return lanes;
}

function mergePieces(arch: Arch, r: Asked): Transaction[] {
  const size = r.op === "load" ? arch.loadBytes : arch.storeBytes;
  const part = arch.merging === "in-parts" ? lanesTogether(r.bytes, PART_BYTES) : LANES;
  const list: Transaction[] = [];
  let from = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (lane % part === 0) from = list.length;
    if (isActive(r.mask, lane)) takeOfLane(list, from, size, r, lane);
  }
  return list;
}

/** Lanes of the transaction that change the place which most of them change. */
function busiestPlace(t: Transaction, r: Asked): number {
  const places = new Map<number, number>();
  for (const lane of lanesOf(t.lanes)) {
    const place = addressOf(r, lane);
    if (floorTo(place, t.size) === t.address) places.set(place, (places.get(place) ?? 0) + 1);
  }
  return Math.max(1, ...places.values());
}

function mergeOf(arch: Arch, r: Asked): Transaction[] {
  if (arch.merging === "segments") return inHalves(r).flatMap(mergeInSegments);
  if (arch.merging === "in-order") return inHalves(r).flatMap(mergeInOrder);
  return mergePieces(arch, r);
}

function serveByAddress(arch: Arch, r: Asked): Served {
  const transactions = mergeOf(arch, r);
  const served: Served = { transactions, passes: [], fewestPasses: 0, moved: 0, used: 0 };
  for (const t of transactions) {
    t.used = t.taken.filter(Boolean).length;
    t.turns = isAtomic(r) && r.space === "global" ? busiestPlace(t, r) : 0;
    served.moved += t.size;
    served.used += t.used;
  }
  return served;
}

// ---- shared memory ----

const newPass = (group: number): Pass => ({
  lanes: 0,
  group,
  banks: new Array<number>(BANKS).fill(0),
  units: new Array<number>(BANKS).fill(0),
});

function putLane(pass: Pass, lane: number, bank: number, unit: number): void {
  pass.lanes = withLane(pass.lanes, lane);
  pass.banks[bank] = withLane(pass.banks[bank] ?? 0, lane);
  pass.units[bank] = unit;
}

function unitOf(serving: Serving, word: number): number {
  if (serving === "pairs") return Math.floor(word / 2);
  return serving === "apart" ? Math.floor(word / 64) * 32 + (word % 32) : word;
}

/** Every active lane has the address of lane n ^ distance, or that one is not active. */
const partnersAgree = (r: Asked, distance: number): boolean =>
  lanesOf(r.mask).every(
    (lane) =>
      !isActive(r.mask, lane ^ distance) || addressOf(r, lane) === addressOf(r, lane ^ distance),
  );

function groupLanes(arch: Arch, r: Asked): number {
  const two = arch.serving === "apart" || arch.serving === "pairs";
  const lanes = lanesTogether(r.bytes, two ? TWO_WORDS : PART_BYTES);
  const wide = r.op === "load" && !r.matrix && (r.bytes === 8 || r.bytes === 16);
  const joins = arch.serving === "joined" && wide && (partnersAgree(r, 1) || partnersAgree(r, 2));
  return joins ? lanes * 2 : lanes;
}

function putInPass(passes: Pass[], r: Asked, lane: number, unit: number, group: number): void {
  const bank = unit % BANKS;
  const fits = (pass: Pass) => {
    const lanes = pass.banks[bank] ?? 0;
    if (lanes === 0 || r.meeting) return true;
    return pass.units[bank] === unit && (!isAtomic(r) || lanes === withLane(0, lane));
  };
  let pass = passes.find(fits);
  if (!pass) {
    pass = newPass(group);
    passes.push(pass);
  }
  putLane(pass, lane, bank, unit);
}

function serveGroup(arch: Arch, r: Asked, lanes: number[], group: number): Pass[] {
  const passes: Pass[] = [];
  for (const lane of lanes) {
    const first = Math.floor(addressOf(r, lane) / WORD);
    const end = Math.floor((addressOf(r, lane) + r.bytes - 1) / WORD) + 1;
    for (let word = first; word < end; word++)
      putInPass(passes, r, lane, unitOf(arch.serving, word), group);
  }
  if (arch.serving === "words-and-one" && r.bytes === 16) passes.push(newPass(group));
  return passes;
}

const servedIn = (passes: Pass[], fewestPasses: number): Served => ({
  transactions: [],
  passes,
  fewestPasses,
  moved: 0,
  used: 0,
});

function serveInGroups(arch: Arch, r: Asked): Served {
  const size = groupLanes(arch, r);
  const passes: Pass[] = [];
  const words = Math.ceil(r.bytes / WORD);
  let fewest = 0;
  for (let first = 0; first < LANES; first += size) {
    const lanes = lanesOf(r.mask).filter((lane) => lane >= first && lane < first + size);
    if (lanes.length === 0) continue;
    passes.push(...serveGroup(arch, r, lanes, first / size));
    fewest += r.bytes > PART_BYTES ? Math.ceil(words / BANKS) : 1;
  }
  return servedIn(passes, fewest);
}

// ---- compute capability 1.x: half a warp at a time, piece by piece ----

interface HalfRequest {
  first: number; // lane of the half
  lanes: number[];
  bytes: number;
  at: (lane: number) => number;
}

/** Every piece of both halves that has a lane. */
function inHalves(r: Asked): HalfRequest[] {
  const bytes = Math.min(r.bytes, r.space === "local" || r.space === "shared" ? WORD : 16);
  const halves: HalfRequest[] = [];
  for (let offset = 0; offset < r.bytes; offset += bytes) {
    for (const first of [0, HALF]) {
      const lanes = lanesOf(r.mask).filter((lane) => lane >= first && lane < first + HALF);
      const at = (lane: number) => {
        const address = addressOf(r, lane) + offset;
        return r.space === "local" ? localPlace(lane, address) : address;
      };
      if (lanes.length > 0) halves.push({ first, lanes, bytes, at });
    }
  }
  return halves;
}

/** Where the segment begins of which lanes take word after word in their order; undefined where they do not. */
function orderBegin(half: HalfRequest): number | undefined {
  const { bytes, lanes } = half;
  if (![4, 8, 16].includes(bytes)) return undefined;
  const begins = lanes.map((lane) => half.at(lane) - (lane - half.first) * bytes);
  const [begin = 0] = begins;
  return begins.every((b) => b === begin) && begin % Math.min(bytes * HALF, 128) === 0
    ? begin
    : undefined;
}

function mergeInOrder(half: HalfRequest): Transaction[] {
  const begin = orderBegin(half);
  const list: Transaction[] = [];
  if (begin === undefined) {
    for (const lane of half.lanes) take(list, list.length, SECTOR, lane, half.at(lane), half.bytes);
    return list;
  }
  const all = half.bytes * HALF;
  const size = Math.min(all, 128);
  for (let at = 0; at < all; at += size) list.push(transaction(begin + at, size));
  for (const lane of half.lanes) take(list, 0, size, lane, half.at(lane), half.bytes);
  return list;
}

/** Halves the transaction while only one half of it is used. */
function shrunk(t: Transaction): Transaction {
  const half = t.size / 2;
  const low = t.taken.slice(0, half);
  const high = t.taken.slice(half);
  if (t.size <= SECTOR || (low.includes(true) && high.includes(true))) return t;
  const upper = high.includes(true);
  const address = t.address + (upper ? half : 0);
  return shrunk({ ...t, address, size: half, taken: upper ? high : low });
}

function mergeInSegments(half: HalfRequest): Transaction[] {
  const size = half.bytes === 1 ? 32 : half.bytes === 2 ? 64 : 128;
  const list: Transaction[] = [];
  let left = half.lanes;
  while (left.length > 0) {
    const segment = floorTo(half.at(left[0] as number), size);
    const own: Transaction[] = [];
    for (const lane of left)
      if (floorTo(half.at(lane), size) === segment)
        take(own, 0, size, lane, half.at(lane), half.bytes);
    left = left.filter((lane) => floorTo(half.at(lane), size) !== segment);
    list.push(...own.map(shrunk));
  }
  return list;
}

/** The lanes that one pass serves, beginning with the first that is left. */
function passOfHalf(half: HalfRequest, op: string, left: number[], banks: number): Pass {
  const pass = newPass(half.first / HALF);
  const broadcast = Math.floor(half.at(left[0] as number) / WORD);
  for (const lane of left) {
    const word = Math.floor(half.at(lane) / WORD);
    const [holder] = lanesOf(pass.banks[word % banks] ?? 0);
    const same = holder !== undefined && half.at(holder) === half.at(lane);
    const joins = op === "load" ? word === broadcast : op === "store" && same;
    if (holder === undefined || joins) putLane(pass, lane, word % banks, word);
  }
  return pass;
}

function serveHalves(arch: Arch, r: Asked): Served {
  const passes: Pass[] = [];
  const halves = inHalves(r);
  for (const half of halves) {
    for (let left = half.lanes; left.length > 0; ) {
      const pass = passOfHalf(half, r.op, left, arch.banks);
      passes.push(pass);
      left = left.filter((lane) => !isActive(pass.lanes, lane));
    }
  }
  return servedIn(passes, halves.length);
}

/** What the request does on that row. It needs a lane and a byte. */
export function serve(arch: Arch, r: Asked): Served {
  if (r.space !== "shared") return serveByAddress(arch, r);
  return arch.serving === "one-broadcast" ? serveHalves(arch, r) : serveInGroups(arch, r);
}
