/** What a report carries. Made by tools/gen_keys.py from src/report/keys.def: change that, and
 * run it. */

/** A column in a map's part: byte offset and number of elements, whose bytes lie in planes, the
 * lowest first. */
export type Column = [offset: number, count: number];

export type Resource =
  | "issue"
  | "integer"
  | "fp32"
  | "fp64"
  | "half"
  | "sfu"
  | "convert"
  | "compare"
  | "shuffle"
  | "tensor"
  | "shared"
  | "barriers"
  | "l1"
  | "l2"
  | "dram"
  | "atomics"
  | "blocks"
  | "latency"
  | "launch";
export type Limit = "registers" | "shared" | "threads" | "blocks" | "grid";
export type Code_form = "ptx" | "sass";
export type Why = "asked" | "typical" | "outlier" | "traced";
export type Op = "load" | "store" | "atomic" | "reduction";
export type Space = "global" | "shared" | "local" | "const";
export type Origin = "loaded" | "copied" | "computed";
export type Known_by = "steps" | "hashes";
export type Remedy =
  | "swap-indices"
  | "widen-blocks"
  | "pad-shared-array"
  | "swizzle-shared-array"
  | "stage-in-shared-memory"
  | "keep-in-shared-memory"
  | "let-lanes-take-neighbours"
  | "run-along-rows"
  | "share-rows"
  | "load-vectors"
  | "work-together"
  | "renumber-index"
  | "transpose-data"
  | "use-whole-sectors"
  | "pass-tiles-through-shared-memory"
  | "pad-rows"
  | "align"
  | "split-records"
  | "combine-atomics"
  | "sort-updates"
  | "add-up-in-whole-warps"
  | "private-copies"
  | "keep-in-registers"
  | "exchange-by-shuffles"
  | "leave-out-barriers"
  | "synchronise-warps"
  | "exchange-arrays"
  | "reserve-less-shared-memory"
  | "read-directly"
  | "start-more-blocks"
  | "start-smaller-blocks"
  | "balance-work"
  | "keep-out-of-local-memory"
  | "call-cheaper-function"
  | "make-room"
  | "allocate-later"
  | "free-sooner"
  | "reuse-memory"
  | "allocate-less"
  | "reuse-slice"
  | "leave-out"
  | "move-to-host";
export type Pattern =
  | "hot"
  | "hot-random"
  | "false-sharing"
  | "misaligned"
  | "strided"
  | "uncoalesced"
  | "divergent"
  | "same-address"
  | "scattered-atomics"
  | "non-uniform-access"
  | "promote"
  | "shared-thread-local"
  | "shared-warp-local"
  | "shared-used-once"
  | "swap-arrays"
  | "unused-shared-memory"
  | "superfluous-barrier"
  | "bank-conflict"
  | "too-few-blocks"
  | "imbalance"
  | "local-memory"
  | "out-of-memory"
  | "early-allocation"
  | "late-deallocation"
  | "redundant-allocation"
  | "unused-allocation"
  | "leak"
  | "temporary-idleness"
  | "overallocation"
  | "structured-access"
  | "dead-write";
export type Scope = "program" | "object" | "kernel" | "kernel-and-object";
export type Unit =
  | "sectors"
  | "wavefronts"
  | "bytes"
  | "warp instructions"
  | "copied bytes"
  | "barriers"
  | "bytes of shared memory";
export type Gain =
  | "full"
  | "cached"
  | "latency"
  | "shuffles"
  | "hidden"
  | "covered"
  | "tiny"
  | "at-exit";
export type Effect = "nothing" | "later" | "sooner" | "left-out" | "away" | "reuse" | "smaller";
export type Level = "error" | "warning" | "info" | "debug";

/** An instruction of a kernel and of what it calls, in order. */
export interface Code {
  pc: number;
  text: string; // PTX, or as nvdisasm prints machine code.
  file?: number;
  line?: number;
  ptx_line?: number; // In the PTX: where it stands, or what it was made from.
  /** By warps, over all observed launches; absent where these were not all counted. */
  executions?: number;
}

/** Calls of one function with one stack. */
export interface Site {
  api: string;
  file?: number;
  line?: number;
  stack?: number; // In stacks.
}

export interface Frame {
  function?: string;
  file?: string;
  line?: number;
}

/** Where the calls of a process are made. */
export interface Sites {
  sites: Site[];
  stacks: Frame[][]; // Innermost frame first.
}

