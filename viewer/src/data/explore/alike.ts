/** What most warps of a launch do, beside those of another one. */
import { exact, plural, ratio } from "../../widgets/format";
import type { ComparedWarps } from "../payload";

/** "8 sectors", and where another launch has other than 0 of them how many times as many: "8 sectors (0.40 ×)"; "" where it
 * is not known. */
function timesText(n: number | undefined, word: string, than: number | undefined): string {
  if (n === undefined) return "";
  const times = than && than !== n ? ` (${ratio(n / than)} ×)` : "";
  return `${plural(n, word)}${times}`;
}

/** What the representative executes and moves; `than`: of the launch at the left. */
export function workText(own: ComparedWarps, than?: ComparedWarps): string {
  const parts = [
    timesText(own.operations, "operation", than?.operations),
    timesText(own.sectors, "sector", than?.sectors),
    timesText(own.wavefronts, "wavefront", than?.wavefronts),
  ];
  return parts.filter(Boolean).join(", ");
}

/** What most warps do, in numbers that can be read side by side. */
export function commonText(own: ComparedWarps, than?: ComparedWarps): string {
  const who = own.alike === own.count ? "All" : `${exact(own.alike)} of`;
  return `${who} ${plural(own.count, "warp")} alike: ${workText(own, than)}`;
}
