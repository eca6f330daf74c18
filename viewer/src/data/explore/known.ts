/** Which warps of a launch are known, and where each stands. */
import type { Opened } from "./table";

export class KnownWarps {
  readonly firstOf = new Map<number, number>(); // of a block: its first warp
  readonly blocks: number[] = []; // that have warps here, ascending

  constructor(readonly opened: Opened) {
    const { warps } = opened;
    for (let i = 0; i < warps.count; i++) {
      const block = warps.block[i] as number;
      if (this.firstOf.has(block)) continue;
      this.firstOf.set(block, i);
      this.blocks.push(block);
    }
  }

  indexOf(block: number, warp: number): number | undefined {
    const { warps } = this.opened;
    let i = this.firstOf.get(block) ?? warps.count;
    for (; i < warps.count && warps.block[i] === block; i++) if (warps.number[i] === warp) return i;
    return undefined;
  }

  /** -1 where nothing is known of it. */
  kindOf(block: number, warp: number): number {
    const i = this.indexOf(block, warp);
    return i === undefined ? -1 : (this.opened.warps.kind[i] as number);
  }

  /** Kinds of the block's warps by number; -1 where nothing is known of one. */
  kindsOf(block: number): Int32Array {
    const { warps } = this.opened;
    const kinds: number[] = [];
    let i = this.firstOf.get(block) ?? warps.count;
    for (; i < warps.count && warps.block[i] === block; i++) {
      while (kinds.length < (warps.number[i] as number)) kinds.push(-1);
      kinds.push(warps.kind[i] as number);
    }
    return Int32Array.from(kinds);
  }
}
