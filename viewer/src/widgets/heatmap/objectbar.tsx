import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Layer } from "../../data/grid";
import { hottestWords, laneOf, wholeSectors } from "../../data/lanes";
import { REGIONS, type Region, regionsOf } from "../../data/regions";
import type { Summary } from "../../data/summary";
import { shown } from "../../state/theme";
import { exact } from "../format";
import { inkOf, type Mode, meanPalette, palette, REGION_COLORS } from "./palette";
import type { Sight } from "./sight";

const LANE = 12;
const GAP = 1;
const MARK = 4;

/** Pixels of a block's lanes, and the room to the next one's. */
const blockHeight = (p: Props): number => (p.patterns ? 3 : 2) * (LANE + GAP) + MARK;

const STRETCHES = 1024; // that are told apart in an object

interface Props {
  sight: Sight;
  mode: Mode;
  summary: Summary;
  warps: number;
  sectors: number; // of the whole object
  patterns: boolean; // whether patterns of device memory have a meaning there
}

const LANES: { name: string; help: string }[] = [
  { name: "pattern", help: "What each part of the object looks like" },
  { name: "sector", help: "Of each part's sectors: who touched any of their words" },
  { name: "word", help: "Of each part's sectors: who touched the hottest of their words" },
];

const REGION_TEXT: Partial<Record<Region, { name: string; help: string }>> = {
  hot: { name: "hot", help: "Half of the block's warps or more use the same words" },
  "false-sharing": {
    name: "false sharing",
    help: "Several warps use different words of the same sectors",
  },
  strided: { name: "strided", help: "Half of the words of each sector or fewer are used" },
  random: { name: "random", help: "No two sectors are used alike, or at no constant distance" },
  none: { name: "whole sectors", help: "More than half of each sector is used, by few warps" },
};

/** Which colour is which pattern, of those that are there. */
function RegionLegend({ regions }: { regions: Uint8Array[] }) {
  const there = new Set(regions.flatMap((r) => [...r]).map((number) => REGIONS[number]));
  return (
    <div class="legend regions">
      <span class="muted">pattern</span>
      {REGIONS.map((region) => {
        const text = REGION_TEXT[region];
        if (!text || !there.has(region)) return null;
        return (
          <span key={region} class="region" title={text.help}>
            <span class="swatch" style={{ background: REGION_COLORS[region] }} /> {text.name}
          </span>
        );
      })}
    </div>
  );
}

/** The lanes of the blocks, drawn over the width. */
function drawLanes(p: Props, regions: Uint8Array[], element: Element, width: number) {
  const { layers } = p.sight.grid;
  const image = new OffscreenCanvas(width, layers.length * blockHeight(p));
  const c = image.getContext("2d");
  const ink = inkOf(element);
  const colors = p.summary === "mean" ? meanPalette(p.warps, ink) : palette(p.mode, p.warps, ink);
  const patterns = REGIONS.map((region) => REGION_COLORS[region] ?? ink.empty);
  const draw = (values: ArrayLike<number>, of: string[], y: number) => {
    for (let x = 0; c && x < width; x++) {
      c.fillStyle = of[values[x] as number] ?? "";
      c.fillRect(x, y, 1, LANE);
    }
  };
  layers.forEach((layer: Layer, l) => {
    const stretched = Array.from(
      { length: width },
      (_, x) => regions[l]?.[Math.floor((x * STRETCHES) / width)] ?? 0,
    );
    const lane = (values: Uint8Array) => laneOf(layer, values, p.sectors, width, p.summary);
    const top = l * blockHeight(p);
    const next = p.patterns ? top + LANE + GAP : top;
    if (p.patterns) draw(stretched, patterns, top);
    draw(lane(wholeSectors(layer)), colors, next);
    draw(lane(hottestWords(layer)), colors, next + LANE + GAP);
  });
  return image;
}

/** Keeps the picture as it should be: the lanes, and the window of what is in sight on them. */
function usePainting(canvas: { current: HTMLCanvasElement | null }, p: Props, all: Uint8Array[]) {
  const height = p.sight.grid.layers.length * blockHeight(p);
  useEffect(() => {
    let lanes: { key: string; image: OffscreenCanvas } | undefined;
    const paint = () => {
      const element = canvas.current;
      const c = element?.getContext("2d");
      const { from, to } = p.sight.sectors.value;
      const key = `${element?.clientWidth} ${shown.value}`;
      if (!element || !c || element.clientWidth === 0) return;
      const width = element.clientWidth;
      if (lanes?.key !== key) lanes = { key, image: drawLanes(p, all, element, width) };
      const scale = devicePixelRatio || 1;
      element.width = width * scale;
      element.height = (height + MARK) * scale;
      c.scale(scale, scale);
      c.drawImage(lanes.image, 0, MARK);
      c.strokeStyle = inkOf(element).text;
      c.lineWidth = 2;
      const x = (from / p.sectors) * width;
      c.strokeRect(x, 1, Math.max(4, ((to - from) / p.sectors) * width), height - 2 + GAP);
    };
    const stop = effect(paint);
    addEventListener("resize", paint);
    return () => {
      stop();
      removeEventListener("resize", paint);
    };
  }, [p.sight, p.mode, p.summary, all]);
  return height + MARK;
}

/** The whole object from its first byte to its last, for each block what it looks like; drag or click to go there. */
export function ObjectBar(p: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { layers } = p.sight.grid;
  const tables = layers.map((layer) => layer.table);
  const regions = useMemo(
    () => tables.map((table) => regionsOf(table, p.warps, p.sectors, STRETCHES)),
    [...tables, p.sectors],
  );
  const height = usePainting(canvas, p, regions);
  const goTo = (e: PointerEvent) => {
    const rect = canvas.current?.getBoundingClientRect();
    if (rect && rect.width > 0) {
      const share = Math.min(1, Math.max(0, (e.clientX - rect.left) / rect.width));
      p.sight.center(Math.floor(share * (p.sectors - 1)));
    }
  };
  return (
    <>
      <div class="barbox">
        <div class="barnames">
          {layers.map((_, l) => (
            <div key={l} style={{ height: `${blockHeight(p)}px`, lineHeight: `${LANE + GAP}px` }}>
              {(p.patterns ? LANES : LANES.slice(1)).map((lane) => (
                <span key={lane.name} title={lane.help}>
                  {lane.name}
                </span>
              ))}
            </div>
          ))}
        </div>
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
      </div>
      {p.patterns && <RegionLegend regions={regions} />}
    </>
  );
}
