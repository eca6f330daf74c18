// Screenshots as PNGs of 256 colours: a third of the size, and no eye sees it.
import { deflateSync } from "node:zlib";

/** In a browser: the picture's commonest colours, and for each pixel the nearest of them. */
async function palettize(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const colorAt = (p) => (data[4 * p] << 16) | (data[4 * p + 1] << 8) | data[4 * p + 2];
  const counts = new Map();
  for (let p = 0; p < width * height; p++)
    counts.set(colorAt(p), (counts.get(colorAt(p)) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([color]) => color);
  const distance = (a, b) =>
    ((a >> 16) - (b >> 16)) ** 2 +
    (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
    ((a & 255) - (b & 255)) ** 2;
  const nearest = new Map();
  for (const color of counts.keys()) {
    let best = 0;
    palette.forEach((c, i) => {
      if (distance(c, color) < distance(palette[best], color)) best = i;
    });
    nearest.set(color, best);
  }
  let pixels = "";
  for (let p = 0; p < width * height; p++) pixels += String.fromCharCode(nearest.get(colorAt(p)));
  return { width, height, palette, pixels: btoa(pixels) };
}

const CRC = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
  return out;
}

/** A screenshot of the page, as the bytes of a small PNG. `blank` is a page that may run scripts. */
export async function smallScreenshot(page, blank) {
  const shot = await page.screenshot();
  const { width, height, palette, pixels } = await blank.evaluate(
    palettize,
    shot.toString("base64"),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8); // 8 bits, indexed
  const colors = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  const rows = Buffer.from(pixels, "base64");
  const lines = Buffer.alloc((width + 1) * height); // a byte 0 before each line: no filter
  for (let y = 0; y < height; y++) {
    rows.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("PLTE", colors),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
