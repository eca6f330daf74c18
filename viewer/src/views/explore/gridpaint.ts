import type { Curve } from "../../data/explore/difference";
import { GAP, type Layout, type Looks, TileRaster, type TileShape } from "../../data/explore/tiles";
import { cssOf, pixels } from "./colors";

/** Widths of a cell, in pixels of the screen: what one may zoom to. */
export const SCALES = [
  1 / 32,
  1 / 24,
  1 / 16,
  1 / 12,
  1 / 8,
  1 / 6,
  1 / 4,
  1 / 3,
  1 / 2,
  2 / 3,
  1,
  2,
  3,
  4,
  6,
  8,
  10,
  12,
  16,
  20,
  24,
];
const LABELLED = 46; // width from which on tiles have names

export interface Scene {
  layout: Layout;
  looks: Looks;
  curves: (Curve | undefined)[];
  most: number; // operations, of whatever is shown side by side
  bundle: number;
  aspect: number; // of a cell: its height, its width being 1
  nameOf: (block: number) => string; // short
  rowName: (block: number) => string; // of the row that it begins
  axes: string; // what the numbers at the edges are
}

/** Room for the numbers at the edges, in pixels of the page. */
export const EDGE = { left: 44, top: 20 };

const ASPECTS = [1.5, 1.2, 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2];

/** The scale, and the height of cells, with which tiles are largest while all of them are in sight. */
export function fitting(s: Omit<Scene, "aspect">, ratio: number, width: number, height: number) {
  const best = { scale: 0, aspect: 0.8, area: 0 };
  for (const aspect of ASPECTS)
    for (let scale = SCALES.length - 1; scale >= 0; scale--) {
      const g = geometryOf({ ...s, aspect }, SCALES[scale] as number, ratio);
      if (g.worldWidth > width || g.worldHeight > height) continue;
      const area = g.width * g.height;
      if (area > best.area) Object.assign(best, { scale, aspect, area });
      break;
    }
  return best;
}

export interface Geometry extends TileShape {
  pitchX: number;
  pitchY: number;
  label: number; // height of the names
  worldWidth: number;
  worldHeight: number;
}

export function geometryOf(s: Scene, scale: number, ratio: number): Geometry {
  const warps = Math.max(1, s.looks.warps);
  const bundles = Math.max(1, Math.ceil(s.most / s.bundle));
  const cell = scale * ratio;
  const width = cell >= 1 ? warps * Math.round(cell) : Math.max(1, Math.round(warps * cell));
  const tall = bundles * cell * s.aspect;
  const height =
    tall >= bundles
      ? bundles * Math.max(1, Math.round(cell * s.aspect))
      : Math.max(1, Math.round(tall));
  const gap = width >= 24 ? 8 : width >= 8 ? 3 : width >= 4 ? 1 : 0;
  const label = width >= LABELLED * ratio ? Math.round(15 * ratio) : 0;
  const [pitchX, pitchY] = [width + gap, height + gap + label];
  return {
    warps,
    bundles,
    bundle: s.bundle,
    width,
    height,
    pitchX,
    pitchY,
    label,
    worldWidth: s.layout.columns * pitchX - gap,
    worldHeight: s.layout.rows * pitchY - gap,
  };
}

/** A cell of the grid. */
export interface Spot {
  block: number;
  warp: number;
  bundle: number;
}

export interface Marks {
  cursor: Spot | undefined;
  hover: Spot | undefined;
  rep: number | undefined; // block
  traced: ReadonlySet<number> | undefined; // blocks of which more is known than of the others
  alike: ((block: number) => number[]) | undefined; // warps that are marked, of a block
  step: number | undefined; // operation: what is after it is veiled
}

const CHUNK = 512;
const MOST_CHUNKS = 64;
const NONE: number[] = []; // of a block of which nothing is known

/** Draws a grid of tiles at one zoom. The world is painted in chunks when they come into sight, and kept. */
export class GridPainter {
  readonly g: Geometry;
  private readonly chunks = new Map<string, OffscreenCanvas>();
  private readonly raster: TileRaster;
  private readonly colors = pixels();

  constructor(
    private readonly s: Scene,
    scale: number,
    private readonly ratio: number,
  ) {
    this.g = geometryOf(s, scale, ratio);
    this.raster = new TileRaster(this.g, s.curves);
  }

  /** Of the tile in which a point of the world lies; the bundle and warp that are nearest. */
  spotAt(x: number, y: number): Spot | undefined {
    const { g, s } = this;
    const [column, row] = [Math.floor(x / g.pitchX), Math.floor(y / g.pitchY)];
    if (column < 0 || column >= s.layout.columns || row < 0 || row >= s.layout.rows)
      return undefined;
    const block = s.layout.blockOf(row * s.layout.columns + column);
    if (block === undefined) return undefined;
    const [inX, inY] = [x - column * g.pitchX, y - row * g.pitchY - g.label];
    if (inX >= g.width || inY >= g.height) return undefined;
    return {
      block,
      warp: Math.min(g.warps - 1, Math.floor((inX / g.width) * g.warps)),
      bundle: Math.min(g.bundles - 1, Math.max(0, Math.floor((inY / g.height) * g.bundles))),
    };
  }

