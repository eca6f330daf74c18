/** Launches that can be explored: those that the report holds, and those that the server that gave the page tells of when
 * it is asked. */
import { packedParts, unpackJson } from "../decode";
import type { Model } from "../model";
import type { Explore, Served } from "../payload";

export type Choice = Explore | Served;

export const isServed = (choice: Choice): choice is Served => !("compared" in choice);

const choices = new WeakMap<Model, Choice[]>();
const stepped = new WeakMap<Model, Choice[]>();

/** Those of the costliest kernel first. A report that was read from a file has none that a server gives. */
export function choicesOf(m: Model): Choice[] {
  const known = choices.get(m);
  if (known) return known;
  const held: Choice[] = m.payload.explore.filter((row) => row.pages || row.hashed?.columns);
  const served = m.report.place === undefined ? [] : (m.payload.served ?? []);
  const all = [...held, ...served];
  choices.set(m, all);
  return all;
}

/** Of these, those whose steps are known: they can stand beside another one. */
export function steppedOf(m: Model): Choice[] {
  const known = stepped.get(m);
  if (known) return known;
  const all = choicesOf(m).filter((c) => (isServed(c) ? !c.hashed : c.pages !== undefined));
  stepped.set(m, all);
  return all;
}

/** Of another profile's launches the one most like this one of `m`: as the kernel of the same name goes, that launch of it,
 * else the first of it; without such a kernel, the first of all. */
export function counterpart(m: Model, choice: Choice, other: Model): Choice | undefined {
  const name = (x: Model, c: Choice) => x.kernelById.get(c.kernel)?.name;
  const place = steppedOf(m)
    .filter((c) => c.kernel === choice.kernel)
    .indexOf(choice);
  const all = steppedOf(other);
  const same = all.filter((c) => name(other, c) === name(m, choice));
  return same[place] ?? same[0] ?? all[0];
}

/** A row, and the parts that it names. */
export interface Held {
  row: Explore;
  parts: string[];
}

/** Of a launch that the report holds. */
export const heldHere = (m: Model, row: Explore): Held => ({ row, parts: m.report.parts });

const AGAIN = "start it again with the same arguments, and open the address that it prints";

async function textOf(path: string): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(new URL(path, location.href));
  } catch {
    throw new Error(
      location.protocol === "file:"
        ? `This page was saved from warplens explore --serve, and does not hold the launch; ${AGAIN}.`
        : `Nothing answers at ${location.host}: warplens explore has ended, or cannot be reached. If it has ended, ${AGAIN}.`,
    );
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(`warplens explore cannot give this launch: ${text.trim()}`);
  return text;
}

async function ask(m: Model, choice: Served): Promise<Held> {
  const parts = packedParts(await textOf(`launch/${m.report.place}/${choice.launch}`));
  return { row: await unpackJson<Explore>(parts[0] ?? ""), parts };
}

const KEPT = 4; // launches that were asked for: two are shown at once

const asked = new Map<Served, Promise<Held>>();

/** What is known of a launch; asked for, where the report does not hold it. After a failure it is asked for again. */
export function heldOf(m: Model, choice: Choice): Promise<Held> {
  if (!isServed(choice)) return Promise.resolve(heldHere(m, choice));
  const held = asked.get(choice) ?? ask(m, choice);
  asked.delete(choice);
  asked.set(choice, held); // the last that was asked for
  held.catch(() => asked.delete(choice));
  for (const [old] of asked) if (asked.size > KEPT) asked.delete(old);
  return held;
}
