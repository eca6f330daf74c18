/** A long list of which only the rows in sight are drawn. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSize } from "../../widgets/size";
import { ROW } from "./rowpicture";

const MOST_PIXELS = 8_000_000; // browsers let nothing be much higher
const SPARE = 6; // rows beyond what is in sight

interface Props {
  count: number;
  selected: number; // is kept in sight; -1: none
  label: string;
  active: string; // id of the selected row's element
  onKey: (e: KeyboardEvent) => void;
  row: (index: number) => ComponentChildren;
}

/** Which rows are in sight: of very many, a pixel of the scroll bar is worth several. */
export function inSight(count: number, top: number, height: number) {
  const natural = count * ROW;
  const total = Math.min(natural, MOST_PIXELS);
  const most = Math.max(1, total - height);
  const start = natural > total ? (top / most) * (natural - height) : top;
  const first = Math.max(0, Math.floor(start / ROW) - SPARE);
  const last = Math.min(count, Math.ceil((start + height) / ROW) + SPARE);
  return { total, first, last, shift: top - start }; // row i lies at i * ROW + shift
}

/** Where to scroll so that a row is in sight; undefined where it is. */
export function scrollTo(count: number, row: number, top: number, height: number) {
  const natural = count * ROW;
  const total = Math.min(natural, MOST_PIXELS);
  const factor = natural > total ? (total - height) / (natural - height) : 1;
  const start = top / factor;
  if (row * ROW >= start && (row + 1) * ROW <= start + height) return undefined;
  const wanted = row * ROW < start ? row * ROW - 2 * ROW : (row + 3) * ROW - height;
  return Math.max(0, wanted * factor);
}

const HEIGHT = 400; // before it is known

export function LongList(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSize(box).height.value || HEIGHT;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || p.selected < 0) return;
    const to = scrollTo(p.count, p.selected, element.scrollTop, element.clientHeight || HEIGHT);
    if (to !== undefined) {
      element.scrollTop = to;
      top.value = to;
    }
  }, [p.selected, p.count, top]);
  const { total, first, last, shift } = inSight(p.count, top.value, height);
  return (
    <div
      ref={box}
      class="oplist"
      style={{ height: `min(64vh, ${p.count * ROW + 2}px)` }}
      role="listbox"
      aria-label={p.label}
      aria-activedescendant={p.active}
      tabIndex={0}
      onKeyDown={p.onKey}
      onScroll={(e) => {
        top.value = e.currentTarget.scrollTop;
      }}
    >
      <div class="all" style={{ height: `${total}px` }}>
        <div class="some" style={{ transform: `translateY(${first * ROW + shift}px)` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => p.row(first + i))}
        </div>
      </div>
    </div>
  );
}