  cornerOf(block: number): [number, number] | undefined {
    const tile = this.s.layout.tileOf(block);
    if (tile === undefined) return undefined;
    const { columns } = this.s.layout;
    return [
      (tile % columns) * this.g.pitchX,
      Math.floor(tile / columns) * this.g.pitchY + this.g.label,
    ];
  }

  private chunk(cx: number, cy: number): OffscreenCanvas {
    const key = `${cx} ${cy}`;
    const known = this.chunks.get(key);
    if (known) return known;
    const { g, s } = this;
    const canvas = new OffscreenCanvas(CHUNK, CHUNK);
    const c = canvas.getContext("2d");
    const data = new ImageData(CHUNK, CHUNK);
    const to = new Uint32Array(data.data.buffer).fill(this.colors[GAP] as number);
    const [left, top] = [cx * CHUNK, cy * CHUNK];
    const lastRow = Math.min(s.layout.rows - 1, Math.floor((top + CHUNK) / g.pitchY));
    const lastColumn = Math.min(s.layout.columns - 1, Math.floor((left + CHUNK) / g.pitchX));
    for (let row = Math.max(0, Math.floor(top / g.pitchY)); row <= lastRow; row++) {
      for (let col = Math.max(0, Math.floor(left / g.pitchX)); col <= lastColumn; col++) {
        const block = s.layout.blockOf(row * s.layout.columns + col);
        if (block === undefined) continue;
        const look = s.looks.of.get(block);
        const pairs = (look === undefined ? undefined : s.looks.pairs[look]) ?? NONE;
        const corner = [col * g.pitchX - left, row * g.pitchY + g.label - top] as const;
        this.raster.draw(pairs, ...corner, CHUNK, to, this.colors);
      }
    }
    c?.putImageData(data, 0, 0);
    if (this.chunks.size >= MOST_CHUNKS) this.chunks.delete([...this.chunks.keys()][0] as string);
    this.chunks.set(key, canvas);
    return canvas;
  }

  /** `x`, `y`: the point of the world at the canvas's corner. */
  draw(canvas: HTMLCanvasElement, left: number, top: number, marks: Marks): void {
    const [x, y] = [Math.round(left), Math.round(top)];
    const c = canvas.getContext("2d", { alpha: false });
    if (!c) return;
    const [width, height] = [canvas.width, canvas.height];
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = cssOf(GAP);
    c.fillRect(0, 0, width, height);
    for (let cy = Math.floor(y / CHUNK); cy * CHUNK < y + height; cy++)
      for (let cx = Math.floor(x / CHUNK); cx * CHUNK < x + width; cx++) {
        const inside = cx >= 0 && cy >= 0 && cx * CHUNK < this.g.worldWidth;
        if (inside && cy * CHUNK < this.g.worldHeight)
          c.drawImage(this.chunk(cx, cy), cx * CHUNK - x, cy * CHUNK - y);
      }
    c.translate(-x, -y);
    const style = getComputedStyle(canvas);
    const of = (name: string) => style.getPropertyValue(name).trim() || "#000";
    if (this.g.label) this.labels(c, x, y, width, height, of("--muted"));
    if (marks.step !== undefined) this.veil(c, x, y, width, height, marks.step);
    if (marks.alike) this.heads(c, x, y, width, height, marks.alike, of("--text"));
    const traced = marks.traced;
    if (traced) this.corners(c, x, y, width, height, traced, of("--text"));
    this.mark(c, marks, of("--text"), of("--accent"));
    this.edges(c, x, y, width, height, of("--muted"));
  }

  /** Numbers of columns and rows of the grid, which stay at the edges. */
  private edges(
    c: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    ink: string,
  ): void {
    const { g, s, ratio } = this;
    const [left, top] = [EDGE.left * ratio, EDGE.top * ratio];
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = cssOf(GAP);
    c.fillRect(0, 0, width, top);
    c.fillRect(0, 0, left, height);
    c.fillStyle = ink;
    c.font = `${Math.round(11 * ratio)}px system-ui, sans-serif`;
    c.textBaseline = "middle";
    const every = (pitch: number, room: number) => {
      const least = room / pitch;
      return [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128].find((n) => n >= least) ?? 200;
    };
    if (s.layout.how === "grid") {
      c.textAlign = "center";
      const step = every(g.pitchX, 34 * ratio);
      for (let col = 0; col < s.layout.columns; col += step) {
        const at = col * g.pitchX + g.width / 2 - x;
        if (at >= left && at <= width) c.fillText(String(col), at, top / 2);
      }
    }
    c.textAlign = "right";
    const step = every(g.pitchY, 16 * ratio);
    for (let row = 0; row < s.layout.rows; row += step) {
      const at = row * g.pitchY + g.label + Math.min(g.height, 16 * ratio) / 2 - y;
      const block = s.layout.blockOf(row * s.layout.columns);
      if (at < top || at > height || block === undefined) continue;
      const name = s.layout.how === "grid" ? s.rowName(block) : s.nameOf(block);
      c.fillText(name, left - 6 * ratio, at, left - 8 * ratio);
    }
    c.textAlign = "left";
    c.fillText(s.axes, 4 * ratio, top / 2, left - 6 * ratio);
  }

