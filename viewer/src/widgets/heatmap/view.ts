import { type Signal, signal } from "@preact/signals";
import { TEXT_HEIGHT } from "./geometry";

/** What of a grid is in sight. */
export interface View {
  top: Signal<number>; // row, with a fraction
  zoom: Signal<number>; // 0: cells with numbers; each step shows more rows
}

export const makeView = (): View => ({ top: signal(0), zoom: signal(0) });

const MOST_HEIGHT = 560;

/** Pixels that the rows' part takes. */
export const rowsHeight = (rows: number): number =>
  Math.max(TEXT_HEIGHT, Math.min(rows * TEXT_HEIGHT, MOST_HEIGHT, innerHeight - 160));
