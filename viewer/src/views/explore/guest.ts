import { signal } from "@preact/signals";
import { decode } from "../../data/decode";
import { buildModel, type Model } from "../../data/model";
import type { Explore } from "../../data/payload";

/** Another report, of which a launch stands beside one of this report. It is read from a file, and forgotten with the page. */
export interface Guest {
  name: string; // of the file
  m: Model;
  row: Explore;
}

export const guest = signal<Guest | undefined>(undefined);
export const guestError = signal("");

const PAYLOAD = /id="payload">([^<]*)</;

async function readGuest(file: File): Promise<Guest> {
  const text = PAYLOAD.exec(await file.text())?.[1];
  if (text === undefined) throw new Error(`${file.name} is no report of warplens.`);
  const m = buildModel(await decode(text));
  const row = m.payload.explore.find((r) => r.pages);
  if (!row) throw new Error(`${file.name} does not hold what warps did.`);
  return { name: file.name, m, row };
}

/** Reads the report and shows its first launch. */
export async function invite(file: File): Promise<void> {
  try {
    guest.value = await readGuest(file);
    guestError.value = "";
  } catch (error) {
    guestError.value = error instanceof Error ? error.message : String(error);
  }
}
