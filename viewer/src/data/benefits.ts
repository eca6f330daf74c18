import type { Benefits } from "./payload";

/** Seconds of memory (x) and of computation (y). */
export interface Cost {
  x: number;
  y: number;
}

/** The four benefits, as the chart goes from a launch to its ideal. */
export const BENEFITS = [
  "serialisation",
  "parallelism",
  "floating_point",
  "memory_parallelism",
] as const;
export type Benefit = (typeof BENEFITS)[number];

export interface Step {
  benefit: Benefit;
  seconds: number;
  from: Cost;
  to: Cost;
}

/** The chart of Sim et al., figure 4. */
export interface BenefitChart {
  alone: Cost; // A: memory and computation, one after the other
  shifted: Cost; // A': what overlaps is taken from memory; x + y is the time of a launch
  ideal: Cost; // the least of both
  steps: Step[]; // from A' on: down by computation, then left by memory; those that gain anything
  most: number; // the largest x or y
}

export function benefitChart(b: Benefits): BenefitChart {
  const alone = { x: b.memory, y: b.computation };
  const shifted = { x: b.memory - b.overlap, y: b.computation };
  const steps: Step[] = [];
  let from = shifted;
  for (const benefit of BENEFITS) {
    const seconds = b[benefit];
    const to =
      benefit === "memory_parallelism"
        ? { x: from.x - seconds, y: from.y }
        : { x: from.x, y: from.y - seconds };
    if (seconds > 0) steps.push({ benefit, seconds, from, to });
    from = to;
  }
  // Where few warps run, floating-point arithmetic alone takes longer than all with enough of them.
  const ideal = { x: b.least_memory, y: Math.min(b.least_computation, from.y) };
  return { alone, shifted, ideal, steps, most: Math.max(alone.x, alone.y, ideal.x) };
}