  /** Calls with each block that is in sight and its corner. */
  private inSight(
    x: number,
    y: number,
    width: number,
    height: number,
    each: (block: number, left: number, top: number) => void,
  ): void {
    const { g, s } = this;
    const lastRow = Math.min(s.layout.rows - 1, Math.floor((y + height) / g.pitchY));
    const lastColumn = Math.min(s.layout.columns - 1, Math.floor((x + width) / g.pitchX));
    for (let row = Math.max(0, Math.floor(y / g.pitchY)); row <= lastRow; row++)
      for (let col = Math.max(0, Math.floor(x / g.pitchX)); col <= lastColumn; col++) {
        const block = s.layout.blockOf(row * s.layout.columns + col);
        if (block !== undefined) each(block, col * g.pitchX, row * g.pitchY + g.label);
      }
  }

  private labels(
    c: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    ink: string,
  ): void {
    c.fillStyle = ink;
    c.font = `${Math.round(11 * this.ratio)}px system-ui, sans-serif`;
    c.textBaseline = "bottom";
    this.inSight(x, y, width, height, (block, left, top) => {
      c.fillText(this.s.nameOf(block), left, top - 1, this.g.width + 6);
    });
  }

  private static readonly VEILED = 6; // pixels of a tile's height from which on one sees it

  /** What is not yet executed after that operation is veiled. */
  private veil(
    c: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    step: number,
  ): void {
    const { g } = this;
    if (g.height < GridPainter.VEILED) return;
    const done = Math.min(g.height, Math.round(((step + 1) / (g.bundles * g.bundle)) * g.height));
    c.save();
    c.globalAlpha = 0.8;
    c.fillStyle = cssOf(GAP);
    this.inSight(x, y, width, height, (_, left, top) => {
      c.fillRect(left, top + done, g.width, g.height - done);
    });
    c.restore();
  }

  /** A line above the columns of these warps, in blocks that are in sight. */
  private heads(
    c: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    warpsOf: (block: number) => number[],
    ink: string,
  ): void {
    const column = this.g.width / this.g.warps;
    const line = Math.min(3 * this.ratio, this.g.height);
    if (column < 1) return;
    c.fillStyle = ink;
    this.inSight(x, y, width, height, (block, left, top) => {
      for (const warp of warpsOf(block))
        c.fillRect(left + warp * column, top, Math.max(1, column - 1), line);
    });
  }

  /** A corner of each of these blocks that is in sight. */
  private corners(
    c: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    blocks: ReadonlySet<number>,
    ink: string,
  ): void {
    const size = Math.min(9 * this.ratio, this.g.width / 2, this.g.height / 2);
    c.fillStyle = ink;
    this.inSight(x, y, width, height, (block, left, top) => {
      if (!blocks.has(block)) return;
      const [right, bottom] = [left + this.g.width, top + this.g.height];
      c.beginPath();
      c.moveTo(right, bottom);
      c.lineTo(right - size, bottom);
      c.lineTo(right, bottom - size);
      c.fill();
    });
  }

  private frame(c: CanvasRenderingContext2D, block: number, line: number, ink: string): void {
    const corner = this.cornerOf(block);
    if (!corner) return;
    c.strokeStyle = ink;
    c.lineWidth = line;
    c.strokeRect(
      corner[0] - line / 2,
      corner[1] - line / 2,
      this.g.width + line,
      this.g.height + line,
    );
  }

  private mark(c: CanvasRenderingContext2D, marks: Marks, ink: string, accent: string): void {
    const { ratio } = this;
    if (marks.rep !== undefined) this.frame(c, marks.rep, 2 * ratio, accent);
    if (marks.hover) this.frame(c, marks.hover.block, ratio, ink);
    if (!marks.cursor) return;
    this.frame(c, marks.cursor.block, 2 * ratio, ink);
    const corner = this.cornerOf(marks.cursor.block);
    const { g } = this;
    if (!corner || g.width < g.warps * 3) return;
    const [w, h] = [g.width / g.warps, g.height / g.bundles];
    c.lineWidth = 2 * ratio;
    c.strokeRect(
      corner[0] + marks.cursor.warp * w - 1,
      corner[1] + marks.cursor.bundle * h - 1,
      w + 1,
      Math.max(3, h + 1),
    );
  }
}
