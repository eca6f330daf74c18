import type { Payload } from "./payload";

/** A decoded report: the payload, and the parts that hold its heat maps, still packed. */
export interface Report {
  payload: Payload;
  parts: string[]; // base64 of gzip; number 0 is the payload's own
  place: number | undefined; // among the page's reports, by which a server knows it; undefined: it came with another page
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The bytes of a part. */
export async function unpack(part: string): Promise<ArrayBuffer> {
  const stream = new Blob([fromBase64(part)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** A text's parts, which have points between them. */
export const packedParts = (text: string): string[] => text.trim().split(".");

export const unpackJson = async <T>(part: string): Promise<T> =>
  JSON.parse(new TextDecoder().decode(await unpack(part))) as T;

/** The texts of the page's reports: there are several where profiles are explored side by side. */
export const reportTexts = (text: string): string[] => text.split(":");

/** Reads a report's text. Only the first part is unpacked, which holds all but the maps. */
export async function decode(text: string, place?: number): Promise<Report> {
  const parts = packedParts(text);
  const payload = await unpackJson<Payload>(parts[0] ?? "");
  if (payload?.schema !== "warplens-report/1") {
    throw new Error(`This page cannot show data of the kind ${String(payload?.schema)}.`);
  }
  return { payload, parts, place };
}
