import type { HeatTable } from "./heat";
import type { Model } from "./model";
import type { HeatMap } from "./payload";
import { readMap } from "./read";

/** What the worker is sent and what it answers. */
export interface Question {
  part: string;
  map: HeatMap;
}
export type Answer = { table: HeatTable } | { error: string };

declare const WORKER_SOURCE: string; // worker/main.ts, put here by build.mjs

/** A worker made of the page's own text, as the file may come with nothing else; undefined where the browser forbids it. */
function startWorker(): Worker | undefined {
  try {
    const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
    return new Worker(url);
  } catch {
    return undefined;
  }
}

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

// The maps of the last objects that were looked at; a large one takes some 100 MB.
const KEPT = 8;
const tables = new Map<HeatMap, Promise<HeatTable>>();

/** A map's table, unpacked off the main thread when it is first asked for. */
export function loadMap(m: Model, map: HeatMap): Promise<HeatTable> {
  const known = tables.get(map);
  if (known) return known;
  const oldest = tables.keys().next().value;
  if (tables.size >= KEPT && oldest) tables.delete(oldest);
  const table = inWorker({ part: m.report.parts[map.part] ?? "", map });
  tables.set(map, table);
  return table;
}
