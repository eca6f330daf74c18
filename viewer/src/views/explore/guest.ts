import { signal } from "@preact/signals";
import { decode, reportTexts } from "../../data/decode";
import { steppedOf } from "../../data/explore/served";
import { buildModel, type Model } from "../../data/model";

/** Another profile, whose launches can stand beside those of this one: it came with the page, or was read from a report's
 * file and is forgotten with the page. */
export interface Guest {
  m: Model;
  came: boolean; // with the page
}

export const guest = signal<Guest | undefined>(undefined);
export const guestError = signal("");

const PAYLOAD = /id="payload">([^<]*)</;

/** The second profile of the page takes its place. */
export async function seat(text: string): Promise<void> {
  const report = await decode(text, 1);
  guest.value = {
    m: buildModel(report, report.payload.profile ?? "the other profile"),
    came: true,
  };
}

async function readGuest(file: File): Promise<Guest> {
  const text = PAYLOAD.exec(await file.text())?.[1];
  if (text === undefined) throw new Error(`${file.name} is no report of warplens.`);
  const m = buildModel(await decode(reportTexts(text)[0] ?? ""), file.name);
  if (steppedOf(m).length === 0) throw new Error(`${file.name} does not hold what warps did.`);
  return { m, came: false };
}

/** Reads the report; whether that went well. */
export async function invite(file: File): Promise<boolean> {
  try {
    guest.value = await readGuest(file);
    guestError.value = "";
    return true;
  } catch (error) {
    guestError.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}
