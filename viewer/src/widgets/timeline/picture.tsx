import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { shown } from "../../state/theme";
import { useSize } from "../size";
import { type CourseInk, courseInk, prepared } from "./paint";

interface Props {
  height: number;
  className?: string;
  /** Reads all signals that the picture depends on. */
  draw: (context: CanvasRenderingContext2D, width: number, ink: CourseInk) => void;
  watch: readonly unknown[]; // draws anew when one of these changes
  onPointerMove?: (e: PointerEvent) => void;
  onPointerLeave?: (e: PointerEvent) => void;
  onPointerDown?: (e: PointerEvent) => void;
  onPointerUp?: (e: PointerEvent) => void;
  onWheel?: (e: WheelEvent) => void;
}

/** A canvas as wide as its place, drawn with the browser's next frame whenever a signal that it reads changes. */
export function Picture(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(box);
  const latest = useRef(p);
  latest.current = p;
  useEffect(() => {
    let frame = 0;
    let stop = () => {};
    const paint = () => {
      frame = 0;
      stop();
      let first = true;
      stop = effect(() => {
        void shown.value;
        const element = canvas.current;
        if (!first) {
          if (!frame) frame = requestAnimationFrame(paint);
          return;
        }
        first = false;
        if (!element || width.value === 0) return;
        const context = prepared(element, width.value, latest.current.height);
        if (context) latest.current.draw(context, width.value, courseInk(element));
      });
    };
    paint();
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [width, p.height, ...p.watch]);
  useEffect(() => {
    // Not onWheel: browsers take such listeners for passive ones, which cannot keep the page from scrolling.
    const element = canvas.current;
    const wheel = (e: WheelEvent) => latest.current.onWheel?.(e);
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  }, []);
  return (
    <div ref={box} class={`timeline ${p.className ?? ""}`} style={{ height: `${p.height}px` }}>
      <canvas
        ref={canvas}
        style={{ width: `${width.value}px`, height: `${p.height}px` }}
        onPointerMove={(e) => p.onPointerMove?.(e)}
        onPointerLeave={(e) => p.onPointerLeave?.(e)}
        onPointerDown={(e) => p.onPointerDown?.(e)}
        onPointerUp={(e) => p.onPointerUp?.(e)}
        onPointerCancel={(e) => p.onPointerUp?.(e)}
      />
    </div>
  );
}
