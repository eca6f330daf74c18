/** Unpacks what warps did, and compares them. Runs in a worker, or where there is none in the page. */
import { unpack } from "../decode";
import type { Explore } from "../payload";
import { type Access, type Accesses, type Bases, type Costs, costsOf } from "./cost";
import { type Curve, curveOf } from "./difference";
import { type BasicBlocks, operationsOf } from "./operations";
import { stepsOf } from "./steps";
import { type Opened, openLaunch, type Page, type Table } from "./table";
import type { Step } from "./types";

/** What the engine is given: the row, its parts, and what the page knows of instructions and objects. */
export interface Source {
  row: Explore;
  columns: string;
  members: string;
  pages: string[]; // parts
  accesses: [key: string, access: Access][];
  bases: [object: number, base: number][];
}

/** Steps of a sequence, page by page; parts that were unpacked are kept. */
export class Steps {
  private readonly parts = new Map<number, Promise<Uint8Array>>();
  constructor(
    private readonly packed: string[],
    private readonly table: Table,
  ) {}

  private part(number: number): Promise<Uint8Array> {
    const known = this.parts.get(number);
    if (known) return known;
    const part = unpack(this.packed[number] ?? "").then((bytes) => new Uint8Array(bytes));
    this.parts.set(number, part);
    return part;
  }

  private async page(page: Page): Promise<Step[]> {
    const part = await this.part(page.part);
    if (page.from + page.bytes > part.length) throw new Error("The report's steps end too early.");
    return stepsOf(part.subarray(page.from, page.from + page.bytes));
  }

  async of(sequence: number): Promise<Step[]> {
    const pages = await Promise.all(
      (this.table.sequences[sequence] ?? []).map((page) => this.page(page)),
    );
    return pages.length === 1 ? (pages[0] as Step[]) : pages.flat();
  }
}

export const blocksOf = (table: Table): BasicBlocks =>
  new Map(Array.from(table.blockPc, (pc, i) => [pc, table.blockInsns[i] as number]));

const KEPT_OPERATIONS = 1 << 21; // whose costs are kept

/** A difference that is asked for: of a kind of this launch from a kind of `than`, or of itself. */
export interface Pair {
  kind: number;
  than: number;
}

export class Engine {
  private readonly steps: Steps;
  private readonly blocks: BasicBlocks;
  private readonly accesses: Accesses;
  private readonly bases: Bases;
  private readonly costs = new Map<string, Costs>();
  private kept = 0;
  private arch = "";

  private constructor(
    source: Source,
    readonly opened: Opened,
  ) {
    this.steps = new Steps(source.pages, opened.table);
    this.blocks = blocksOf(opened.table);
    this.accesses = new Map(source.accesses);
    this.bases = new Map(source.bases);
  }

  static async open(source: Source): Promise<Engine> {
    return new Engine(source, await openLaunch(source.row, source.columns, source.members));
  }

  /** What the operations of a kind cost; whatever row of the table was asked for last, where none is named. */
  async costsOf(kind: number, arch = this.arch): Promise<Costs> {
    this.arch = arch;
    const key = `${arch} ${kind}`;
    const known = this.costs.get(key);
    if (known) return known;
    const { table, warps, kinds } = this.opened;
    const { group, first } = kinds[kind] ?? { group: 0, first: 0 };
    const { sequence, slots } = table.groups[group] as Opened["table"]["groups"][number];
    const from = warps.beginAt[first] as number;
    const begins = Array.from(warps.begins.subarray(from, from + slots.length));
    const operations = operationsOf(await this.steps.of(sequence), this.blocks);
    const costs = costsOf(operations, { slots, begins, bases: this.bases }, this.accesses, arch);
    if (this.kept > KEPT_OPERATIONS) {
      this.costs.clear();
      this.kept = 0;
    }
    this.kept += costs.pc.length;
    this.costs.set(key, costs);
    return costs;
  }

  /** `than`: costs of a warp of another launch; else of this one's kind. */
  async curve(pair: Pair, arch: string, than?: Costs): Promise<Curve> {
    const a = await this.costsOf(pair.kind, arch);
    return curveOf(a, than ?? (await this.costsOf(pair.than, arch)));
  }
}
