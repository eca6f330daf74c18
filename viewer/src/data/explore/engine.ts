/** Unpacks what warps did, and compares them. Runs in a worker, or where there is none in the page. */
import { unpack } from "../decode";
import type { Explore } from "../payload";
import { type Access, type Accesses, type Bases, Prices, pathOf } from "./cost";
import { type Drawn, drawCurve, type PoolMaker, type Segments } from "./difference";
import type { BasicBlocks } from "./operations";
import { type Path, VisitTable } from "./path";
import { stepsOf, Unfolded } from "./steps";
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

  private async page(page: Page): Promise<Uint8Array> {
    const part = await this.part(page.part);
    if (page.from + page.bytes > part.length) throw new Error("The report's steps end too early.");
    return part.subarray(page.from, page.from + page.bytes);
  }

  /** Unfolded, one by one. */
  async of(sequence: number): Promise<Step[]> {
    const pages = await Promise.all(
      (this.table.sequences[sequence] ?? []).map(async (page) =>
        stepsOf(await this.page(page), page.steps),
      ),
    );
    return pages.length === 1 ? (pages[0] as Step[]) : pages.flat();
  }

  async pagesOf(sequence: number): Promise<Unfolded[]> {
    return Promise.all(
      (this.table.sequences[sequence] ?? []).map(
        async (page) => new Unfolded(await this.page(page), page.steps),
      ),
    );
  }
}

export const blocksOf = (table: Table): BasicBlocks =>
  new Map(Array.from(table.blockPc, (pc, i) => [pc, table.blockInsns[i] as number]));

const KEPT_VISITS = 1 << 21; // of paths that are kept

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
  private readonly paths = new Map<string, Path>();
  readonly visits = new VisitTable();
  private prices: Prices | undefined; // by the row of the table that was asked for last
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

  /** What a kind did, and what it costs; by the row of the table that was asked for last, where none is named. */
  async pathOf(kind: number, arch = this.arch): Promise<Path> {
    this.arch = arch;
    const key = `${arch} ${kind}`;
    const known = this.paths.get(key);
    if (known) return known;
    const { table, warps, kinds } = this.opened;
    const { group, first } = kinds[kind] ?? { group: 0, first: 0 };
    const { sequence, slots } = table.groups[group] as Opened["table"]["groups"][number];
    const from = warps.beginAt[first] as number;
    const begins = Array.from(warps.begins.subarray(from, from + slots.length));
    const place = { slots, begins, bases: this.bases };
    if (this.prices?.arch !== arch) this.prices = new Prices(this.accesses, arch);
    const pages = await this.steps.pagesOf(sequence);
    const path = pathOf(pages, place, this.prices, this.blocks, this.visits);
    if (this.kept > KEPT_VISITS) {
      this.paths.clear();
      this.kept = 0;
    }
    this.kept += path.list.length;
    this.paths.set(key, path);
    return path;
  }

  /** `than`: what a warp of another launch did; else what this one's kind did. */
  async curve(
    pair: Pair,
    arch: string,
    pool: PoolMaker,
    segments: Segments,
    than?: Path,
  ): Promise<Drawn> {
    const a = await this.pathOf(pair.kind, arch);
    return drawCurve(pool, segments, a, than ?? (await this.pathOf(pair.than, arch)));
  }
}
