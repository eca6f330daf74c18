import { percent, seconds } from "../widgets/format";
import type { Finding, Group, Saving } from "./payload";

/** No saving is below none: a remedy that costs time saves nothing. */
export const savedPart = (share: number): number => Math.max(0, share);

const LEAST = 5e-8; // of what is written of seconds

/** Less than is written: it is told so, not as a zero with a range. */
export const savesNothing = (s: Saving): boolean => s.seconds < LEAST || s.of_program < 1e-5;

export const savedAs = (s: number): string => (s < LEAST ? "nothing" : seconds(s));

export const savedSeconds = (s: Saving): string =>
  savesNothing(s) ? "nothing" : seconds(s.seconds);

/** What a finding of a small run is worth where the grid fills the device; undefined: told otherwise. */
export const savedAtFullSize = (s: Saving | undefined): number | undefined =>
  s?.small && s.of_full !== undefined && s.of_full > 0 ? s.of_full : undefined;

/** What following the advice saves of the kernel that the finding is in; "" where that is not known. */
export function savingWords(f: Finding, group: Group | undefined): string {
  if (f.gain !== "full") return f.gain_note ?? "";
  const worth = group?.kernels.length === 1 ? group.worth : f.worth;
  const full = savedAtFullSize(worth);
  if (full !== undefined)
    return `Saves ${percent(full)} of its time where the grid fills the device.`;
  if (worth?.of_kernel === undefined) return "";
  return worth.of_kernel > 0
    ? `Saves ${percent(worth.of_kernel)} of its time, as predicted.`
    : "Saves nothing, as predicted.";
}
