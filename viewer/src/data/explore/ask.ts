/** What the worker of a launch is asked, and what it answers; one worker a launch. */
import type { Costs } from "./cost";
import type { Curve } from "./difference";
import { Engine, type Pair, type Source } from "./engine";
import type { Opened } from "./table";

export type Ask =
  | { open: Source }
  | { costs: number[]; arch: string } // kinds
  | { curves: Pair[]; arch: string; than?: Costs[] }; // than: by Pair.than

export type Reply = { opened: Opened } | { costs: Costs[] } | { curves: Curve[] };

export interface Numbered<T> {
  id: number;
  explore: T;
}

let engine: Promise<Engine> | undefined;

/** Answers in the worker. */
export async function answer(ask: Ask): Promise<Reply> {
  if ("open" in ask) {
    engine = Engine.open(ask.open);
    return { opened: (await engine).opened };
  }
  return reply(await (engine ?? Promise.reject(new Error("No launch is open."))), ask);
}

/** Answers in the page, where there is no worker. */
export async function reply(of: Engine, ask: Exclude<Ask, { open: Source }>): Promise<Reply> {
  if ("costs" in ask) {
    const costs: Costs[] = [];
    for (const kind of ask.costs) costs.push(await of.costsOf(kind, ask.arch));
    return { costs };
  }
  const curves: Curve[] = [];
  for (const pair of ask.curves) curves.push(await of.curve(pair, ask.arch, ask.than?.[pair.than]));
  return { curves };
}
