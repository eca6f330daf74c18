import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import {
  type DisplayRow,
  type HeatTable,
  popcount,
  SECTOR_BYTES,
  WORDS,
  wordHistory,
} from "../data/heat";
import { shown } from "../state/theme";
import { bytes, exact } from "./format";
import { heatColor, inkOn } from "./scale";

/** A cell: a row of the map and a word, or 8 for the sector's own. */
export interface Cell {
  row: number;
  column: number;
}

const ROW = 18;
const LABEL = 92;
const CELL = 34;
const GAP = 8;
const SECTOR_CELL = 46;
const REPEAT = 84;
const MINI = 26;
const MINI_GAP = 12;
const HEIGHT = 560;

/** Where things lie across: the small map at the left is there only when not all rows fit. */
interface Across {
  left: number;
  width: number;
}

const fits = (rows: number): boolean => rows * ROW <= HEIGHT;

function across(rows: number): Across {
  const left = fits(rows) ? 0 : MINI + MINI_GAP;
  return { left, width: left + LABEL + WORDS * CELL + GAP + SECTOR_CELL + REPEAT };
}

interface Props {
  table: HeatTable;
  rows: DisplayRow[];
  hover: Signal<Cell | undefined>;
  pinned: Signal<Cell | undefined>;
}

export const temperature = (t: HeatTable, run: number, column: number): number =>
  popcount(column === WORDS ? (t.history[run] ?? 0) : wordHistory(t, run, column));

const columnX = (left: number, column: number): number =>
  left + LABEL + column * CELL + (column === WORDS ? GAP : 0);

const columnAt = (left: number, x: number): number => {
  for (let c = 0; c <= WORDS; c++) {
    const width = c === WORDS ? SECTOR_CELL : CELL;
    if (x >= columnX(left, c) && x < columnX(left, c) + width) return c;
  }
  return -1;
};

interface Ink {
  text: string;
  muted: string;
  line: string;
  empty: string;
  accent: string;
}

function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: get("--text"),
    muted: get("--muted"),
    line: get("--line"),
    empty: get("--empty"),
    accent: get("--accent"),
  };
}

/** Draws what is in view; the page scrolls a column as high as all rows together. */
class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly ink: Ink;
  private readonly colors: string[];
  private readonly inks: string[];
  private readonly x: Across;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly p: Props,
    private readonly height: number,
  ) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    this.context = context;
    this.x = across(p.rows.length);
    this.ink = inkOf(canvas);
    const { warps } = p.table.map;
    this.colors = Array.from({ length: 33 }, (_, t) => heatColor(t, warps));
    this.inks = this.colors.map((c) => (c === "transparent" ? this.ink.muted : inkOn(c)));
  }

  draw(top: number): void {
    const scale = devicePixelRatio || 1;
    this.canvas.width = this.x.width * scale;
    this.canvas.height = this.height * scale;
    const c = this.context;
    c.scale(scale, scale);
    c.clearRect(0, 0, this.x.width, this.height);
    c.textBaseline = "middle";
    const first = Math.floor(top / ROW);
    const last = Math.min(this.p.rows.length - 1, Math.ceil((top + this.height) / ROW));
    for (let r = first; r <= last; r++) this.row(r, r * ROW - top);
    this.minimap(top);
  }

  private font(size: number, weight = ""): void {
    this.context.font = `${weight} ${size}px ui-monospace, "SF Mono", Menlo, Consolas, monospace`;
  }

  private row(index: number, y: number): void {
    const row = this.p.rows[index];
    if (!row) return;
    const c = this.context;
    this.font(11);
    c.textAlign = "right";
    c.fillStyle = this.ink.muted;
    if (row.run < 0) {
      c.textAlign = "left";
      c.fillText(
        `⋯ ${exact(row.sectors)} sectors (${bytes(row.sectors * SECTOR_BYTES)}) not touched`,
        columnX(this.x.left, 0) + 4,
        y + ROW / 2,
      );
      return;
    }
    c.fillText(`+${exact(row.first * SECTOR_BYTES)}`, this.x.left + LABEL - 10, y + ROW / 2);
    for (let column = 0; column <= WORDS; column++) this.cell(row.run, column, y);
    if (row.sectors > 1) {
      c.textAlign = "left";
      c.fillStyle = this.ink.muted;
      c.fillText(
        `× ${exact(row.sectors)}`,
        columnX(this.x.left, WORDS) + SECTOR_CELL + 10,
        y + ROW / 2,
      );
    }
    this.marks(index, y);
  }

  private cell(run: number, column: number, y: number): void {
    const t = temperature(this.p.table, run, column);
    const c = this.context;
    const x = columnX(this.x.left, column);
    const width = (column === WORDS ? SECTOR_CELL : CELL) - 2;
    c.fillStyle = t > 0 ? (this.colors[t] ?? "") : this.ink.empty;
    c.fillRect(x, y + 1, width, ROW - 2);
    c.textAlign = "center";
    c.fillStyle = this.inks[t] ?? this.ink.text;
    this.font(11, column === WORDS ? "600" : "");
    c.fillText(t > 0 ? String(t) : "·", x + width / 2, y + ROW / 2 + 0.5);
  }

  private marks(index: number, y: number): void {
    for (const [cell, width] of [
      [this.p.hover.value, 1.5],
      [this.p.pinned.value, 2.5],
    ] as const) {
      if (!cell || cell.row !== index) continue;
      this.context.strokeStyle = this.ink.text;
      this.context.lineWidth = width;
      const w = (cell.column === WORDS ? SECTOR_CELL : CELL) - 2;
      this.context.strokeRect(columnX(this.x.left, cell.column), y + 1, w, ROW - 2);
    }
  }

  /** The whole map at the left edge: each pixel row shows the hottest sector that falls on it. */
  private minimap(top: number): void {
    const { rows, table } = this.p;
    const total = rows.length * ROW;
    if (total <= this.height) return;
    const c = this.context;
    for (let y = 0; y < this.height; y++) {
      const from = Math.floor((y / this.height) * rows.length);
      const to = Math.max(from + 1, Math.floor(((y + 1) / this.height) * rows.length));
      const step = Math.max(1, Math.floor((to - from) / 16));
      let hottest = 0;
      for (let r = from; r < to; r += step) {
        const run = rows[r]?.run ?? -1;
        if (run >= 0) hottest = Math.max(hottest, temperature(table, run, WORDS));
      }
      c.fillStyle = hottest > 0 ? (this.colors[hottest] ?? "") : this.ink.empty;
      c.fillRect(0, y, MINI, 1.5);
    }
    c.strokeStyle = this.ink.text;
    c.lineWidth = 1.5;
    const part = Math.max(6, (this.height / total) * this.height);
    c.strokeRect(1, (top / total) * this.height, MINI - 2, part);
  }
}

