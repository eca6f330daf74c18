import type { HeatTable } from "./heat";
import type { Model } from "./model";
import type { HeatMap } from "./payload";
import { readMap } from "./read";
import { startWorker } from "./worker";

/** What the worker is sent and what it answers. */
export interface Question {
  part: string;
  map: HeatMap;
}
export type Answer = { table: HeatTable } | { error: string };

function inWorker(question: Question): Promise<HeatTable> {
  return new Promise((resolve, reject) => {
    const worker = startWorker();
    if (!worker) {
      readMap(question.part, question.map).then(resolve, reject);
      return;
    }
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      worker.terminate();
      if ("table" in data) resolve(data.table);
      else reject(new Error(data.error));
    };
    worker.onerror = () => {
      worker.terminate();
      readMap(question.part, question.map).then(resolve, reject);
    };
    worker.postMessage(question);
  });
}

// Tables of so many runs together are kept, some 70 bytes each: the last that were looked at.
const KEPT_RUNS = 1 << 22;
const tables = new Map<HeatMap, Promise<HeatTable>>();

function makeRoom(): void {
  let runs = [...tables.keys()].reduce((sum, map) => sum + map.rows, 0);
  for (const map of tables.keys()) {
    if (runs <= KEPT_RUNS) return;
    tables.delete(map);
    runs -= map.rows;
  }
}

/** A map's table, unpacked off the main thread when it is first asked for. */
export function loadMap(m: Model, map: HeatMap): Promise<HeatTable> {
  const table = tables.get(map) ?? inWorker({ part: m.report.parts[map.part] ?? "", map });
  tables.delete(map); // it becomes the last
  tables.set(map, table);
  makeRoom();
  return table;
}
