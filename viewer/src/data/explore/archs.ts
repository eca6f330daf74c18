// Made by tools/gen_archs.py from src/analysis/explore/archs.def: change that, and run it.

/** How lanes' accesses to global and local memory become transactions. */
export type Merging = "whole-warp" | "in-parts" | "segments" | "in-order";
/** How shared memory serves lanes, pass by pass. */
export type Serving = "joined" | "words" | "words-and-one" | "apart" | "pairs" | "one-broadcast";

/** How a generation of GPUs serves a request. */
export interface Arch {
  id: string;
  name: string;
  capability: number; // major * 10 + minor of the first that it is true of
  merging: Merging;
  loadBytes: number; // of a transaction, where the rule leaves that open
  storeBytes: number;
  serving: Serving;
  banks: number;
  note: string;
}

/** The newest first. */
export const ARCHS: Arch[] = [
  {
    id: "10.0",
    name: "10.x and later (Blackwell)",
    capability: 100,
    merging: "whole-warp",
    loadBytes: 32,
    storeBytes: 32,
    serving: "joined",
    banks: 32,
    note: "Loads go through L1 in lines of 128 bytes, of which only the sectors of 32 bytes that are asked for move; stores go on to L2. A bulk copy (TMA) is one operation of one thread: it moves whole sectors past L1, and begins and ends at multiples of 16 bytes.",
  },
  {
    id: "9.0",
    name: "9.0 (Hopper)",
    capability: 90,
    merging: "whole-warp",
    loadBytes: 32,
    storeBytes: 32,
    serving: "joined",
    banks: 32,
    note: "Loads go through L1 in lines of 128 bytes, of which only the sectors of 32 bytes that are asked for move; stores go on to L2. A bulk copy (TMA) is one operation of one thread: it moves whole sectors past L1, and begins and ends at multiples of 16 bytes.",
  },
  {
    id: "8.0",
    name: "8.x (Ampere, Ada)",
    capability: 80,
    merging: "whole-warp",
    loadBytes: 32,
    storeBytes: 32,
    serving: "joined",
    banks: 32,
    note: "Loads go through L1 in lines of 128 bytes, of which only the sectors of 32 bytes that are asked for move; stores go on to L2. cp.async copies from global to shared memory without registers, of 16 bytes a thread without L1, too. There are no bulk copies.",
  },
  {
    id: "7.0",
    name: "7.x (Volta, Turing)",
    capability: 70,
    merging: "whole-warp",
    loadBytes: 32,
    storeBytes: 32,
    serving: "joined",
    banks: 32,
    note: "Loads go through L1 in lines of 128 bytes, of which only the sectors of 32 bytes that are asked for move; stores go on to L2. What later ones copy asynchronously is a load and a store here.",
  },
  {
    id: "5.0",
    name: "5.x, 6.x (Maxwell, Pascal)",
    capability: 50,
    merging: "whole-warp",
    loadBytes: 32,
    storeBytes: 32,
    serving: "words",
    banks: 32,
    note: "Global memory is cached in L2, in sectors of 32 bytes; only data that is read-only goes through L1.",
  },
  {
    id: "3.0",
    name: "3.x (Kepler)",
    capability: 30,
    merging: "in-parts",
    loadBytes: 32,
    storeBytes: 32,
    serving: "apart",
    banks: 32,
    note: "Global memory is cached in L2 only. A bank of shared memory gives 8 bytes a pass: a word of 4 bytes, and the one that lies 128 bytes from it in 256 aligned bytes.",
  },
  {
    id: "3.0-l1",
    name: "3.x, loads through L1",
    capability: 30,
    merging: "in-parts",
    loadBytes: 128,
    storeBytes: 32,
    serving: "apart",
    banks: 32,
    note: "Loads move whole lines of 128 bytes, for which a program is compiled with -Xptxas -dlcm=ca (some devices of 3.5, and 3.7).",
  },
  {
    id: "3.0-8",
    name: "3.x, banks of 8 bytes",
    capability: 30,
    merging: "in-parts",
    loadBytes: 32,
    storeBytes: 32,
    serving: "pairs",
    banks: 32,
    note: "The program has called cudaDeviceSetSharedMemConfig: 8 bytes next to each other lie in one bank.",
  },
  {
    id: "2.0",
    name: "2.x (Fermi)",
    capability: 20,
    merging: "in-parts",
    loadBytes: 128,
    storeBytes: 32,
    serving: "words-and-one",
    banks: 32,
    note: "Loads move whole lines of 128 bytes through L1, stores sectors of 32 bytes to L2.",
  },
  {
    id: "2.0-l2",
    name: "2.x, loads without L1",
    capability: 20,
    merging: "in-parts",
    loadBytes: 32,
    storeBytes: 32,
    serving: "words-and-one",
    banks: 32,
    note: "The program is compiled with -Xptxas -dlcm=cg: loads move sectors of 32 bytes, as stores do.",
  },
  {
    id: "1.2",
    name: "1.2, 1.3",
    capability: 12,
    merging: "segments",
    loadBytes: 0,
    storeBytes: 0,
    serving: "one-broadcast",
    banks: 16,
    note: "Each half of the warp is served on its own, nothing is cached, and shared memory has 16 banks.",
  },
  {
    id: "1.0",
    name: "1.0, 1.1",
    capability: 10,
    merging: "in-order",
    loadBytes: 0,
    storeBytes: 0,
    serving: "one-broadcast",
    banks: 16,
    note: "Each half of the warp is served on its own. Only where its threads take neighbouring words of one segment in their order does it move as one; else each thread has a transaction of 32 bytes.",
  },
];