function move(cell: Cell | undefined, key: string, rows: DisplayRow[]): Cell | undefined {
  const at = cell ?? { row: rows.findIndex((r) => r.run >= 0), column: 0 };
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-16, 0],
    PageDown: [16, 0],
    Home: [-rows.length, 0],
    End: [rows.length, 0],
  };
  const step = steps[key];
  if (!step) return undefined;
  if (!cell) return at;
  return {
    row: Math.min(rows.length - 1, Math.max(0, at.row + step[0])),
    column: Math.min(WORDS, Math.max(0, at.column + step[1])),
  };
}

/** The heat map on a canvas: rows are sectors, columns the words and the sector's own cell. */
export function HeatCanvas(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const top = useSignal(0);
  const height = Math.min(p.rows.length * ROW, HEIGHT);
  const x = across(p.rows.length);

  const paint = () => {
    if (canvas.current) new Painter(canvas.current, p, height).draw(top.value);
  };
  useEffect(paint);
  useSignalEffect(() => {
    // Read here so that the effect runs again when any of them changes.
    void shown.value;
    void top.value;
    void p.hover.value;
    void p.pinned.value;
    paint();
  });

  const cellAt = (e: MouseEvent): Cell | undefined => {
    const rect = canvas.current?.getBoundingClientRect();
    if (!rect) return undefined;
    const row = Math.floor((e.clientY - rect.top + top.value) / ROW);
    const column = columnAt(x.left, e.clientX - rect.left);
    return column >= 0 && (p.rows[row]?.run ?? -1) >= 0 ? { row, column } : undefined;
  };
  const jump = (e: MouseEvent): boolean => {
    const rect = canvas.current?.getBoundingClientRect();
    const total = p.rows.length * ROW;
    if (!rect || total <= height || e.clientX - rect.left > MINI) return false;
    box.current?.scrollTo({ top: ((e.clientY - rect.top) / height) * total - height / 2 });
    return true;
  };
  const show = (cell: Cell) => {
    const y = cell.row * ROW;
    const view = box.current;
    if (!view) return;
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y + ROW > view.scrollTop + height) view.scrollTop = y + ROW - height;
  };
  const key = (e: KeyboardEvent) => {
    const to = move(p.pinned.value, e.key, p.rows);
    if (!to) return;
    e.preventDefault();
    e.stopPropagation();
    p.pinned.value = to;
    show(to);
  };
  return (
    <div
      ref={box}
      class="heatbox"
      style={{ height: `${height}px`, width: `${x.width + 14}px` }}
      onScroll={(e) => {
        top.value = e.currentTarget.scrollTop;
      }}
    >
      <div style={{ height: `${p.rows.length * ROW}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label="Heat map; arrow keys move the selected cell"
          style={{ width: `${x.width}px`, height: `${height}px` }}
          onKeyDown={key}
          onMouseMove={(e) => {
            p.hover.value = cellAt(e);
          }}
          onMouseLeave={() => {
            p.hover.value = undefined;
          }}
          onClick={(e) => {
            if (!jump(e)) p.pinned.value = cellAt(e);
          }}
        />
      </div>
    </div>
  );
}

/** The columns' names, above the canvas. */
export function HeatHead({ rows }: { rows: number }) {
  const { left, width } = across(rows);
  return (
    <div class="heathead num" style={{ width: `${width}px` }} aria-hidden="true">
      <span style={{ left: `${left}px`, width: `${LABEL - 10}px`, textAlign: "right" }}>
        offset
      </span>
      {Array.from({ length: WORDS + 1 }, (_, c) => (
        <span
          key={c}
          style={{ left: `${columnX(left, c)}px`, width: `${c === WORDS ? 44 : 32}px` }}
        >
          {c === WORDS ? "sector" : `w${c}`}
        </span>
      ))}
    </div>
  );
}
