/** What the four levels of the explorer share. */

/** What a warp did: lanes that began a basic block, a request on one object, or a barrier that was met. */
export interface Step {
  kind: "entry" | "access" | "barrier";
  pc: number;
  mask: number; // active lanes, as 32 bits without sign
  slot: number; // of the object that is accessed; -1: none
  offsets: number[]; // by lane, bytes from the warp's begin in the object; of lanes that are not active: NaN
}

/** An object that the warps of a sequence access. */
export interface Slot {
  space: string;
  object: number; // id; 0: not known
}

/** One warp of a launch. */
export interface WarpData {
  block: number; // linear index
  warp: number; // its number in the block
  kind: number; // warps of one kind cost the same
  begins: number[]; // by slot, bytes from the object's begin
  slots: Slot[];
  steps: () => Step[]; // decoded when asked for; those of a few sequences are kept
  operations: () => Operation[]; // as above
}

/** One instruction executed by a warp. `step` in the address and in `onStep` is its place among the warp's operations. */
export interface Operation {
  pc: number;
  mask: number; // lanes that stand at the instruction
  accesses: Step[]; // none where it accesses no memory; several where its lanes access several objects
  barrier: boolean;
}

/** What a row of the table of architectures is asked about. */
export interface Request {
  op: string;
  space: string;
  bytes: number; // that each lane accesses
  mask: number;
  addresses: number[]; // by lane: from the object's begin, or of shared memory from its begin; NaN where not active
}
