import { NONE } from "../../data/course";
import { gutter, plotWidth, ROW } from "./geometry";
import type { MemoryState } from "./state";

const LINE = 18; // pixels that a wheel means by a line
const STILL = 4; // pixels that a click may move
const ZOOM_KEYS: Record<string, number> = { "+": 1, "=": 1, "-": -1 };

/** What pointer, wheel and keys do on the pictures of memory. */
export class Hand {
  private held: { x: number; from: number; to: number; moved: boolean } | undefined;

  constructor(private readonly s: MemoryState) {}

  /** Where the pointer is in the plot; x may lie outside of it. */
  private at(e: MouseEvent): { x: number; y: number; width: number } {
    const rect = (e.currentTarget as Element).getBoundingClientRect();
    const x = e.clientX - rect.left - gutter(rect.width);
    return { x, y: e.clientY - rect.top, width: plotWidth(rect.width) };
  }

  private opAt(e: MouseEvent): number {
    const { x, width } = this.at(e);
    if (x < 0 || x > width) return NONE;
    const axis = this.s.axis.peek();
    return axis.opAt(axis.placeAt(x, width));
  }

  /** Sideways it pans, with ctrl it zooms; else the page or the list scrolls. */
  readonly wheel = (e: WheelEvent): void => {
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
    const { x, width } = this.at(e);
    const axis = this.s.axis.peek();
    const sideways = e.shiftKey && e.deltaX === 0 ? e.deltaY : e.deltaX;
    if (e.ctrlKey || e.metaKey)
      axis.zoomBy(-Math.sign(e.deltaY), Math.min(1, Math.max(0, x / width)));
    else if (Math.abs(sideways) > Math.abs(e.shiftKey ? 0 : e.deltaY))
      axis.panBy((sideways * unit) / width);
    else return;
    e.preventDefault();
  };

  readonly down = (e: PointerEvent): void => {
    if (e.button !== 0) return;
    const { from, to } = this.s.axis.peek().window.peek();
    this.held = { x: e.clientX, from, to, moved: false };
    (e.currentTarget as Element).setPointerCapture?.(e.pointerId);
  };

  readonly move = (e: PointerEvent): void => {
    const { held } = this;
    if (!held) {
      const op = this.opAt(e);
      this.s.hover.value = op === NONE ? undefined : { op };
      return;
    }
    const by = e.clientX - held.x;
    held.moved ||= Math.abs(by) > STILL;
    if (!held.moved) return;
    const shift = (by / this.at(e).width) * (held.to - held.from);
    this.s.axis.peek().show(held.from - shift, held.to - shift);
  };

  readonly leave = (): void => {
    this.s.hover.value = undefined;
  };

  private ended(): boolean {
    const click = this.held !== undefined && !this.held.moved;
    this.held = undefined;
    return click;
  }

  readonly upOnCurve = (e: PointerEvent): void => {
    const op = this.opAt(e);
    if (this.ended() && op !== NONE) this.s.selection.value = { op };
  };

  /** On a life: the object; on one of its marks the call, when the object is selected already. */
  readonly upOnLives = (e: PointerEvent, scrolled: number): void => {
    if (!this.ended()) return;
    const object = this.s.rows.peek()[Math.floor((this.at(e).y + scrolled) / ROW)];
    if (object !== undefined) this.s.selection.value = { object };
  };

  private keyOfAxis(e: KeyboardEvent): boolean {
    const axis = this.s.axis.peek();
    const steps = ZOOM_KEYS[e.key];
    if (steps !== undefined) axis.zoomBy(steps);
    else if (e.key === "0") axis.showAll();
    else if (e.key === "p" && this.s.now.moment !== NONE) this.s.toPeak();
    else if (e.key === "Escape") this.s.select(undefined);
    else if (e.key === "," || e.key === "<") axis.panBy(-0.2);
    else if (e.key === "." || e.key === ">") axis.panBy(0.2);
    else return false;
    return true;
  }

  private done(e: KeyboardEvent): void {
    e.preventDefault();
    e.stopPropagation();
  }

  readonly keyOnCurve = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { s } = this;
    const last = s.d.ops.count - 1;
    const selected = s.selection.peek();
    const at = selected && "op" in selected ? selected.op : -1;
    const to: Record<string, number> = {
      ArrowRight: Math.min(last, at + 1),
      ArrowLeft: Math.max(0, at - 1),
      Home: 0,
      End: last,
    };
    const op = to[e.key];
    if (op !== undefined) s.select({ op });
    if (op !== undefined || this.keyOfAxis(e)) this.done(e);
  };

  /** Returns whether another object was selected. */
  readonly keyOnLives = (e: KeyboardEvent, page: number): boolean => {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    const { s } = this;
    const rows = s.rows.peek();
    const selected = s.selection.peek();
    const at = selected && "object" in selected ? rows.indexOf(selected.object) : -1;
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = steps[e.key];
    const sideways = e.key === "ArrowLeft" ? -0.1 : e.key === "ArrowRight" ? 0.1 : 0;
    if (sideways) s.axis.peek().panBy(sideways);
    const object = to === undefined ? undefined : rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (object !== undefined) s.selection.value = { object };
    if (to !== undefined || sideways || this.keyOfAxis(e)) this.done(e);
    return object !== undefined;
  };
}
