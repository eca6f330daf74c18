import { exact, plural } from "../widgets/format";
import type { Sample } from "./payload";

/** Why a block was chosen for heat maps. */
export function whyBlock(s: Sample): string {
  const of = plural(s.of, "block");
  if (s.why === "asked") return `asked for with --block, one of ${of}`;
  if (s.why === "traced") return `traced on the device, one of ${of}`;
  if (s.why === "typical") {
    if (s.alike === s.of) return s.of === 1 ? "the only block" : `typical of all ${of}`;
    return `typical of ${exact(s.alike ?? 1)} of ${of}`;
  }
  return (s.alike ?? 1) > 1
    ? `an outlier, one of ${exact(s.alike ?? 1)} of its kind among ${of}`
    : `an outlier, the only one of its kind among ${of}`;
}
