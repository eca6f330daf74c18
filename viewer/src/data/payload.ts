/** What a report carries: written by src/report/payload.c, described in docs/report-payload.md and checked against
 * src/data/payload.schema.json. What was not measured is absent, never zero. Kernels, objects, launches and files are
 * named by their ids in the profile, which count from 1. */

/** A column in a map's part: byte offset and number of elements, whose bytes lie in planes, the lowest first. */
export type Column = [offset: number, count: number];

export type Space = "global" | "shared" | "local" | "const";
export type Op = "load" | "store" | "atomic" | "reduction";
export type Unit = "sectors" | "wavefronts" | "bytes";

export interface Program {
  executable: string;
  processes: number;
  arguments: string[];
  host?: string;
  started?: string; // ISO 8601
  collector: string;
}

export interface Device {
  name: string;
  compute_capability: string; // "9.0"
  sms?: number;
  bytes?: number;
}

/** Parts of a source file around what the report mentions; no chunks where the file could not be read. */
export interface SourceFile {
  id: number;
  path: string;
  missing?: string; // why there is no text
  chunks: { first: number; text: string }[];
}

export interface Kernel {
  id: number;
  name: string; // demangled
  short_name: string; // without arguments and return type
  module?: string;
  file?: number;
  line?: number;
  launches: number; // observed
  grid: [number, number, number]; // of the costliest launch
  block: [number, number, number];
  thread_instructions?: number;
  device_seconds?: number; // of all `noted` launches, an estimate unless as many were `timed`
  timed?: number;
  noted?: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  mix: { class: string; instructions: number }[]; // executed by warps, over the observed launches
}

export interface Launch {
  id: number;
  kernel: number;
  grid: [number, number, number];
  block: [number, number, number];
  stream?: number;
  thread_instructions?: number;
  host_seconds?: number;
  device_seconds?: number;
  blocks_run: number;
  blocks_observed: number;
  blocks_sampled: number;
  estimated?: boolean; // counts are scaled from some of the blocks, or those of a launch like it
  samples: Sample[]; // by block
  fault?: string;
}

/** A block that was chosen for heat maps. */
export interface Sample {
  block: [number, number, number];
  why: "asked" | "typical" | "outlier" | "traced";
  alike?: number; // blocks that it stands for, itself included
  of: number; // blocks of the launch
  instructions?: number; // that its warps executed
  sectors_per_request?: number;
  mapped: boolean; // false: its accesses were too many to keep until it was chosen; `--block` gives its map
}

/** How the requests of an instruction look; each request counts in exactly one. */
export interface Shapes {
  uniform: number;
  contiguous: number;
  misaligned: number;
  strided: number;
  irregular: number;
}

/** A memory instruction on one object, summed over the observed launches of its kernel. */
export interface Instruction {
  kernel: number;
  pc: number;
  executions: number; // by warps, whatever the object
  op: Op;
  space: Space;
  object?: number;
  file?: number;
  line?: number;
  text?: string; // PTX
  bytes: number; // per lane
  requests: number;
  active_lanes: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  shapes: Shapes;
  stride: number; // bytes between lanes, the commonest of the strided requests
}

/** How often kernels access the elements, aligned 4 bytes, of an object: counts are absent where only what was touched is known. */
export interface Use {
  touched_bytes: number;
  loads?: number;
  stores?: number;
  atomics?: number;
  accesses_mean?: number; // of an element; of shared arrays by all blocks together
  accesses_max?: number;
  accesses_variation?: number;
  rarely_used_bytes?: number;
  touched_partial?: boolean; // of some launches it is not known
  touched_estimated?: boolean;
}

export interface MemoryObject {
  id: number;
  name: string;
  kind: string;
  space: Space;
  bytes?: number;
  base?: number;
  kernel?: number; // of shared and local memory
  file?: number; // of the allocation or definition
  line?: number;
  function?: string; // that allocates
  freed?: boolean;
  use?: Use;
}

export interface FindingLine {
  file?: number;
  line?: number;
  pc: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
}

export interface Evidence {
  name: string;
  label: string;
  value: number;
  unit: string;
}

export interface ExampleSector {
  offset: number;
  temperature: number;
  words: number[];
}

