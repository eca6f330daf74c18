/** Which findings and kernels a list shows. */
import { kernelOf, type Model, objectOf, placesOf } from "./model";
import type { Finding, Group, Kernel } from "./payload";

export const GAINS = ["worth", "little"] as const;

export interface Filter {
  text: string;
  pattern: string; // "": any
  gain: (typeof GAINS)[number] | "";
}

export const NO_FILTER: Filter = { text: "", pattern: "", gain: "" };

export const isFiltering = (f: Filter): boolean =>
  f.text.trim() !== "" || f.pattern !== "" || f.gain !== "";

/** The patterns that findings have, in their order. */
export const patternsOf = (m: Model): string[] => [
  ...new Set(m.payload.findings.map((f) => f.pattern as string)),
];

function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** What a finding can be found by: what is wrong, where and on what. */
function textOf(m: Model, f: Finding): string {
  const file = m.fileById.get(f.lines[0]?.file ?? -1)?.path ?? "";
  const names = [kernelOf(m, f.kernel)?.name, objectOf(m, f.object)?.name];
  return [f.title, f.pattern, ...names, file].join(" ");
}

const hasGain = (group: Group, gain: Filter["gain"]): boolean =>
  gain === "" || (group.gain_reason === undefined) === (gain === "worth");

/** Whether one of the group's findings, which one change fixes, is asked for. Groups are numbered from 1. */
export const showsGroup = (m: Model, number: number, filter: Filter): boolean => {
  const group = m.payload.groups[number - 1];
  return (
    group !== undefined &&
    hasGain(group, filter.gain) &&
    placesOf(m, number).some(
      (f) =>
        (filter.pattern === "" || f.pattern === filter.pattern) &&
        hasWords(textOf(m, f), filter.text),
    )
  );
};

/** A kernel is asked for by its name, and by what the findings that it has are. */
export function showsKernel(m: Model, k: Kernel, filter: Filter): boolean {
  if (!hasWords(`${k.name} ${k.module ?? ""}`, filter.text)) return false;
  const any = filter.pattern === "" && filter.gain === "";
  const found = m.payload.findings.some((f) => {
    const group = m.payload.groups[f.number - 1];
    const ofPattern = filter.pattern === "" || f.pattern === filter.pattern;
    return f.kernel === k.id && ofPattern && group !== undefined && hasGain(group, filter.gain);
  });
  return any || found;
}
