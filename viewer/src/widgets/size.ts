import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The inner size that the element gets, in whole pixels; 0 before it is known. */
export function useSize(box: { current: HTMLElement | null }): {
  width: Signal<number>;
  height: Signal<number>;
} {
  const [width, height] = [useSignal(0), useSignal(0)];
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      width.value = Math.floor(element.clientWidth);
      height.value = Math.floor(element.clientHeight);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, width, height]);
  return { width, height };
}
