import { OWNERS } from "../../data/owner";
import type { Region } from "../../data/regions";
import { MEAN_STEPS } from "../../data/summary";
import { heatColor, inkOn } from "../scale";

/** What cells show: how many warps used them, or whether it was one thread, one warp or several. */
export const MODES = ["warmth", "owner"] as const;
export type Mode = (typeof MODES)[number];

/** Colours of a page's theme that the canvas needs. */
export interface Ink {
  text: string;
  muted: string;
  line: string;
  empty: string;
  accent: string;
}

export function inkOf(element: Element): Ink {
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

// Of Okabe and Ito's colours, which people with any kind of colour blindness tell apart.
export const OWNER_COLORS = ["", "#56b4e9", "#009e73", "#d55e00"] as const;

// Likewise: what is costly stands out, and what shows no pattern does not.
export const REGION_COLORS: Partial<Record<Region, string>> = {
  none: "#9aa5b1",
  hot: "#d55e00",
  "false-sharing": "#cc79a7",
  strided: "#0072b2",
  random: "#f0c419",
};

const PALEST = 0.15; // of a mean that is next to nothing

/** Between two colours. */
function mixed(from: string, to: string, share: number): string {
  const [a, b] = [rgb(from), rgb(to)];
  const part = (k: number) => Math.round((a[k] ?? 0) + ((b[k] ?? 0) - (a[k] ?? 0)) * share);
  return `rgb(${part(0)}, ${part(1)}, ${part(2)})`;
}

/** The colour of each mean's code: below one warp paler, the fewer sectors have any. */
export const meanPalette = (warps: number, ink: Ink): string[] =>
  Array.from({ length: 256 }, (_, code) => {
    const mean = code / MEAN_STEPS;
    if (code === 0 || mean >= 1) return code === 0 ? ink.empty : heatColor(mean, warps);
    return mixed(ink.empty, heatColor(1, warps), PALEST + (1 - PALEST) * mean);
  });

/** The colour of each value; number 0 is nobody's. */
export function palette(mode: Mode, warps: number, ink: Ink): string[] {
  if (mode === "owner") return OWNERS.map((_, o) => OWNER_COLORS[o] || ink.empty);
  return Array.from({ length: 33 }, (_, t) => (t > 0 ? heatColor(t, warps) : ink.empty));
}

export const inks = (colors: string[], ink: Ink): string[] =>
  colors.map((c, value) => (value > 0 ? inkOn(c) : ink.muted));

/** Red, green, blue of a colour, as a canvas understands it. */
export function rgb(color: string): [number, number, number] {
  const hex = /^#(..)(..)(..)$/.exec(color);
  const parts = hex
    ? hex.slice(1).map((h) => Number.parseInt(h, 16))
    : (color.match(/\d+/g) ?? []).map(Number);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

/** A colour as a pixel of a canvas: red in the lowest byte. */
export function pixelOf(color: string): number {
  const [r, g, b] = rgb(color);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}
