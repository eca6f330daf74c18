import { exact, plural } from "../widgets/format";
import type { Sample } from "./payload";

/** Why a block was chosen for heat maps. */
export function whyBlock(s: Sample): string {
  const of = plural(s.of, "block");
  if (s.why === "asked") return `asked for, of ${of}`;
  if (s.why === "traced") return `traced on the device, of ${of}`;
  if (s.why === "typical") {
    return s.alike === s.of ? `like all ${of}` : `typical of ${exact(s.alike ?? 1)} of ${of}`;
  }
  return (s.alike ?? 1) > 1
    ? `unlike the rest: one of ${exact(s.alike ?? 1)} like it, of ${of}`
    : `unlike the rest, alone of ${of}`;
}
