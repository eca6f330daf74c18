import type { Column } from "./payload";

/** Puts a column's elements together from their bytes, which lie in planes, the lowest first. */
export function joined<T extends Uint32Array | Uint16Array | Uint8Array>(
  section: Uint8Array,
  [offset, count]: Column,
  out: T,
): T {
  const width = out.BYTES_PER_ELEMENT;
  if (offset < 0 || count !== out.length || offset + count * width > section.length) {
    throw new Error("The report's data end too early.");
  }
  for (let byte = 0; byte < width; byte++) {
    const plane = section.subarray(offset + byte * count, offset + (byte + 1) * count);
    const shift = 8 * byte;
    for (let i = 0; i < count; i++) out[i] = (out[i] as number) | ((plane[i] as number) << shift);
  }
  return out;
}

/** 8 bytes an element: what a double holds of it. */
export function joined64(section: Uint8Array, [offset, count]: Column): Float64Array {
  const low = joined(section, [offset, count], new Uint32Array(count));
  const high = joined(section, [offset + 4 * count, count], new Uint32Array(count));
  return Float64Array.from(low, (v, i) => v + (high[i] as number) * 2 ** 32);
}