export interface Program {
  executable: string;
  arguments: string[];
  processes: number;
  collector: string;
  host?: string;
  started?: string; // ISO 8601.
}

/** A launch that failed, a call that tells of one, or a process whose record ends early. */
export interface Failure {
  what: string; // As "launch 2 (shift) failed".
  why: string; // Where, and which access to which object.
  launch?: number; // id in launches.
  object?: number; // id in objects: that the access hit, or missed by least.
  file?: string;
  line?: number;
}

/** Consecutive lines of a file. */
export interface Chunk {
  first: number;
  text: string;
}

/** Parts of a source file around what the report mentions; no chunks where the file could not be
 * read. */
export interface SourceFile {
  id: number;
  path: string;
  chunks: Chunk[];
  missing?: string; // Why there is no text.
}

/** Instructions of one class. */
export interface Mix {
  class: string;
  instructions: number;
}

/** What a launch is bound by, or would be by itself. */
export interface ResourceTime {
  name: Resource;
  words: string;
  seconds: number;
}

/** Seconds of a launch that would go if one thing were ideal, and the costs that the chart is
 * drawn from. */
export interface Benefits {
  parallelism: number; // Enough instructions that can run at once.
  /** No barriers, bank conflicts, contention for special functions, and atomics on one word. */
  serialisation: number;
  floating_point: number; // No instructions beside floating-point arithmetic.
  /** What is accessed moves once, at full bandwidth, as far as computation does not hide it. */
  memory_parallelism: number;
  computation: number;
  memory: number;
  overlap: number; // What of both goes on at the same time.
  least_computation: number; // Of nothing but floating-point arithmetic.
  least_memory: number; // Of moving once what is accessed.
}

/** Operations of one kind. */
export interface Arithmetic {
  name: Resource; // The resource that does them.
  words: string; // As "FP32".
  /** Of active lanes; a multiply-add is one, of a matrix instruction each of its multiply-adds. */
  operations: number;
  ceiling: number; // Operations a second that the device was measured to do at most.
}

/** What a level of memory moves. Atomics in global memory are in none. */
export interface LevelBytes {
  name: Resource; // The resource that is busy with it.
  words: string; // As "device memory".
  bytes: number; // Of whole sectors, needed or not; of shared memory whole wavefronts of 128 bytes.
  ceiling: number; // Bytes a second that the device was measured to move at most.
  reachable: number; // Bytes a second that it moves of accesses like these, by the model.
}

/** Operations of a launch against the bytes that each level of memory moves. */
export interface Roofline {
  /** Of floating point; of integers where there is none. Empty where nothing is computed. */
  arithmetic: Arithmetic[];
  levels: LevelBytes[]; // The nearest to the lanes first; none that moves nothing.
}

/** How long a launch should take, and what bounds it. */
export interface Prediction {
  seconds: number; // Its start included.
  low: number; // Eight of ten launches that were measured lie from here to `high`.
  high: number;
  unsure?: string[]; // What of its time cannot be known from counts, a sentence each.
  bound: Resource; // The resource that takes longest.
  resources: ResourceTime[]; // Longest first; none that takes nothing.
  benefits: Benefits; // By the equations of Sim et al., see docs/model.md.
  roofline: Roofline;
  measured?: number; // Seconds of a launch; absent where these were not measured.
  efficiency?: number; // The part of `measured` for which `bound` is busy, by the model.
}

export interface OccupancyLimit {
  name: Limit;
  words: string; // They end "limited by".
}

export interface OccupancyStep {
  of: Limit; // The limit that is changed.
  /** registers: of a thread; shared: bytes of a block; threads, blocks: threads of a block;
   * grid: its blocks. */
  now: number;
  wanted: number; // Likewise.
  blocks: number; // That are resident then.
  warps: number; // Likewise.
}

/** Warps that are resident on a multiprocessor at once. */
export interface Occupancy {
  warps: number; // On the one that has most of the grid's blocks.
  most: number; // That it holds.
  blocks: number; // That these warps are of.
  used: number; // Multiprocessors that have a block.
  sms: number; // All of them.
  limits: OccupancyLimit[]; // What keeps more out; empty where no more can be.
  estimated?: true; // Registers limit, but how many there are was estimated from PTX.
  step?: OccupancyStep; // The smallest change that lets more in; absent where no single one does.
}