/** What is wrong; src/analysis/patterns.def and docs/patterns tell more. */
export type Pattern =
  | "hot"
  | "hot-random"
  | "false-sharing"
  | "misaligned"
  | "strided"
  | "uncoalesced"
  | "divergent"
  | "shared-thread-local"
  | "shared-warp-local"
  | "bank-conflict"
  | "early-allocation"
  | "late-deallocation"
  | "redundant-allocation"
  | "unused-allocation"
  | "leak"
  | "temporary-idleness"
  | "dead-write"
  | "overallocation"
  | "non-uniform-access"
  | "structured-access";

export interface Finding {
  number: number; // of its group, from 1
  pattern: Pattern;
  title: string;
  kernel: number;
  object?: number; // the costliest
  objects?: number; // that show it, made at one place one after the other; absent: one
  space: Space;
  launches: number;
  example_launch: number; // id
  unit: Unit;
  excess: number;
  share_of_kernel: number;
  share_of_program: number;
  kernel_share_of_time?: number; // the kernel's part of the program's device time
  gain: "full" | "cached" | "latency" | "shuffles" | "tiny"; // fixing those that are not full gains little; they come last
  gain_note?: string; // why
  summary: string;
  lines: FindingLine[];
  evidence: Evidence[];
  sectors: ExampleSector[];
}

/** Findings that one change fixes: findings[first], findings[first + 1], ..., costliest first. */
export interface Group {
  first: number;
  count: number;
  kernels: number[]; // ids, costliest first
  objects: number[]; // shared arrays of one name and size once
  excess: number;
  share_of_program: number;
  gain_reason?: string; // why fixing gains little, where it does
  advice: string;
}

/** The heat map of one sampled block over one object: runs of consecutive sectors that are alike in every column. */
export interface HeatMap {
  object: number;
  kernel: number;
  launch: number; // id
  space: Space;
  block: [number, number, number];
  warps: number;
  first_sector: number; // of row 0: bytes from the object's start / 32, rounded down
  rows: number; // runs
  sectors: number;
  dropped: number; // sectors that the collector left out
  left_out: number; // sectors that the report left out
  merged: boolean; // `warmth` in place of `word`; the rest is of the first sector of each run
  pcsets: number[][];
  part: number; // that holds the columns
  columns: {
    skip: Column; // u64: sectors between the run before and this one
    repeat: Column; // u32: sectors of the run
    word?: Column; // u32, 8 times `rows`: warps that touched word 0, 1, ..., each xor those of the word before
    warmth?: Column; // u8, 9 times `rows`: how many warps touched word 0, 1, ... and the sector
    reads: Column; // u32: requests
    writes: Column; // u32
    atomics: Column; // u32
    owner: Column; // u16: 2 bits a word: none, thread, warp, block
    pcset: Column; // u16: index in pcsets
  };
}

/** A memory instruction whose accesses are not known in all launches that were observed. */
export interface Gap {
  kernel: string;
  pc: number;
  file?: string;
  line?: number;
  reason: string;
}

export interface Coverage {
  launches_seen?: number;
  launches_observed?: number;
  launches_estimated?: number; // from a part of their blocks, or from a launch like them
  blocks_run?: number;
  blocks_observed?: number;
  blocks_sampled?: number;
  records_dropped?: number;
  kernels_seen?: number;
  kernels_observed?: number;
  sectors_dropped?: number; // of heat maps that were full
  processes?: number;
  cut_off: string[]; // why captures end early
  objects_without_site?: number;
  sources_missing?: number;
  skipped: { kernel: string; short_name: string; reason: string; launches: number }[];
  gaps?: Gap[];
  unsupported_calls: string[];
  messages: { level: "debug" | "info" | "warning" | "error"; text: string }[];
  maps_left_out: number; // heat maps of the profile that the report does not hold
  launches_left_out: number;
}

export interface Memory {
  peak_bytes?: number;
  peaks: { bytes: number; call?: string; objects: number[] }[];
}

export interface Payload {
  schema: "warplens-report/1";
  version: string;
  program: Program;
  device?: Device;
  files: SourceFile[];
  kernels: Kernel[];
  launches: Launch[];
  instructions: Instruction[];
  objects: MemoryObject[];
  findings: Finding[]; // group after group
  groups: Group[]; // those worth fixing first, then the costliest first
  maps: HeatMap[];
  memory: Memory;
  coverage: Coverage;
}
