/** Many sectors in one pixel: their highest value, or their mean, as a byte that a palette makes a colour of. */
export const SUMMARIES = ["max", "mean"] as const;
export type Summary = (typeof SUMMARIES)[number];

// Of a warp: 32 warps are 224, and a word that one of seven sectors uses is still told from none.
export const MEAN_STEPS = 7;

/** A mean as a byte; 0 stands for nobody alone. */
export const meanCode = (sum: number, weight: number): number =>
  sum > 0 ? Math.min(255, Math.max(1, Math.round((sum / weight) * MEAN_STEPS))) : 0;