/** Code of a kernel of which nothing was counted. */
export interface Listing {
  form: Code_form;
  code?: number; // The part that holds it, a list of Code as JSON; absent where there is none.
  sm?: number; // Compute capability, times ten, that the machine code was made for.
  device_sm?: number; // Likewise of the device of the first launch.
  instructions?: number;
  missing?: string; // Why there is no code, as the end of a sentence.
  /** Why instructions of the two forms have no `ptx_line` in common, only source lines; as the
   * end of a sentence. */
  apart?: string;
}

export interface Kernel {
  id: number;
  name: string; // Demangled.
  short_name: string; // Without arguments and return type.
  family?: string; // The template that it is an instance of, where there are others.
  instance?: string; // By which arguments it differs from those.
  launches: number; // Observed.
  grid: [number, number, number]; // Of the costliest launch.
  block: [number, number, number];
  device_seconds?: number; // Of all `noted` launches; an estimate unless as many were `timed`.
  timed?: number;
  noted?: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  lacks?: true; // Some of its accesses are not known: these sums are of the others.
  module?: string;
  file?: number;
  line?: number;
  machine_code?: number; // As in kernels[] of stats.
  machine_code_missing?: string;
  thread_instructions?: number;
  mix: Mix[]; // Executed by warps, over the observed launches.
  /** Of a launch, on average; absent where the counts or the device's figures are not known. */
  model?: Prediction;
  model_missing?: string; // Why there is none, a sentence; where that is known.
  occupancy?: Occupancy; // Of the costliest launch; absent where the device is not known.
  /** The part that holds its instructions, a list of Code as JSON; absent where they found no
   * room. */
  code?: number;
  code_form?: Code_form; // What `code` is, which the counts are of; absent where there is none.
  /** The same code in the other form, and machine code that could not be measured. */
  listings?: Listing[];
}

/** A block that was chosen for heat maps. */
export interface Sample {
  block: [number, number, number];
  /** asked: by --block; typical: it stands for others; outlier: it is unlike the rest; traced:
   * on the device, by a probe. */
  why: Why;
  alike?: number; // Blocks that it stands for, itself included.
  of: number; // Blocks of the launch.
  instructions?: number; // That the block's warps executed.
  sectors_per_request?: number;
  /** False: its accesses were too many to keep until it was chosen; --block gives its map. */
  mapped: boolean;
}

export interface Launch {
  id: number;
  kernel: number;
  grid: [number, number, number];
  block: [number, number, number];
  estimated?: boolean; // Counts are scaled from some of the blocks, or taken from a similar launch.
  blocks_run: number;
  blocks_observed: number;
  samples: Sample[]; // By block.
  blocks_sampled: number;
  stream?: number;
  thread_instructions?: number;
  host_seconds?: number;
  device_seconds?: number;
  fault?: string;
}

/** Ranges of one name, within ranges of one name. Names that end in the number of a step are
 * one. */
export interface Range {
  name: string; // As "step *".
  domain?: string; // Absent: the default one.
  parent?: number; // The row of ranges, from 0, that it is within.
  times: number; // How often it was opened, as far as CUDA was called in it.
  launches: number; // In it and in what is within it; so all that follows.
  host_seconds?: number; // Of the emulation on the host.
  device_seconds?: number; // On the device; launches that were not timed count as those like them.
  /** Of all launches' time on the device; where that is not known, of what they move. */
  share?: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  findings: number; // Numbers of findings of kernels that were launched in it.
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
  executions: number; // By warps, whatever the object.
  op: Op;
  space: Space;
  bytes: number; // Per lane.
  active_lanes: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  shapes: Shapes;
  stride: number; // Bytes between lanes, the commonest of the strided requests.
  object?: number;
  file?: number;
  line?: number;
  text?: string; // PTX.
}

/** How often kernels access the elements, aligned 4 bytes, of an object: counts are absent where
 * only what was touched is known. */
export interface Use {
  /** In aligned pieces of 4 bytes (elements) that kernels accessed; absent where that was not
   * measured. */
  touched_bytes: number;
  /** Accesses by lanes, one for each element that they load; with the following absent where
   * only touched_bytes is known. */
  loads?: number;
  stores?: number; // Likewise.
  atomics?: number; // Likewise, reductions included.
  /** Loads, stores and atomics of an element, over all elements; of a shared array those of all
   * blocks together. */
  accesses_mean?: number;
  accesses_max?: number; // Of the most accessed element.
  accesses_variation?: number; // Coefficient of variation of the accesses of an element.
  /** In elements that are accessed, but less than a tenth as often as an accessed one on
   * average. */
  rarely_used_bytes?: number;
  touched_partial?: true; // Of some launches this is not known: at least so much.
  touched_estimated?: true; // Some launches are taken to have accessed what similar launches did.
}

