import { ALONE, CODES, DIFFERENCES, ENDED, GAP, UNKNOWN } from "../../data/explore/tiles";
import { shown } from "../../state/theme";

type Rgb = [number, number, number];

/** From no difference to the greatest; lightness alone tells them apart, too. */
const STOPS: Record<"light" | "dark", Rgb[]> = {
  light: [
    [214, 228, 243],
    [250, 216, 110],
    [236, 126, 34],
    [150, 20, 30],
  ],
  dark: [
    [38, 58, 88],
    [150, 76, 40],
    [240, 150, 40],
    [255, 246, 190],
  ],
};
const OTHERS: Record<"light" | "dark", { ended: Rgb; unknown: Rgb; alone: Rgb; gap: Rgb }> = {
  light: {
    ended: [196, 200, 206],
    unknown: [240, 241, 244],
    alone: [222, 205, 235],
    gap: [255, 255, 255],
  },
  dark: {
    ended: [70, 76, 85],
    unknown: [28, 32, 39],
    alone: [80, 62, 98],
    gap: [20, 23, 28],
  },
};

const mix = (a: Rgb, b: Rgb, share: number): Rgb => [
  Math.round(a[0] + (b[0] - a[0]) * share),
  Math.round(a[1] + (b[1] - a[1]) * share),
  Math.round(a[2] + (b[2] - a[2]) * share),
];

function rgbOf(code: number): Rgb {
  const others = OTHERS[shown.value];
  if (code === ENDED) return others.ended;
  if (code === UNKNOWN) return others.unknown;
  if (code === ALONE) return others.alone;
  if (code === GAP) return others.gap;
  const stops = STOPS[shown.value];
  const at = (code / (DIFFERENCES - 1)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[i] as Rgb, stops[i + 1] as Rgb, at - i);
}

/** As CSS has it. */
export const cssOf = (code: number): string => `rgb(${rgbOf(code).join(" ")})`;

/** All codes' colours, as the pixels of an image have them. */
export function pixels(): Uint32Array {
  const bytes = new Uint8Array(4 * CODES);
  for (let code = 0; code < CODES; code++) bytes.set([...rgbOf(code), 255], 4 * code);
  return new Uint32Array(bytes.buffer);
}
