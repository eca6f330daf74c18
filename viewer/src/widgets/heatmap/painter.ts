import { cellValue, type Grid, type Layer, runUnder } from "../../data/grid";
import { SECTOR_BYTES, WORDS, warmthOf, warpsOf } from "../../data/heat";
import { NOBODY, SEVERAL_WARPS } from "../../data/owner";
import type { Level } from "../../data/pyramid";
import type { Summary } from "../../data/summary";
import { bytes, count, exact, plural } from "../format";
import { Far } from "./far";
import { columnWidth, columnX, type Geometry, rowsShown, STRIP, TEXT_HEIGHT } from "./geometry";
import { type Ink, inks, type Mode, meanPalette, palette, pixelOf } from "./palette";
import type { Sight } from "./sight";
import { Sprites } from "./sprites";
import { drawStrip } from "./strip";

/** A cell of the grid. */
export interface Cell {
  row: number;
  layer: number;
  column: number;
  sector?: number; // which one is meant, where the row stands for several; else the first
}

export interface Scene {
  sight: Sight;
  levels: Level[];
  summary: Summary; // of the levels
  mode: Mode;
  warps: number;
  names: string[]; // of the layers
}

export const HEAD = 38;
const BASELINE = 9; // of names, from the head's edges
const LABELLED = 28; // pixels from one offset to the next, from afar
const FEWEST_FOR_TEXT = 13;

const font = (weight = "") => `${weight} 11px ui-monospace, "SF Mono", Menlo, Consolas, monospace`;

/** How many rows a row stands for: "× 4", or "4 of 32 sectors, × 256" where they come again and again. */
export function repeatText(grid: Grid, row: number, wide: boolean): string {
  const repeat = grid.repeat[row] ?? 1;
  const times = grid.times[row] ?? 1;
  if (times === 1) return repeat === 1 ? "" : wide ? `× ${exact(repeat)}` : `×${count(repeat)}`;
  const sectors = repeat * grid.layout.sectors;
  const stride = grid.stride[row] ?? 0;
  return wide
    ? `${exact(sectors)} of ${exact(stride)} sectors, × ${exact(times)}`
    : `${count(sectors)}/${count(stride)}×${count(times)}`;
}

