import type { Signal } from "@preact/signals";
import { columnAt, type Geometry, TEXT_HEIGHT } from "./geometry";
import { moved } from "./keys";
import { type Cell, HEAD } from "./painter";
import type { Sight } from "./sight";

const LINE = 18; // pixels that a wheel means by a line
const ZOOM_KEYS: Record<string, number> = { "+": -1, "=": -1, "-": 1 };

/** What pointer, wheel and keys do on a canvas with heat maps. */
export class Hand {
  private held: number | undefined; // how far below its upper edge the strip's window is held

  constructor(
    private readonly canvas: () => HTMLCanvasElement | null,
    private readonly sight: Sight,
    private readonly g: Geometry,
    private readonly hover: Signal<Cell | undefined>,
    private readonly pinned: Signal<Cell | undefined>,
  ) {}

  private place(e: MouseEvent): { x: number; y: number } {
    const rect = this.canvas()?.getBoundingClientRect();
    return { x: e.clientX - (rect?.left ?? 0), y: e.clientY - (rect?.top ?? 0) - HEAD };
  }

  private cellAt(e: MouseEvent): Cell | undefined {
    const { x, y } = this.place(e);
    const { grid } = this.sight;
    const row = this.sight.rowAt(y);
    const column = columnAt(this.g, grid.layout, x);
    const there = y >= 0 && row < grid.count && !grid.gap[row];
    return there && column ? { row, ...column } : undefined;
  }

  readonly wheel = (e: WheelEvent): void => {
    const pixels = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? e.deltaY * LINE : e.deltaY;
    if (e.ctrlKey) this.sight.zoomBy(Math.sign(e.deltaY), this.place(e).y);
    else if (!this.sight.scrollBy(pixels)) return; // at an end the page scrolls on
    e.preventDefault();
  };

  /** On the strip: takes its window, or brings it there. */
  readonly down = (e: PointerEvent): void => {
    const { y } = this.place(e);
    const at = this.sight.window;
    this.held = y >= at.y && y <= at.y + at.height ? y - at.y : at.height / 2;
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
    this.sight.dragWindow(y - this.held);
  };

  readonly drag = (e: PointerEvent): void => {
    if (this.held !== undefined) this.sight.dragWindow(this.place(e).y - this.held);
  };

  readonly move = (e: PointerEvent): void => {
    this.hover.value = this.cellAt(e);
  };

  readonly up = (): void => {
    this.held = undefined;
  };

  readonly leave = (): void => {
    this.hover.value = undefined;
  };

  /** Selects a cell; from afar it goes there, too. */
  readonly click = (e: MouseEvent): void => {
    const cell = this.cellAt(e);
    if (!cell) return;
    this.pinned.value = cell;
    if (this.sight.zoom.value.height < TEXT_HEIGHT) {
      this.sight.zoomTo(0, this.place(e).y);
      this.sight.reveal(cell.row);
    }
  };

  readonly key = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { grid } = this.sight;
    const steps = ZOOM_KEYS[e.key];
    const page = Math.max(1, Math.floor(this.sight.rows) - 1);
    const to = moved(this.pinned.value, e.key, grid, page);
    if (steps !== undefined) this.sight.zoomBy(steps);
    if (to) {
      this.pinned.value = to;
      this.sight.reveal(to.row);
    }
    if (steps === undefined && !to) return;
    e.preventDefault();
    e.stopPropagation();
  };
}
