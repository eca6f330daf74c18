import { count, seconds } from "../widgets/format";
import type { Change } from "./payload";

const moved = (before: number, after: number, unit: string): string =>
  before > 0 ? `${count(before)} → ${count(after)} ${unit}` : "";

/** What the remedy changes: sectors, or wavefronts where these change more, but not what there was nothing of before; "" where
 * nothing was counted. */
export function changeWords(r: Change): string {
  const { before, after } = r;
  const sectors = Math.abs(before.sectors - after.sectors);
  const wavefronts = Math.abs(before.wavefronts - after.wavefronts);
  const words =
    before.wavefronts === 0 || (sectors >= wavefronts && before.sectors > 0)
      ? moved(before.sectors, after.sectors, "sectors")
      : moved(before.wavefronts, after.wavefronts, "wavefronts");
  const how = r.counted
    ? "tried: counted by working out the kernel's addresses with the change"
    : "not tried: the fewest that the data needs";
  return [words && `${words} (${how}).`, launchWords(r)].filter(Boolean).join(" ");
}

/** A launch of the kernel before and after, as predicted; "" where that is not known or the same. */
function launchWords(r: Change): string {
  const { before, after, after_low: low, after_high: high } = r.gain ?? {};
  if (before === undefined || after === undefined || low === undefined || high === undefined)
    return "";
  if (seconds(before) === seconds(after)) return "";
  return `A launch: ${seconds(before)} → ${seconds(after)} (${seconds(low)} to ${seconds(high)}).`;
}

const savedWords = (saved: number): string =>
  saved > 0 ? `; saves ${seconds(saved)}` : "; saves nothing";

/** Another remedy: what to do, whether that was tried, and what it saves by itself. */
export const otherWords = (r: Change): string =>
  `${r.advice.replace(/\.$/, "")} (${r.counted ? "tried" : "not tried"}${r.gain ? savedWords(r.gain.seconds) : ""}).`;
