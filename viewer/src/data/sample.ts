import { exact, plural } from "../widgets/format";
import type { Sample } from "./payload";

/** Why a block was chosen for heat maps. */
export function whyBlock(s: Sample): string {
  const of = plural(s.of, "block");
  if (s.why === "asked") return `asked for with --block, one of ${of}`;
  if (s.why === "traced") return `recorded on the GPU, one of ${of}`;
  if (s.why === "typical") {
    if (s.alike === s.of) return s.of === 1 ? "the only block" : `stands for all ${of}`;
    return `stands for ${exact(s.alike ?? 1)} of ${of}, which are alike`;
  }
  return (s.alike ?? 1) > 1
    ? `unlike the others: one of ${exact(s.alike ?? 1)} of its kind among ${of}`
    : `unlike the others: the only one of its kind among ${of}`;
}

/** In a word or two why a block was chosen. */
export const WHY: Record<Sample["why"], string> = {
  asked: "asked for",
  typical: "stands for others",
  outlier: "unlike the others",
  traced: "recorded",
};
