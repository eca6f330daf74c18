import type { Column, Payload } from "./payload";

/** A decoded report: the payload and the binary section that its columns point into. */
export interface Report {
  payload: Payload;
  section: ArrayBuffer;
}

const MAGIC = 0x50524c57; // "WLRP"
const HEADER_BYTES = 8;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Container: u32 "WLRP", u32 bytes of the JSON text, the text, zeros up to a multiple of 8, the binary section. */
export function unpack(container: ArrayBuffer): Report {
  const header = new DataView(container);
  if (container.byteLength < HEADER_BYTES || header.getUint32(0, true) !== MAGIC) {
    throw new Error("This file holds no warplens report.");
  }
  const length = header.getUint32(4, true);
  const end = HEADER_BYTES + length;
  if (end > container.byteLength) throw new Error("The report's data end too early.");
  const payload = JSON.parse(
    new TextDecoder().decode(new Uint8Array(container, HEADER_BYTES, length)),
  ) as Payload;
  if (payload.schema !== "warplens-report/1") {
    throw new Error(`This page cannot show data of the kind ${String(payload.schema)}.`);
  }
  const start = Math.ceil(end / 8) * 8;
  return { payload, section: container.slice(Math.min(start, container.byteLength)) };
}

export async function decode(text: string): Promise<Report> {
  return unpack(await gunzip(fromBase64(text)));
}

function checked(report: Report, [offset, count]: Column, width: number): void {
  if (offset < 0 || offset % width !== 0 || offset + count * width > report.section.byteLength) {
    throw new Error("The report's data end too early.");
  }
}

export function u32(report: Report, column: Column): Uint32Array {
  checked(report, column, 4);
  return new Uint32Array(report.section, column[0], column[1]);
}

export function f64(report: Report, column: Column): Float64Array {
  checked(report, column, 8);
  return new Float64Array(report.section, column[0], column[1]);
}

export function u16(report: Report, column: Column): Uint16Array {
  checked(report, column, 2);
  return new Uint16Array(report.section, column[0], column[1]);
}
