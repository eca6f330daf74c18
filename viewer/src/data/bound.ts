import type { Prediction } from "./payload";

/** What bounds a launch: "traffic to L2". */
export const boundWords = (p: Prediction): string =>
  p.resources.find((r) => r.name === p.bound)?.words ?? p.bound;

/** The same within a sentence, without what explains it. */
export const boundName = (p: Prediction): string => boundWords(p).split(":")[0] ?? p.bound;
