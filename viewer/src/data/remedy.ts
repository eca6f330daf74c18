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
    : "the fewest that the data needs";
  return words && `${words} (${how}).`;
}

/** Another remedy in a line. */
export const otherWords = (r: Change): string =>
  r.gain && r.gain.seconds > 0 ? `${r.title} (saves ${seconds(r.gain.seconds)}).` : `${r.title}.`;
