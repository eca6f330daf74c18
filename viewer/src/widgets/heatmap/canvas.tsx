import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Grid } from "../../data/grid";
import { pyramid } from "../../data/pyramid";
import { shown } from "../../state/theme";
import { columnAt, geometry, rowsShown, STRIP, type Zoom, zooms } from "./geometry";
import { type Cell, HEAD, Painter, windowOf } from "./painter";
import { inkOf, type Mode } from "./palette";
import { rowsHeight, type View } from "./view";

interface Props {
  grid: Grid;
  mode: Mode;
  warps: number;
  names: string[];
  view: View;
  hover: Signal<Cell | undefined>;
  pinned: Signal<Cell | undefined>;
  describedBy: string;
}

/** The width that the element gets. */
function useWidth(box: { current: HTMLElement | null }): Signal<number> {
  const width = useSignal(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      width.value = Math.floor(element.clientWidth);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, width]);
  return width;
}

/** The row, or the next one that was touched in the direction; the first and the last row always were. */
function touched(grid: Grid, row: number, direction: number): number {
  const inside = Math.min(grid.count - 1, Math.max(0, row));
  return grid.gap[inside] ? inside + direction : inside;
}

/** Where a key takes the selected cell. */
function move(cell: Cell | undefined, key: string, grid: Grid, page: number): Cell | undefined {
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-page, 0],
    PageDown: [page, 0],
    Home: [-grid.count, 0],
    End: [grid.count, 0],
  };
  const step = steps[key];
  if (!step) return undefined;
  if (!cell) return { row: 0, layer: 0, column: 0 };
  const { columns } = grid.layout;
  const at = cell.layer * columns + cell.column + step[1];
  const across = Math.min(grid.layers.length * columns - 1, Math.max(0, at));
  return {
    row: touched(grid, cell.row + step[0], Math.sign(step[0])),
    layer: Math.floor(across / columns),
    column: across % columns,
  };
}

