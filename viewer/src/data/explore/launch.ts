/** A launch as the explorer's views ask about it: its warps, their kinds, and how much they differ. */
import type { Model } from "../model";
import type { Explore } from "../payload";
import { startWorker } from "../worker";
import type { Ask, Numbered, Reply } from "./ask";
import { eachVisit, type Paths, reply, unpacked } from "./ask";
import { type Access, accessKey, baseOf } from "./cost";
import type { Curve } from "./difference";
import { blocksOf, Engine, type Pair, type Source, Steps } from "./engine";
import { accessOf } from "./insight";
import { KnownWarps } from "./known";
import { operationsOf } from "./operations";
import type { Path } from "./path";
import type { Held } from "./served";
import type { Opened } from "./table";
import type { Operation, Slot, Step, WarpData } from "./types";

export function sourceOf(m: Model, { row, parts }: Held): Source {
  const part = (number: number | undefined) => parts[number ?? -1] ?? "";
  const accesses = m.payload.instructions
    .filter((i) => i.kernel === row.kernel)
    .map((i): [string, Access] => [accessKey(i.pc, i.space), accessOf(i)]);
  const bases = m.payload.objects.map((o): [number, number] => [o.id, baseOf(o)]);
  return {
    row,
    columns: part(row.part),
    members: part(row.members),
    pages: (row.pages ?? []).map(part),
    accesses,
    bases,
  };
}

/** Sends questions to an engine in a worker; where there is none it works in the page. */
class Remote {
  private readonly worker = startWorker();
  private readonly waiting = new Map<number, [(r: Reply) => void, (e: Error) => void]>();
  private engine: Promise<Engine> | undefined;
  private next = 0;

  constructor(private readonly source: Source) {
    if (!this.worker) return;
    this.worker.onmessage = ({ data }: MessageEvent<Numbered<Reply> & { error?: string }>) => {
      const [resolve, reject] = this.waiting.get(data.id) ?? [];
      this.waiting.delete(data.id);
      if (data.error === undefined) resolve?.(data.explore);
      else reject?.(new Error(data.error));
    };
    this.worker.onerror = () => {
      for (const [, reject] of this.waiting.values()) reject(new Error("The worker has failed."));
      this.waiting.clear();
    };
  }

  async open(): Promise<Opened> {
    if (this.worker) {
      const r = await this.ask({ open: this.source });
      if ("opened" in r) return r.opened;
    }
    this.engine = Engine.open(this.source);
    return (await this.engine).opened;
  }

  async ask(ask: Ask): Promise<Reply> {
    const { worker } = this;
    if (!worker || this.engine) {
      if ("open" in ask || !this.engine) throw new Error("The launch is not open.");
      return reply(await this.engine, ask);
    }
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, [resolve, reject]);
      worker.postMessage({ id, explore: ask });
    });
  }
}

const BATCH = 1024; // curves that are asked for at once
const ROOM = 4 << 20; // visits and operations that are looked at for one picture, of rounds that are alike one: a few seconds
const KEPT = 4; // sequences whose steps are kept

export class LaunchData extends KnownWarps {
  private readonly steps: Steps;
  private readonly kept = new Map<number, { steps: Step[]; operations: Operation[] }>();
  private readonly curves = new Map<string, Curve>();

  private constructor(
    readonly row: Explore,
    private readonly remote: Remote,
    opened: Opened,
    source: Source,
  ) {
    super(opened);
    this.steps = new Steps(source.pages, opened.table);
  }

  static async load(m: Model, held: Held): Promise<LaunchData> {
    const source = sourceOf(m, held);
    const remote = new Remote(source);
    return new LaunchData(held.row, remote, await remote.open(), source);
  }

  /** A warp with its steps at hand; undefined where nothing is known of it. */
  async warp(block: number, number: number): Promise<WarpData | undefined> {
    const i = this.indexOf(block, number);
    if (i === undefined) return undefined;
    const { warps, table } = this.opened;
    const group = table.groups[warps.group[i] as number];
    if (!group) return undefined;
    const from = warps.beginAt[i] as number;
    const did = await this.did(group.sequence, group.slots);
    return {
      block,
      warp: number,
      kind: warps.kind[i] as number,
      begins: Array.from(warps.begins.subarray(from, from + group.slots.length)),
      slots: group.slots,
      steps: () => did.steps,
      operations: () => did.operations,
    };
  }

