import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Grid } from "../../data/grid";
import { WORDS } from "../../data/heat";
import { shown } from "../../state/theme";
import { exact } from "../format";
import { inkOf, type Mode, palette } from "./palette";
import type { Sight } from "./sight";

const LANE = 12;
const MARK = 4;

interface Props {
  sight: Sight;
  mode: Mode;
  warps: number;
  sectors: number; // of the whole object
}

/** The hottest value of each pixel's sectors. */
function lane(p: Props, layer: number, pixels: number): Uint8Array {
  const { table, planes } = p.sight.grid.layers[layer] as Grid["layers"][number];
  const out = new Uint8Array(pixels);
  const scale = pixels / p.sectors;
  for (let run = 0; run < table.runs; run++) {
    const value = planes[WORDS * table.runs + run] as number;
    const first = table.first[run] as number;
    const from = Math.max(0, Math.floor(first * scale));
    const end = Math.ceil((first + (table.repeat[run] as number)) * scale);
    const to = Math.min(pixels - 1, Math.max(from, end - 1));
    for (let x = from; x <= to; x++) if (value > (out[x] as number)) out[x] = value;
  }
  return out;
}

/** The whole object from its first byte to its last, a lane a block; drag or click to go there. */
export function ObjectBar(p: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = p.sight.grid.layers.length * (LANE + 2) + 2 * MARK;
  const picture = useRef<{ key: string; image: OffscreenCanvas } | undefined>(undefined);

  const background = (width: number): OffscreenCanvas => {
    const key = `${width} ${shown.value} ${p.mode}`;
    if (picture.current?.key === key) return picture.current.image;
    const image = new OffscreenCanvas(width, height);
    const c = image.getContext("2d");
    const colors = canvas.current ? palette(p.mode, p.warps, inkOf(canvas.current)) : [];
    p.sight.grid.layers.forEach((_, l) => {
      lane(p, l, width).forEach((value, x) => {
        if (!c) return;
        c.fillStyle = colors[value] ?? "";
        c.fillRect(x, MARK + l * (LANE + 2), 1, LANE);
      });
    });
    picture.current = { key, image };
    return image;
  };
  const paint = () => {
    const element = canvas.current;
    const c = element?.getContext("2d");
    if (!element || !c || element.clientWidth === 0) return;
    const scale = devicePixelRatio || 1;
    const width = element.clientWidth;
    element.width = width * scale;
    element.height = height * scale;
    c.scale(scale, scale);
    c.drawImage(background(width), 0, 0);
    const { from, to } = p.sight.sectors.value;
    const x = (from / p.sectors) * width;
    c.strokeStyle = inkOf(element).text;
    c.lineWidth = 2;
    c.strokeRect(x, 1, Math.max(4, ((to - from) / p.sectors) * width), height - 2);
  };
  useEffect(() => {
    picture.current = undefined;
    addEventListener("resize", paint);
    const stop = effect(() => {
      void [p.sight.sectors.value, shown.value];
      paint();
    });
    return () => {
      stop();
      removeEventListener("resize", paint);
    };
  }, [p.sight, p.mode]);
  const goTo = (e: PointerEvent) => {
    const rect = canvas.current?.getBoundingClientRect();
    if (rect && rect.width > 0) {
      const share = Math.min(1, Math.max(0, (e.clientX - rect.left) / rect.width));
      p.sight.center(Math.floor(share * (p.sectors - 1)));
    }
  };
  return (
    <canvas
      ref={canvas}
      class="objectbar"
      role="img"
      aria-label={`The whole object, ${exact(p.sectors)} sectors; drag to go elsewhere`}
      style={{ height: `${height}px` }}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        goTo(e);
      }}
      onPointerMove={(e) => {
        if (e.buttons & 1) goTo(e);
      }}
    />
  );
}
