import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The width that the element gets; 0 before it is known. */
export function useWidth(box: { current: HTMLElement | null }): number {
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
  return width.value;
}