  private async did(sequence: number, slots: Slot[]) {
    const known = this.kept.get(sequence);
    if (known) return known;
    const steps = await this.steps.of(sequence);
    const did = { steps, operations: operationsOf(steps, blocksOf(this.opened.table), slots) };
    if (this.kept.size >= KEPT) this.kept.delete([...this.kept.keys()][0] as number);
    this.kept.set(sequence, did);
    return did;
  }

  private known: Paths | undefined;

  /** What the kinds executed is there when this is done; of others nothing is. */
  async loadPaths(kinds: number[]): Promise<void> {
    if (this.known) return;
    const r = await this.remote.ask({ paths: kinds });
    if ("paths" in r) this.known = r.paths;
  }

  /** What the warps of the kind executed as operations from..from + n. */
  pcsOf(kind: number, from: number, n: number): number[] {
    const pcs: number[] = [];
    const p = this.known;
    if (p)
      eachVisit(p, kind, from, from + n, (visit, at) => {
        const [pc, insns] = [p.pc[visit] as number, p.insns[visit] as number];
        for (let i = Math.max(0, from - at); i < Math.min(insns, from + n - at); i++)
          pcs.push(pc + i);
      });
    return pcs;
  }

  /** Whether one of them is a barrier. */
  hasBarrier(kind: number, from: number, to: number): boolean {
    let has = false;
    const p = this.known;
    if (p)
      eachVisit(p, kind, from, to, (visit, at) => {
        const barrier = p.barrier[visit] as number;
        has ||= barrier > 0 && at + barrier - 1 >= from && at + barrier - 1 < to;
      });
    return has;
  }

  async costsOf(kinds: number[], arch: string): Promise<Path[]> {
    const r = await this.remote.ask({ costs: kinds, arch });
    return "costs" in r ? r.costs : [];
  }

  /** The curves of kinds, those of most warps first; undefined from where on their operations are too many. `than` of
   * another launch: its costs by kind, and what it is called. */
  async curvesOf(
    pairs: Pair[],
    arch: string,
    than?: { name: string; costs: Path[] },
  ): Promise<(Curve | undefined)[]> {
    const key = (p: Pair) => `${arch} ${than?.name ?? ""} ${p.kind} ${p.than}`;
    const warps = (p: Pair) => this.opened.kinds[p.kind]?.warps ?? 0;
    const wanted = pairs.filter((p) => !this.curves.has(key(p)));
    wanted.sort((a, b) => +(b.kind === b.than) - +(a.kind === a.than) || warps(b) - warps(a));
    let room = ROOM;
    for (let at = 0; at < wanted.length && room > 0; at += BATCH) {
      const some = wanted.slice(at, at + BATCH);
      const r = await this.remote.ask({
        curves: some,
        arch,
        room,
        ...(than && { than: than.costs }),
      });
      if (!("curves" in r)) continue;
      const curves = unpacked(r.curves);
      for (const [i, p] of some.entries()) {
        const curve = curves[i];
        if (curve) this.curves.set(key(p), curve);
      }
      room -= r.curves.work;
    }
    return pairs.map((p) => this.curves.get(key(p)));
  }
}

/** What views ask a launch about, however its warps are known. */
export type Launched = Pick<
  LaunchData,
  | "row"
  | "opened"
  | "firstOf"
  | "blocks"
  | "kindsOf"
  | "kindOf"
  | "indexOf"
  | "warp"
  | "loadPaths"
  | "pcsOf"
  | "hasBarrier"
  | "costsOf"
  | "curvesOf"
>;

const loaded = new WeakMap<Explore, Promise<LaunchData>>();

/** Unpacked when it is first asked for. */
export function loadLaunch(m: Model, held: Held): Promise<LaunchData> {
  const known = loaded.get(held.row) ?? LaunchData.load(m, held);
  loaded.set(held.row, known);
  return known;
}
