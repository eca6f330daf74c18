declare const WORKER_SOURCE: string; // worker/main.ts, put here by build.mjs

/** A worker made of the page's own text, as the file may come with nothing else; undefined where the browser forbids it. */
export function startWorker(): Worker | undefined {
  try {
    const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
    return new Worker(url);
  } catch {
    return undefined;
  }
}
