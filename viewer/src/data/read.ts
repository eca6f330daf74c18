import { unpack } from "./decode";
import { type HeatTable, heatTable } from "./heat";
import type { HeatMap } from "./payload";

/** A map's table from its packed part. */
export const readMap = async (part: string, map: HeatMap): Promise<HeatTable> =>
  heatTable(await unpack(part), map);
