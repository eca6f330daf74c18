import { effect, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { pyramid } from "../../data/pyramid";
import type { Summary } from "../../data/summary";
import { shown } from "../../state/theme";
import { useSize } from "../size";
import { type Geometry, geometry, STRIP } from "./geometry";
import { Hand } from "./hand";
import { type Cell, HEAD, Painter } from "./painter";
import { inkOf, type Mode } from "./palette";
import type { Sight } from "./sight";

interface Props {
  sight: Sight;
  mode: Mode;
  summary: Summary;
  warps: number;
  names: string[]; // of the maps
  hover: Signal<Cell | undefined>;
  pinned: Signal<Cell | undefined>;
  describedBy: string;
}

type Ref<T> = { current: T | null };

/** Keeps the picture as it should be: each change waits for the browser's next frame, however many there are. A new
 * sight brings signals of its own, so that the effect that listens to them is made anew with it. */
function usePainting(canvas: Ref<HTMLCanvasElement>, p: Props, g: Geometry): void {
  const { sight, mode, summary, warps, names, hover, pinned } = p;
  const levels = useMemo(() => pyramid(sight.grid, sight.height, summary), [sight, summary]);
  useEffect(() => {
    let painter: Painter | undefined;
    let theme = shown.peek();
    let frame = 0;
    const paint = () => {
      frame = 0;
      if (!canvas.current || g.width === 0) return;
      const scene = { sight, levels, summary, mode, warps, names };
      painter ??= new Painter(canvas.current, scene, g, inkOf(canvas.current));
      painter.draw(hover.value, pinned.value);
    };
    const stop = effect(() => {
      void [sight.top.value, sight.zoom.value, hover.value, pinned.value];
      if (theme !== shown.value) painter = undefined;
      theme = shown.value;
      if (!frame) frame = requestAnimationFrame(paint);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [sight, levels, mode, warps, names, hover, pinned, g]);
}

/** Heat maps side by side on a canvas: rows are sectors, or several of them; the strip at the left holds all rows. */
export function HeatCanvas(p: Props) {
  const { sight } = p;
  const { layout, layers } = sight.grid;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSize(box).width.value;
  const g = useMemo(() => geometry(width, layout, layers.length), [width, layout, layers.length]);
  const hand = useMemo(
    () => new Hand(() => canvas.current, sight, g, p.hover, p.pinned),
    [sight, g],
  );
  usePainting(canvas, p, g);
  useEffect(() => {
    // Not onWheel: browsers take such listeners for passive ones, which cannot keep the page from scrolling.
    const element = canvas.current;
    element?.addEventListener("wheel", hand.wheel, { passive: false });
    return () => element?.removeEventListener("wheel", hand.wheel);
  }, [hand]);
  const height = `${sight.height + HEAD}px`;
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
      style={{ height }}
      onKeyDown={hand.key}
    >
      <canvas
        ref={canvas}
        style={{ width: `${g.width}px`, height }}
        onPointerMove={hand.move}
        onPointerLeave={hand.leave}
        onClick={hand.click}
      />
      {/* Above the strip, so that a finger drags it instead of the page. */}
      <div
        class="grip"
        style={{ top: `${HEAD}px`, width: `${STRIP + 6}px`, height: `${sight.height}px` }}
        onPointerDown={hand.down}
        onPointerMove={hand.drag}
        onPointerUp={hand.up}
        onPointerCancel={hand.up}
      />
    </div>
  );
}