/** Heat maps side by side on a canvas: rows are sectors, or several of them; the strip at the left holds all rows. */
export function HeatCanvas(p: Props) {
  const { grid, view, hover, pinned } = p;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const painter = useRef<Painter | undefined>(undefined);
  const wanted = useRef(0);
  const height = rowsHeight(grid.count);
  const levels = useMemo(() => pyramid(grid, height), [grid, height]);
  const all = useMemo(() => zooms(grid.count, height), [grid, height]);
  const zoom = useComputed(() => all[Math.min(view.zoom.value, all.length - 1)] as Zoom);
  const g = useMemo(
    () => geometry(width.value, grid.layout, grid.layers.length),
    [width.value, grid],
  );

  useEffect(() => {
    painter.current = undefined;
  }, [grid, p.mode, g, p.names]);

  // Everything that changes the picture is read here; the drawing itself waits for the browser's next frame.
  const paint = () => {
    wanted.current = 0;
    if (!canvas.current || width.value === 0) return;
    const scene = { grid, levels, mode: p.mode, warps: p.warps, names: p.names, height };
    painter.current ??= new Painter(canvas.current, scene, g, inkOf(canvas.current));
    painter.current.draw({
      top: view.top.value,
      zoom: zoom.value,
      hover: hover.value,
      pinned: pinned.value,
    });
  };
  const soon = () => {
    if (!wanted.current) wanted.current = requestAnimationFrame(paint);
  };
  useEffect(() => {
    soon();
    return () => {
      cancelAnimationFrame(wanted.current);
      wanted.current = 0;
    };
  });
  useSignalEffect(() => {
    void [view.top.value, zoom.value, hover.value, pinned.value];
    soon();
  });
  useSignalEffect(() => {
    void shown.value;
    painter.current = undefined;
    soon();
  });

  const most = () => Math.max(0, grid.count - rowsShown(zoom.value, height));
  const scrollTo = (top: number) => {
    view.top.value = Math.min(most(), Math.max(0, top));
  };
  const zoomAt = (by: number, y: number) => {
    const to = Math.min(all.length - 1, Math.max(0, view.zoom.value + by));
    const row = view.top.value + rowsShown(zoom.value, y);
    view.zoom.value = to;
    scrollTo(row - rowsShown(zoom.value, y));
  };
  const place = (e: MouseEvent) => {
    const rect = canvas.current?.getBoundingClientRect();
    return { x: e.clientX - (rect?.left ?? 0), y: e.clientY - (rect?.top ?? 0) - HEAD };
  };
  const cellAt = (e: MouseEvent): Cell | undefined => {
    const { x, y } = place(e);
    const row = Math.floor(view.top.value + rowsShown(zoom.value, y));
    const column = columnAt(g, grid.layout, x);
    const there = y >= 0 && row < grid.count && !grid.gap[row];
    return there && column ? { row, ...column } : undefined;
  };

  const wheel = (e: WheelEvent) => {
    if (e.ctrlKey) {
      e.preventDefault();
      zoomAt(Math.sign(e.deltaY), place(e).y);
      return;
    }
    const before = view.top.value;
    const pixels = e.deltaMode === 1 ? e.deltaY * 18 : e.deltaY;
    scrollTo(before + rowsShown(zoom.value, pixels));
    if (view.top.value !== before) e.preventDefault(); // at an end the page scrolls on
  };
  useEffect(() => {
    const element = canvas.current;
    // Not onWheel: browsers take such listeners for passive ones, which cannot keep the page from scrolling.
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  });

  const drag = useRef<number | undefined>(undefined); // where the window is held
  const dragTo = (y: number) => {
    const { height: tall } = windowOf(grid.count, height, { top: 0, zoom: zoom.value });
    scrollTo(((y - (drag.current ?? 0)) / Math.max(1, height - tall)) * most());
  };
  const down = (e: PointerEvent) => {
    const { x, y } = place(e);
    if (x > STRIP + 6) return;
    const at = windowOf(grid.count, height, { top: view.top.value, zoom: zoom.value });
    drag.current = y >= at.y && y <= at.y + at.height ? y - at.y : at.height / 2;
    canvas.current?.setPointerCapture(e.pointerId);
    dragTo(y);
  };
  const pin = (e: MouseEvent) => {
    const cell = cellAt(e);
    if (!cell) return;
    pinned.value = cell;
    if (zoom.value.height === 18) return;
    view.zoom.value = 0; // from afar: to the cell
    scrollTo(cell.row - rowsShown(zoom.value, place(e).y));
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const zoomBy = { "+": -1, "=": -1, "-": 1 }[e.key];
    const page = Math.max(1, Math.floor(rowsShown(zoom.value, height)) - 1);
    const to = move(pinned.value, e.key, grid, page);
    if (zoomBy === undefined && !to) return;
    e.preventDefault();
    e.stopPropagation();
    if (zoomBy !== undefined) zoomAt(zoomBy, height / 2);
    if (!to) return;
    pinned.value = to;
    const seen = rowsShown(zoom.value, height);
    if (to.row < view.top.value) scrollTo(to.row);
    else if (to.row + 1 > view.top.value + seen) scrollTo(to.row + 1 - seen);
  };
  return (
    <div
      ref={box}
      class="heatbox"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
      tabIndex={0}
      role="application"
      aria-roledescription="heat map"
      aria-label={`${p.names.join(", ")}: arrow keys move the selected cell, plus and minus zoom`}
      aria-describedby={p.describedBy}
      style={{ height: `${height + HEAD}px` }}
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        style={{ width: `${g.width}px`, height: `${height + HEAD}px` }}
        onPointerDown={down}
        onPointerMove={(e) => {
          if (drag.current !== undefined) dragTo(place(e).y);
          else hover.value = cellAt(e);
        }}
        onPointerUp={() => {
          drag.current = undefined;
        }}
        onPointerLeave={() => {
          hover.value = undefined;
        }}
        onClick={pin}
      />
    </div>
  );
}
