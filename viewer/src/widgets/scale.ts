import { interpolateViridis } from "d3-scale-chromatic";

/** Temperatures from 1 to the block's warps, by powers of two: telling 1 from 2 and 4 matters more than 30 from 32. */
export function heatColor(temperature: number, warps: number): string {
  if (temperature <= 0) return "transparent";
  const top = Math.log2(Math.max(2, warps));
  return interpolateViridis(Math.min(1, Math.log2(temperature) / top));
}

/** WCAG 2's relative luminance. */
function luminance(color: string): number {
  const hex = /^#(..)(..)(..)$/.exec(color);
  const parts = hex
    ? hex.slice(1).map((h) => Number.parseInt(h, 16))
    : (color.match(/\d+/g) ?? ["0", "0", "0"]).map(Number);
  const [r = 0, g = 0, b = 0] = parts.map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// The luminance at which black and white stand out alike, 4.6 to 1 each: one of them always does.
const BALANCE = 0.179;

/** Text that can be read on `color`. */
export const inkOn = (color: string): string =>
  luminance(color) > BALANCE ? "#000000" : "#ffffff";

/** The steps that the legend shows: 1, 2, 4 ... up to the number of warps. */
export function heatSteps(warps: number): number[] {
  const steps: number[] = [];
  for (let t = 1; t < warps; t *= 2) steps.push(t);
  steps.push(Math.max(1, warps));
  return steps;
}