/** Draws a grid of heat maps. One is made for each canvas size, theme and grid; it only ever draws what is in sight. */
export class Painter {
  private readonly c: CanvasRenderingContext2D;
  private readonly sprites: Sprites;
  private readonly far: Far;
  private readonly strip: OffscreenCanvas;
  private readonly scale = devicePixelRatio || 1;
  private readonly grid: Grid;
  private readonly height: number; // of the rows' part
  private readonly background: string;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly s: Scene,
    private readonly g: Geometry,
    private readonly ink: Ink,
  ) {
    this.grid = s.sight.grid;
    this.height = s.sight.height;
    canvas.width = Math.round(g.width * this.scale);
    canvas.height = Math.round((this.height + HEAD) * this.scale);
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser cannot draw.");
    this.c = context;
    this.background = getComputedStyle(canvas).getPropertyValue("--bg").trim() || "#ffffff";
    const colors = palette(s.mode, s.warps, ink);
    const pixels = Uint32Array.from(colors, pixelOf);
    this.sprites = new Sprites(colors, inks(colors, ink), this.scale);
    const means = s.summary === "mean" && Uint32Array.from(meanPalette(s.warps, ink), pixelOf);
    this.far = new Far(this.grid, s.levels, pixels, means || pixels, this.height);
    const ofStrip = means && s.levels.length > 0 ? means : pixels;
    this.strip = drawStrip(this.grid, s.levels, ofStrip, this.height);
  }

  draw(hover: Cell | undefined, pinned: Cell | undefined): void {
    const { c, g, height, s } = this;
    const zoom = s.sight.zoom.value;
    c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    c.fillStyle = this.background;
    c.fillRect(0, 0, g.width, height + HEAD);
    c.textBaseline = "middle";
    c.save();
    c.beginPath();
    c.rect(0, HEAD, g.width, height);
    c.clip();
    c.translate(0, HEAD);
    if (zoom.height === TEXT_HEIGHT) this.near();
    else {
      this.far.draw(c, g, s.sight.top.value, zoom);
      this.farLabels();
    }
    this.mark(hover, 1.5);
    this.mark(pinned, 2.5);
    this.window();
    c.restore();
    this.head();
  }

  private yOf(row: number): number {
    const { top, zoom } = this.s.sight;
    return ((row - top.value) / zoom.value.step) * zoom.value.height;
  }

  private text(text: string, x: number, y: number, align: CanvasTextAlign, most?: number): void {
    this.c.textAlign = align;
    this.c.fillText(text, x, y, most);
  }

  /* ---- rows with numbers ---- */

  private near(): void {
    const { top } = this.s.sight;
    const last = Math.ceil(top.value + this.height / TEXT_HEIGHT);
    for (let row = Math.floor(top.value); row <= Math.min(this.grid.count - 1, last); row++) {
      this.c.font = font();
      this.c.fillStyle = this.ink.muted;
      if (this.grid.gap[row]) this.untouched(row, this.yOf(row) + TEXT_HEIGHT / 2);
      else this.row(row, this.yOf(row));
    }
  }

  private untouched(row: number, middle: number): void {
    const sectors = (this.grid.repeat[row] ?? 1) * this.grid.layout.sectors;
    const size = bytes(sectors * SECTOR_BYTES);
    const text = `⋯ ${plural(sectors, "sector")} (${size}) not touched`;
    this.text(text, (this.g.layers[0] ?? 0) + 2, middle, "left");
  }

  private row(row: number, y: number): void {
    const { g, grid } = this;
    const middle = y + TEXT_HEIGHT / 2;
    const from = g.end + (g.wide ? 10 : 3);
    this.offset(row, middle);
    this.text(repeatText(grid, row, g.wide), from, middle, "left", g.width - from);
    for (let l = 0; l < grid.layers.length; l++) this.cells(row, l, y);
  }

  private offset(row: number, y: number): void {
    const { left, label } = this.g;
    const text = `+${exact((this.grid.first[row] ?? 0) * SECTOR_BYTES)}`;
    this.text(text, left + label - 8, y, "right", label - 10);
  }

  private cells(row: number, l: number, y: number): void {
    const { c, g, grid } = this;
    const { layout } = grid;
    const gap = g.cell > 6 ? 2 : g.cell > 3 ? 1 : 0;
    for (let column = 0; column < layout.columns; column++) {
      const width = columnWidth(g, layout, column) - gap;
      const value = cellValue(grid, row, l, column);
      const text = width >= FEWEST_FOR_TEXT ? this.label(value, row, l, column) : "";
      const bold = layout.kind === "words" && column === WORDS;
      this.sprites.draw(c, value, text, bold, width, columnX(g, layout, l, column), y + 1);
    }
  }

  /** The number in a cell: of warps; where one alone used it, that warp's, unless the row stands for others, too. */
  private label(value: number, row: number, l: number, column: number): string {
    if (value === NOBODY) return "·";
    if (this.s.mode === "warmth") return String(value);
    const { run, plane } = runUnder(this.grid, row, l, column);
    const { table } = this.grid.layers[l] as Layer;
    if (value === SEVERAL_WARPS) return `${warmthOf(table, run, plane)}w`;
    const warps = warpsOf(table, run, plane);
    const alone = this.grid.repeat[row] === 1 && this.grid.times[row] === 1;
    const told = warps !== 0 && alone;
    return told ? String(31 - Math.clz32(warps)) : "";
  }

  /* ---- what stands around them ---- */

  private farLabels(): void {
    const { top, zoom } = this.s.sight;
    this.c.font = font();
    this.c.fillStyle = this.ink.muted;
    const each = rowsShown(zoom.value, LABELLED);
    const end = Math.min(this.grid.count, top.value + this.s.sight.rows);
    for (let row = Math.ceil(top.value / each) * each; row < end; row += each) {
      this.offset(Math.floor(row), this.yOf(row) + 6);
    }
  }

  private head(): void {
    const { c, g, ink } = this;
    c.fillStyle = ink.muted;
    c.font = font();
    this.text("offset", g.left + g.label - 8, HEAD - BASELINE, "right");
    this.s.names.forEach((name, l) => {
      const from = g.layers[l] ?? 0;
      const room = (g.layers[l + 1] ?? g.end + 16) - from - 8;
      c.font = font("600");
      c.fillStyle = ink.text;
      this.text(name, from, BASELINE, "left", room);
      c.font = font();
      c.fillStyle = ink.muted;
      this.columnNames(l);
    });
  }

  private columnNames(l: number): void {
    const { g } = this;
    const { layout } = this.grid;
    const every = g.cell >= 14 ? 1 : WORDS; // 0, 8, 16 ... where there is no room for each
    for (let column = 0; column < layout.columns; column += every) {
      const width = columnWidth(g, layout, column);
      const middle = columnX(g, layout, l, column) + width / 2;
      const most = Math.max(width + 4, 14);
      this.text(this.columnName(column), middle, HEAD - BASELINE, "center", most);
    }
  }

  private columnName(column: number): string {
    if (this.grid.layout.kind !== "words") return String(column);
    if (column === WORDS) return this.g.sector >= 40 ? "sector" : "S";
    return this.g.cell >= 20 ? `w${column}` : String(column);
  }

  private mark(cell: Cell | undefined, line: number): void {
    if (!cell) return;
    const { c, g } = this;
    const { layout } = this.grid;
    c.strokeStyle = this.ink.text;
    c.lineWidth = line;
    const x = columnX(g, layout, cell.layer, cell.column);
    const width = columnWidth(g, layout, cell.column) - (g.cell > 6 ? 2 : 0);
    const height = Math.max(4, this.s.sight.zoom.value.height - 2);
    c.strokeRect(x, this.yOf(cell.row) + 1, width, height);
  }

  /** The strip of all rows, and on it the window that is in sight. */
  private window(): void {
    const { c } = this;
    const { y, height } = this.s.sight.window;
    c.imageSmoothingEnabled = false;
    c.drawImage(this.strip, 0, 0, 1, this.height, 2, 0, STRIP - 4, this.height);
    c.strokeStyle = this.ink.text;
    c.lineWidth = 2;
    c.strokeRect(1, y + 1, STRIP - 2, Math.max(6, height - 2));
    c.fillStyle = "rgb(128 128 128 / 0.25)";
    c.fillRect(1, y + 1, STRIP - 2, Math.max(6, height - 2));
  }
}
