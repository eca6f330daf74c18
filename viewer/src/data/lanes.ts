import type { Layer } from "./grid";
import { WORDS } from "./heat";
import { meanCode, type Summary } from "./summary";

/** The highest value of the words of each run's sectors. */
export function hottestWords({ table, planes }: Layer): Uint8Array {
  const out = planes.slice(0, table.runs);
  for (let w = 1; w < WORDS; w++) {
    for (let run = 0; run < table.runs; run++) {
      const value = planes[w * table.runs + run] as number;
      if (value > (out[run] as number)) out[run] = value;
    }
  }
  return out;
}

/** The values of each run's sectors as wholes. */
export const wholeSectors = ({ table, planes }: Layer): Uint8Array =>
  planes.subarray(WORDS * table.runs, (WORDS + 1) * table.runs);

/** An object of `sectors` in so many pixels: of each the highest of its touched sectors' `values`, which stand by run, or
 * the code of their mean. */
export function laneOf(
  { table }: Layer,
  values: Uint8Array,
  sectors: number,
  pixels: number,
  summary: Summary,
): Uint8Array {
  const most = new Uint8Array(pixels);
  const sums = new Float64Array(pixels);
  const touched = new Float64Array(pixels);
  const per = sectors / pixels;
  for (let run = 0; run < table.runs; run++) {
    const value = values[run] as number;
    const first = table.first[run] as number;
    const end = first + (table.repeat[run] as number);
    const from = Math.max(0, Math.floor(first / per));
    const to = Math.min(pixels - 1, Math.max(from, Math.ceil(end / per) - 1));
    for (let x = from; x <= to; x++) {
      const part = Math.min(end, (x + 1) * per) - Math.max(first, x * per);
      touched[x] = (touched[x] as number) + part;
      sums[x] = (sums[x] as number) + value * part;
      if (value > (most[x] as number)) most[x] = value;
    }
  }
  return summary === "max" ? most : most.map((_, x) => meanCode(sums[x] ?? 0, touched[x] ?? 0));
}