export interface MemoryObject {
  id: number;
  name: string;
  kind: string;
  space: Space;
  bytes?: number;
  base?: number;
  kernel?: number; // Of shared and local memory.
  file?: number; // Of the allocation or definition.
  line?: number;
  function?: string; // That allocates.
  process?: number; // Absent for shared and local memory.
  device?: number; // Its number in the process.
  freed?: boolean;
  use?: Use;
}

/** Live ranges of a shared array's elements that are alike. */
export interface LiveRanges {
  origin: Origin; // Where the value came from that they begin with.
  accesses: number; // Exact up to 15; from 16 on the fewest of an octave: 16 to 31, 32 to 63, ...
  ranges: number;
}

/** Elements that are accessed about equally often. */
export interface FrequencyBin {
  least: number; // Accesses of an element, at least.
  most: number; // At most.
  elements: number;
  accesses: number; // Of all of them.
}

/** How often a launch accesses the elements (4 bytes) of an object. */
export interface Frequency {
  launch: number; // The one that accesses them most; id in launches.
  elements: number; // That it accesses.
  mean: number; // Accesses of such an element.
  variation: number; // Their coefficient of variation.
  most: number; // Of one element.
  hot_offset: number; // Of the range that is accessed most, in bytes.
  hot_bytes: number; // Its size.
  hot_share: number; // Of all accesses, those to the range.
  histogram: FrequencyBin[]; // Elements by how often they are accessed, ascending.
}

/** The elements of an object in bins, as the launch that accesses it most does. */
export interface Strip {
  launch: number; // Its id.
  width: number; // Elements of a bin; the last may be shorter.
  touched: number[]; // Elements that are accessed, by bin.
  accesses?: number[]; // By bin; absent where only what was touched is known.
  frequency?: Frequency; // Likewise.
}

/** What a kernel accessed of an object, over all its launches. */
export interface KernelUse {
  kernel: number;
  object: number;
  elements: number; // That the object has.
  touched?: number; // Elements that the kernel accessed.
  loads?: number; // As in uses[] of stats; likewise those without a comment below.
  stores?: number;
  atomics?: number;
  mean?: number; // Accesses of an element, over all elements.
  most?: number; // Of the most accessed element.
  ranges?: number;
  accesses_per_range?: number;
  live_ranges?: LiveRanges[];
  accesses_per_block_element?: number;
  partial?: true;
  estimated?: true;
  strip?: Strip; // Where in the object the accesses go.
}

/** Where the columns of phases and of runs lie in the part; docs/report-payload.md has what they
 * hold. */
export interface PhaseColumns {
  size: Column;
  end: Column;
  first: Column;
  repeat: Column;
  loads: Column;
  stores: Column;
  atomics: Column;
  readers: Column;
  writers: Column;
  pcset: Column;
  begun: Column;
  accesses: Column;
  origin: Column;
  updated: Column;
}

/** What a block does to the words of a shared array, phase after phase (between its barriers):
 * runs of words that fare alike. */
export interface Phases {
  object: number;
  kernel: number;
  launch: number; // Id.
  block: [number, number, number];
  warps: number;
  words: number; // Of 4 bytes.
  first_bank: number; // Of the first word.
  phases: number;
  left_out: number; // Phases after these that found no room.
  rows: number; // Runs.
  pcsets: number[][];
  part: number; // That holds the columns.
  columns: PhaseColumns;
}

/** A warp of a launch. */
export interface WarpPlace {
  block: [number, number, number]; // Its block, by x, y, z.
  warp: number; // Its number in the block.
}

