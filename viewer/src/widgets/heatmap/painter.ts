import { cellValue, type Grid, type Layer, runUnder } from "../../data/grid";
import { SECTOR_BYTES, WORDS, warmthOf, warpsOf } from "../../data/heat";
import { NOBODY, SEVERAL_WARPS } from "../../data/owner";
import { type Level, rowCells } from "../../data/pyramid";
import { bytes, count, exact } from "../format";
import {
  columnWidth,
  columnX,
  type Geometry,
  rowsShown,
  STRIP,
  TEXT_HEIGHT,
  type Zoom,
} from "./geometry";
import { type Ink, inks, type Mode, palette, rgb } from "./palette";
import { Sprites } from "./sprites";

/** A cell of the grid. */
export interface Cell {
  row: number;
  layer: number;
  column: number;
}

/** What one frame shows. */
export interface Frame {
  top: number; // row, with a fraction
  zoom: Zoom;
  hover: Cell | undefined;
  pinned: Cell | undefined;
}

export interface Scene {
  grid: Grid;
  levels: Level[];
  mode: Mode;
  warps: number;
  names: string[]; // of the layers
  height: number; // of the rows' part
}

export const HEAD = 38;
const FEWEST_PIXELS = 3; // a cell with text is at least so much wider than its text

/** Draws a grid of heat maps. One is made for each canvas size, theme and grid; it only ever draws what is in sight. */
export class Painter {
  private readonly c: CanvasRenderingContext2D;
  private readonly colors: string[];
  private readonly packed: Uint32Array; // the colours as pixels
  private readonly sprites: Sprites;
  private readonly image: ImageData;
  private readonly far: OffscreenCanvas;
  private readonly strip: OffscreenCanvas;
  private readonly scale = devicePixelRatio || 1;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly s: Scene,
    private readonly g: Geometry,
    private readonly ink: Ink,
  ) {
    canvas.width = Math.round(g.width * this.scale);
    canvas.height = Math.round((s.height + HEAD) * this.scale);
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser cannot draw.");
    this.c = context;
    this.colors = palette(s.mode, s.warps, ink);
    this.packed = Uint32Array.from(this.colors, (color) => {
      const [r, green, b] = rgb(color);
      return (0xff000000 | (b << 16) | (green << 8) | r) >>> 0;
    });
    this.sprites = new Sprites(this.colors, inks(this.colors, ink), this.scale);
    this.image = new ImageData(rowCells(s.grid), s.height + 2);
    this.far = new OffscreenCanvas(this.image.width, this.image.height);
    this.strip = this.drawStrip();
  }

  draw(f: Frame): void {
    const { c, s, g } = this;
    c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    c.fillStyle = getComputedStyle(this.canvas).getPropertyValue("--bg").trim() || "#fff";
    c.fillRect(0, 0, g.width, s.height + HEAD);
    c.textBaseline = "middle";
    c.save();
    c.beginPath();
    c.rect(0, HEAD, g.width, s.height);
    c.clip();
    c.translate(0, HEAD);
    if (f.zoom.height === TEXT_HEIGHT) this.near(f);
    else this.afar(f);
    this.marks(f);
    this.window(f);
    c.restore();
    this.head();
  }

  /* ---- rows with numbers ---- */

  private near(f: Frame): void {
    const { grid, height } = this.s;
    const first = Math.floor(f.top);
    const last = Math.min(grid.count - 1, Math.ceil(f.top + height / TEXT_HEIGHT));
    for (let row = first; row <= last; row++) this.row(row, (row - f.top) * TEXT_HEIGHT);
  }

  private row(row: number, y: number): void {
    const { c, g, s, ink } = this;
    const { grid } = s;
    const middle = y + TEXT_HEIGHT / 2;
    const repeat = grid.repeat[row] ?? 1;
    c.font = font(11);
    c.fillStyle = ink.muted;
    if (grid.gap[row]) {
      const sectors = repeat * grid.layout.sectors;
      c.textAlign = "left";
      const text = `⋯ ${exact(sectors)} sectors (${bytes(sectors * SECTOR_BYTES)}) not touched`;
      c.fillText(text, (g.layers[0] ?? 0) + 2, middle);
      return;
    }
    c.textAlign = "right";
    c.fillText(
      `+${exact((grid.first[row] ?? 0) * SECTOR_BYTES)}`,
      g.left + g.label - 8,
      middle,
      g.label - 10,
    );
    for (let l = 0; l < grid.layers.length; l++) this.cells(row, l, y);
    if (repeat > 1) {
      c.textAlign = "left";
      if (g.wide) c.fillText(`× ${exact(repeat)}`, g.end + 10, middle);
      else c.fillText(`×${count(repeat)}`, g.end + 3, middle, g.width - g.end - 4);
    }
  }

  private cells(row: number, l: number, y: number): void {
    const { c, g, s } = this;
    const { layout } = s.grid;
    for (let column = 0; column < layout.columns; column++) {
      const width = columnWidth(g, layout, column) - (g.cell > 6 ? 2 : g.cell > 3 ? 1 : 0);
      const value = cellValue(s.grid, row, l, column);
      const text = width >= 10 + FEWEST_PIXELS ? this.label(value, row, l, column) : "";
      const bold = layout.kind === "words" && column === WORDS;
      this.sprites.draw(c, value, text, bold, width, columnX(g, layout, l, column), y + 1);
    }
  }

  /** The number in a cell: of warps; where one alone used it, that warp's, unless the row stands for others, too. */
  private label(value: number, row: number, l: number, column: number): string {
    if (value === NOBODY) return "·";
    if (this.s.mode === "warmth") return String(value);
    const { run, plane } = runUnder(this.s.grid, row, l, column);
    const { table } = this.s.grid.layers[l] as Layer;
    if (value === SEVERAL_WARPS) return `${warmthOf(table, run, plane)}w`;
    const warps = warpsOf(table, run, plane);
    const told = warps !== 0 && (this.s.grid.repeat[row] ?? 1) === 1;
    return told ? String(31 - Math.clz32(warps)) : "";
  }

  /* ---- rows without numbers, one or many to a pixel ---- */

  private afar(f: Frame): void {
    const { grid, levels, height } = this.s;
    const { zoom } = f;
    const width = rowCells(grid);
    const level = levels.find((l) => l.step === zoom.step);
    const first = Math.floor(f.top / zoom.step);
    const count = Math.min(
      Math.ceil(height / zoom.height) + 1,
      Math.ceil(grid.count / zoom.step) - first,
      this.image.height,
    );
    if (count <= 0) return;
    const pixels = new Uint32Array(this.image.data.buffer);
    for (let r = 0; r < count; r++) {
      if (level) {
        const from = (first + r) * width;
        for (let k = 0; k < width; k++) {
          pixels[r * width + k] = this.packed[level.cells[from + k] as number] as number;
        }
      } else this.pixelRow(first + r, pixels, r * width);
    }
    const context = this.far.getContext("2d");
    if (!context) return;
    context.putImageData(this.image, 0, 0, 0, 0, width, count);
    this.spread(count, (first * zoom.step - f.top) / zoom.step, zoom.height);
    this.farLabels(f);
  }

  private pixelRow(row: number, pixels: Uint32Array, at: number): void {
    const { grid } = this.s;
    let to = at;
    for (let l = 0; l < grid.layers.length; l++) {
      for (let column = 0; column < grid.layout.columns; column++) {
        const value = grid.gap[row] ? 0 : cellValue(grid, row, l, column);
        pixels[to++] = this.packed[value] as number;
      }
    }
  }

  /** Brings each column of the small picture to its place. */
  private spread(count: number, offset: number, height: number): void {
    const { c, g, s } = this;
    const { layout, layers } = s.grid;
    c.imageSmoothingEnabled = false;
    for (let l = 0; l < layers.length; l++) {
      for (let column = 0; column < layout.columns; column++) {
        const x = columnX(g, layout, l, column);
        const width = columnWidth(g, layout, column) - (g.cell > 6 ? 1 : 0);
        const from = l * layout.columns + column;
        c.drawImage(this.far, from, 0, 1, count, x, offset * height, width, count * height);
      }
    }
  }

  private farLabels(f: Frame): void {
    const { c, g, s } = this;
    c.font = font(11);
    c.textAlign = "right";
    c.fillStyle = this.ink.muted;
    const each = rowsShown(f.zoom, 28);
    for (let k = Math.ceil(f.top / each); ; k++) {
      const row = Math.floor(k * each);
      const y = ((row - f.top) / f.zoom.step) * f.zoom.height;
      if (row >= s.grid.count || y > s.height) return;
      const text = `+${exact((s.grid.first[row] ?? 0) * SECTOR_BYTES)}`;
      c.fillText(text, g.left + g.label - 8, y + 6, g.label - 10);
    }
  }

  /* ---- frame ---- */

  private head(): void {
    const { c, g, s, ink } = this;
    const { layout } = s.grid;
    c.fillStyle = ink.muted;
    c.font = font(11);
    c.textAlign = "right";
    c.fillText("offset", g.left + g.label - 8, HEAD - 9);
    const every = g.cell >= 14 ? 1 : WORDS;
    s.names.forEach((name, l) => {
      c.textAlign = "left";
      c.font = font(11, "600");
      c.fillStyle = ink.text;
      const room = (g.layers[l + 1] ?? g.end + 16) - (g.layers[l] ?? 0) - 8;
      c.fillText(name, g.layers[l] ?? 0, 9, room);
      c.fillStyle = ink.muted;
      c.font = font(11);
      c.textAlign = "center";
      for (let column = 0; column < layout.columns; column++) {
        const sector = layout.kind === "words" && column === WORDS;
        if (!sector && column % every !== 0) continue;
        const x = columnX(g, layout, l, column);
        const width = columnWidth(g, layout, column);
        c.fillText(this.columnName(column), x + width / 2, HEAD - 9, Math.max(width + 4, 14));
      }
    });
  }

  private columnName(column: number): string {
    const { kind } = this.s.grid.layout;
    if (kind !== "words") return String(column);
    if (column === WORDS) return this.g.sector >= 40 ? "sector" : "S";
    return this.g.cell >= 20 ? `w${column}` : String(column);
  }

  private marks(f: Frame): void {
    const { c, g, s } = this;
    for (const [cell, line] of [
      [f.hover, 1.5],
      [f.pinned, 2.5],
    ] as const) {
      if (!cell) continue;
      const y = ((cell.row - f.top) / f.zoom.step) * f.zoom.height;
      if (y < -TEXT_HEIGHT || y > s.height) continue;
      c.strokeStyle = this.ink.text;
      c.lineWidth = line;
      const width = columnWidth(g, s.grid.layout, cell.column) - (g.cell > 6 ? 2 : 0);
      const height = Math.max(4, f.zoom.height - 2);
      c.strokeRect(columnX(g, s.grid.layout, cell.layer, cell.column), y + 1, width, height);
    }
  }

  /** All rows at the left edge: each pixel shows the hottest of the rows that fall on it. */
  private drawStrip(): OffscreenCanvas {
    const { grid, levels, height } = this.s;
    const strip = new OffscreenCanvas(1, Math.max(1, height));
    const context = strip.getContext("2d");
    const level = levels[levels.length - 1];
    const count = level?.count ?? grid.count;
    const image = new ImageData(1, strip.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let y = 0; y < strip.height; y++) {
      const from = Math.floor((y / strip.height) * count);
      const to = Math.max(from + 1, Math.floor(((y + 1) / strip.height) * count));
      pixels[y] = this.packed[this.hottest(level, from, Math.min(to, count))] as number;
    }
    context?.putImageData(image, 0, 0);
    return strip;
  }

  private hottest(level: Level | undefined, from: number, to: number): number {
    const { grid } = this.s;
    const width = rowCells(grid);
    let most = 0;
    for (let r = from; r < to; r++) {
      for (let k = 0; k < width; k++) {
        const value = level
          ? (level.cells[r * width + k] as number)
          : grid.gap[r]
            ? 0
            : cellValue(grid, r, Math.floor(k / grid.layout.columns), k % grid.layout.columns);
        if (value > most) most = value;
      }
    }
    return most;
  }

  private window(f: Frame): void {
    const { c, s, ink } = this;
    c.imageSmoothingEnabled = false;
    c.drawImage(this.strip, 0, 0, 1, this.strip.height, 2, 0, STRIP - 4, s.height);
    const { y, height } = windowOf(s.grid.count, s.height, f);
    c.strokeStyle = ink.text;
    c.lineWidth = 2;
    c.strokeRect(1, y + 1, STRIP - 2, Math.max(6, height - 2));
    c.fillStyle = "rgb(128 128 128 / 0.25)";
    c.fillRect(1, y + 1, STRIP - 2, Math.max(6, height - 2));
  }
}

/** The window on the strip: the rows in sight. */
export function windowOf(rows: number, height: number, f: Pick<Frame, "top" | "zoom">) {
  const part = Math.min(1, rowsShown(f.zoom, height) / Math.max(1, rows));
  const tall = Math.max(8, part * height);
  const most = Math.max(1, rows - rowsShown(f.zoom, height));
  return { y: Math.min(1, f.top / most) * (height - tall), height: tall };
}

function font(size: number, weight = ""): string {
  return `${weight} ${size}px ui-monospace, "SF Mono", Menlo, Consolas, monospace`;
}
