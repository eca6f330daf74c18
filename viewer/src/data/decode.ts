import type { Payload } from "./payload";

/** A decoded report: the payload, and the parts that hold its heat maps, still packed. */
export interface Report {
  payload: Payload;
  parts: string[]; // base64 of gzip; number 0 is the payload's own
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

/** Reads the element's text: parts with points between them. Only the first is unpacked, which holds all but the maps. */
export async function decode(text: string): Promise<Report> {
  const parts = text.trim().split(".");
  const bytes = await unpack(parts[0] ?? "");
  const payload = JSON.parse(new TextDecoder().decode(bytes)) as Payload;
  if (payload?.schema !== "warplens-report/1") {
    throw new Error(`This page cannot show data of the kind ${String(payload?.schema)}.`);
  }
  return { payload, parts };
}