/** Warps of a launch that differ alike from others. */
export interface Outlier {
  block: [number, number, number]; // Its block, by x, y, z.
  warp: number; // Its number in the block.
  warps: number; // How many; block and warp are the first's.
  which: string; // As "warps 12 to 15 of every block".
  /** Mean over their operations of how much these differ, 0 to 1; of hashes the part of the
   * longer one's instructions that the other lacks. */
  difference: number;
  /** As "leave the loop at haar.cu:31 after 3 of 8 rounds"; of hashes as "ran 3.2 times as many
   * instructions". */
  why: string;
  /** What they are compared with: the representative; of warps that do what no warp of its block
   * does the warp of the same number there. */
  than: WarpPlace;
  file?: string; // That the reason is about.
  line?: number;
  operations?: number; // The fewest that one of them executed.
  operations_most?: number; // The most.
  instructions?: number; // Of hashes only: that the longest lane of each of them ran.
}

/** The warps of a launch compared: docs/comparing-warps.md. Where they are known by hashes and
 * counts only, nothing is known of their accesses, nor in which order they ran. */
export interface ComparedWarps {
  /** steps: what each warp did is known, step by step. hashes: of each warp a hash of its path,
   * and how many instructions it ran (the probe path); warps of one hash took the same path. */
  known_by: Known_by;
  count: number; // Warps whose steps, or whose hashes, are known.
  blocks: number; // Blocks that these are of.
  sequences: number; // Distinct sequences of steps among them; of hashes distinct paths.
  /** Sequences, told apart by where warps begin modulo 128 bytes: warps of a kind cost the same. */
  kinds?: number;
  dropped?: number; // Other warps, whose steps found no room; of hashes those that have none.
  stepped?: number; // Of hashes: warps whose requests were traced, so that these are known besides.
  /** Instructions that the representative executed; absent where some of its basic blocks are
   * not known. */
  operations?: number;
  lanes?: number; // Active ones of these, on average; absent likewise.
  instructions?: number; // Of hashes only: instructions that the representative's longest lane ran.
  requests?: number; // Of the representative.
  sectors?: number; // Likewise: of global and local memory.
  wavefronts?: number; // Likewise: of shared memory.
  alike: number; // Warps that the representative stands for; of hashes those that took its path.
  cut?: true; // There were too many kinds to compare all step by step.
  /** The warp that most are like, of a block that most are like; of hashes one in the middle, by
   * instructions. */
  representative: WarpPlace;
  /** Warps that differ, those that differ alike in one row; most different first. Of hashes
   * those that ran half as many instructions again as the representative, or less than two
   * thirds. */
  outliers: Outlier[];
}

/** The columns are explained in docs/report-payload.md. */
export interface PathsColumns {
  instructions: Column; // Of each path: that the longest lane ran.
  lane_instructions: Column;
  run_path: Column; // Of each run of warps.
  run_warps: Column;
}

/** Which path each warp of a launch took, as the probe path tells it. */
export interface Paths {
  compared: ComparedWarps;
  /** Compressed bytes that found no room in the report; the keys below are absent then. */
  left_out?: number;
  part?: number; // That holds the columns.
  columns?: PathsColumns;
}

/** The columns are explained in docs/report-payload.md. */
export interface ExploreColumns {
  pages: Column; // Of each sequence.
  page_bytes: Column;
  page_part: Column; // Index in the row's `pages`.
  page_steps: Column;
  group_sequence: Column;
  group_slots: Column;
  group_pages: Column; // Of warps.
  warp_page_bytes: Column;
  slot_space: Column; // In the order of the vocabulary.
  slot_object: Column;
  block_pc: Column; // The first instruction of each basic block.
  block_insns: Column;
}

/** What the warps of a launch did, step by step, or which paths they took:
 * docs/report-payload.md. */
export interface Explore {
  launch: number; // Id.
  kernel: number;
  launches: number; // Launches of the kernel.
  launches_known: number; // Of these, whose warps are known, or that did what such a one did.
  warps: number; // Whose steps are known; 0 where `hashed` is all that is.
  traced?: true; // The steps are of a few blocks, whose requests probes traced on the GPU.
  /** All instructions that they executed are known; else of some basic blocks only the accesses. */
  paths?: true;
  compared: ComparedWarps; // By their steps; where none is known by their hashes.
  hashed?: Paths; // The paths that the launch's warps took, known by hashes and counts.
  /** Compressed bytes that found no room in the report; the keys below are absent then. */
  left_out?: number;
  pages?: number[]; // The parts that hold the pages of steps.
  members?: number; // The part that holds the pages of warps.
  part?: number; // That holds the columns.
  columns?: ExploreColumns;
}

/** A launch whose row of `explore` a server gives: docs/report-payload.md. */
export interface Served {
  launch: number; // Id.
  kernel: number;
  hashed?: true; // No steps of it are known, but which paths its warps took.
}

/** A predicted gain. */
export interface Saving {
  /** Saved of all observed launches together: of their measured time where there is one, else of
   * the predicted. */
  seconds: number;
  low: number; // Eight of ten measured gains lie from here; below 0 it costs time.
  high: number; // To here.
  of_kernel?: number; // The part of the kernel's time; absent for several kernels.
  of_program: number; // The part of the time of all kernels.
  /** What the verdict goes by: the part of the kernel's time, its launch apart; of one that
   * takes hardly longer than its launch, with a grid that fills the device. */
  of_full?: number;
  /** Predicted of a launch of the kernel as it is, the mean; absent for several kernels. */
  before?: number;
  /** The same with the change: what the model says of the counts that the change leaves. */
  after?: number;
  /** Eight of ten measured launches lie from here, as of any prediction (`model.low`). */
  after_low?: number;
  after_high?: number; // To here.
  small?: true; // `of_full` is with a grid that fills the device.
}

/** Counts of memory instructions. */
export interface Counts {
  requests: number;
  sectors: number;
  wavefronts: number;
}

/** A change of the program that mends a finding. */
export interface Change {
  name: Remedy;
  title: string; // In a few words.
  advice: string; // What to change.
  conditions: string[]; // What must hold for the program to stay right.
  /** The counts come from running the kernel's addresses again with the change; else they are
   * the fewest that the data needs. */
  counted: boolean;
  before: Counts; // Of the instructions that it changes, over all observed launches.
  after: Counts; // With the change.
  gain?: Saving; // By itself; absent where the device was never measured.
}

export interface FindingLine {
  pc: number;
  requests: number;
  sectors: number;
  sectors_min: number;
  wavefronts: number;
  wavefronts_min: number;
  inside?: true; // Of a helper that was inlined at the line before: its requests are the same ones.
  file?: number;
  line?: number;
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

/** What the instructions of a kernel access. */
export interface Access {
  space: Space;
  launches: number; // That show it.
  example_launch: number; // The id of the costliest.
  objects: number; // That show it, allocated at one place one after the other.
  sectors: ExampleSector[]; // Examples from a heat map.
}

/** Objects that are allocated at one place. */
export interface Held {
  object: number; // The largest; id in objects.
  name: string; // Of it.
  count: number; // Objects.
  bytes: number; // Of all of them.
  /** The program divides it, and this is what none of its parts has, which are listed
   * themselves. */
  rest?: true;
}

/** Memory that following a finding would have left free. */
export interface Room {
  pattern: Pattern; // Of the finding.
  object: number; // That it is about; id in objects.
  name: string; // Of the object.
  bytes: number;
}

/** What there was when an allocation failed for want of memory. */
export interface Refusal {
  requested: number; // Bytes that it asked for.
  free: number; // Bytes of the device that no process held.
  total: number; // Bytes of the device.
  in_use: number; // Bytes that objects of the process held.
  held: Held[]; // By place of allocation, most bytes first.
  /** What following other findings would have left free then; the most first, until nothing is
   * missing. */
  room: Room[];
}

/** A head that all findings share, and a part for each kind of evidence. */
export interface Finding {
  number: number; // Of its group, from 1.
  pattern: Pattern;
  title: string;
  subject: Scope; // What it is about.
  kernel?: number; // Absent for findings that concern no single kernel.
  object?: number; // The costliest.
  /** By which the kernel was given the object; absent where that is not known. */
  parameters?: string[];
  unit: Unit; // Of the excess.
  excess: number; // What could be saved.
  share_of_kernel?: number; // Of what the kernel pays in this unit.
  /** Of what the program pays: of its sectors and wavefronts, or of its memory at the peak. */
  share_of_program: number;
  kernel_share_of_time?: number; // The kernel's part of the program's device time.
  gain: Gain; // Fixing those that are not full gains little; they come last.
  gain_note?: string; // Why it gains little.
  worth?: Saving; // Predicted to be saved.
  remedies?: Change[]; // What may be done about it, the first what is advised.
  summary: string;
  lines: FindingLine[]; // The costliest first.
  evidence: Evidence[];
  access?: Access; // Of findings about what a kernel accesses.
  refusal?: Refusal; // Of an allocation that failed for want of memory.
  frequency?: Frequency; // Of findings about elements that are accessed more often than others.
}

/** Findings that one change fixes: findings[first], findings[first + 1], ..., costliest first. */
export interface Group {
  first: number;
  count: number;
  kernels: number[]; // Ids, costliest first.
  objects: number[]; // Shared arrays of one name and size once.
  excess: number;
  share_of_program: number;
  worth?: Saving; // Predicted to be saved by following all their advice.
  gain_reason?: string; // Why fixing gains little, where it does.
  advice: string;
}

/** Patterns that cost too little to be findings, and sectors that fit no pattern. */
export interface LeftOut {
  text: string; // All of it in a line.
  patterns: number; // By kernel and object.
  sectors: number; // That requests move beyond those needed, and that belong to no pattern.
  share_of_sectors?: number; // Of all sectors that move.
  /** The kernel that moves most of them, where they are much of what it moves. */
  sectors_kernel?: string;
  /** The share is so large that an empty list of findings does not mean that all is well. */
  much?: true;
  pattern?: Pattern; // Of the pattern that costs its kernel the most.
  kernel?: string; // Its kernel.
  object?: string; // And its object.
  share?: number; // Of what the kernel pays, else the program.
}

/** Where the columns of a map lie in its part. */
export interface Columns {
  skip: Column;
  repeat: Column;
  word?: Column;
  reads: Column;
  writes: Column;
  atomics: Column;
  owner: Column;
  pcset: Column;
  warmth?: Column;
}

/** The heat map of one sampled block over one object: runs of consecutive sectors that are alike
 * in every column. */
export interface HeatMap {
  object: number;
  kernel: number;
  launch: number; // Id.
  space: Space;
  block: [number, number, number];
  warps: number;
  first_sector: number; // Of row 0: bytes from the object's start / 32, rounded down.
  rows: number; // Runs.
  sectors: number;
  dropped: number; // Sectors that are left out, since the map was full.
  left_out: number; // Sectors that the report left out.
  merged: boolean; // `warmth` in place of `word`; the rest is of the first sector of each run.
  pcsets: number[][];
  part: number; // That holds the columns.
  columns: Columns;
}

/** A moment when much memory was in use. */
export interface Peak {
  process: number; // In the order of their start, from 1.
  device: number; // Its number in the process, from 0.
  bytes: number; // In use on the device.
  call?: string; // That reached it, with its source line.
  objects: number[]; // Alive then, largest first.
}

/** The memory of one process on one device. */
export interface DeviceMemory {
  process: number; // In the order of their start, from 1.
  device: number; // Its number in the process, from 0.
  name?: string; // Of the device.
  peak_bytes: number; // The most that was in use at once.
}

export interface CourseDevice {
  device: number; // Its number in the process, from 0.
  /** Not the device, but a pool of the program's on it: its first object; id in objects. */
  pool?: number;
  pool_name?: string; // What the program calls it.
  peak: number; // Bytes.
  peak_after: number; // With all steps of the plan.
  moment?: number; // The first operation at the peak.
}

/** What runs one after another. */
export interface Queue {
  thread: boolean; // A thread of the host; else a stream.
  number: number; // Of the thread or stream; stream 0 is the default one.
}

/** What one change in the source does to objects. */
export interface MemoryChange {
  pattern: Pattern;
  title: string; // Of the pattern.
  /** later: allocated just before `to`; sooner: freed just after `from`; left-out: not
   * allocated; away: given back between `from` and `to`; reuse: it lives in the memory of
   * `other`; smaller: `bytes` are enough. */
  effect: Effect;
  possible?: true; // What was not seen may rule it out.
  first: number; // Of its hits, which stand side by side.
  count: number; // Of its hits: one for each object and time.
  saves: number; // Bytes at the peak of the device, by itself.
  number?: number; // Of the finding; absent where it saves too little to be one.
}

export interface FailedAllocation {
  at: number; // Operations before this one were over; as many as there are: all were.
  device: number; // In devices.
  call?: string; // With its source line.
  bytes?: number; // That it asked for; absent where that is not known.
  free: number; // Bytes of the device, for all processes.
  total: number;
}

/** Where the columns of operations, sets of accesses, objects and hits lie in the part;
 * docs/report-payload.md has what they hold. */
export interface CourseColumns {
  kind: Column;
  flags: Column;
  repeat: Column;
  level: Column;
  queue: Column;
  thread: Column;
  about: Column;
  accesses: Column;
  kernel: Column;
  site: Column;
  since: Column;
  took: Column;
  set_size: Column;
  access_object: Column;
  access_how: Column;
  object: Column;
  object_flags: Column;
  object_ended: Column;
  bytes: Column;
  device: Column;
  allocate: Column;
  free: Column;
  begin: Column;
  end: Column;
  first: Column;
  last: Column;
  hit_object: Column;
  hit_other: Column;
  hit_from: Column;
  hit_to: Column;
  hit_calls: Column;
  hit_step: Column;
  hit_bytes: Column;
  hit_adds: Column;
}

/** What a process did with its device memory, an operation after another. */
export interface Course {
  process: number; // In the order of their start, from 1.
  operations: number; // Rows of them.
  /** Rows that found no room: none at which memory is allocated, freed, or accessed first or
   * last. */
  left_out?: number;
  objects: number;
  devices: CourseDevice[];
  queues: Queue[];
  changes: MemoryChange[]; // That findings ask for.
  refusals: FailedAllocation[]; // Allocations that failed for want of memory.
  part: number; // That holds the columns.
  columns: CourseColumns;
  sites: number; // The part that holds Sites as JSON.
}

/** Device memory; each process has its own on each device. */
export interface Memory {
  peak_bytes?: number; // The most that one process had in use at once on one device.
  peaks: Peak[]; // Highest first; at most two of each process and device.
  devices: DeviceMemory[]; // One for each process and device on which it allocated something.
  courses: Course[]; // What each process did with its objects, for the view of memory.
}

/** A kernel whose launches were not observed. */
export interface Skip {
  kernel: string;
  short_name: string;
  reason: string;
  launches: number;
}

/** A memory instruction whose accesses are not known in all launches that were observed. */
export interface Gap {
  kernel: string; // Demangled.
  pc: number; // Of the memory instruction.
  file?: string;
  line?: number;
  reason: string; // The end of a sentence, as "its address depends on data loaded from memory".
}

/** A message of the collector. */
export interface Message {
  level: Level;
  text: string;
}

/** A threshold of the analyses that was set. */
export interface Threshold {
  name: string; // As `stats --thresholds` lists it.
  value: number; // That findings were made with.
  initial: number; // Its default.
}

export interface Coverage {
  skipped: Skip[];
  gaps?: Gap[];
  unsupported_calls: string[];
  messages: Message[];
  maps_left_out: number; // Heat maps of the profile that the report does not hold.
  launches_left_out: number;
  launches_seen?: number;
  launches_estimated?: number; // From some of their blocks, or from a similar launch.
  launches_observed?: number; // Those that ended without an error.
  launches_failed?: number;
  kernels_seen?: number;
  kernels_observed?: number;
  blocks_run?: number;
  blocks_observed?: number;
  blocks_sampled?: number;
  launches_mapped?: number;
  records_dropped?: number;
  sectors_dropped?: number; // Of heat maps that were full.
  processes?: number;
  objects_without_site?: number;
  sources_missing?: number;
  thresholds?: Threshold[]; // Those that were set; absent where none was.
}

export interface Device {
  name: string;
  compute_capability: string; // As "9.0".
  sms?: number;
  bytes?: number;
}

/** The data inside an HTML report; docs/report-payload.md explains them, src/data/payload.ts has
 * the same as types. */
export interface Payload {
  schema: "warplens-report/1";
  version: string;
  program: Program;
  failures: Failure[]; // Shown before all else.
  files: SourceFile[];
  kernels: Kernel[];
  launches: Launch[];
  ranges?: Range[]; // As ranges of stats.
  instructions: Instruction[];
  objects: MemoryObject[];
  uses: KernelUse[]; // How often each kernel accessed the elements of each object.
  phases: Phases[]; // What sampled blocks did to shared arrays, phase after phase.
  explorer?: true; // The report opens at what warps did.
  explore: Explore[]; // What the warps of launches did, step by step.
  served?: Served[]; // Launches of which the server that gave the page tells that when it is asked.
  /** The profile's file name, where its launches can stand beside those of another one. */
  profile?: string;
  findings: Finding[]; // Group after group.
  /** Those worth fixing first, what saves most time first where that is predicted; else the
   * costliest first. */
  groups: Group[];
  left_out?: LeftOut; // What was observed, but is no finding.
  maps: HeatMap[];
  memory: Memory;
  coverage: Coverage;
  device?: Device;
}
