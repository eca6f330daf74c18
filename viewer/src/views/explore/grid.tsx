import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { meanOf } from "../../data/explore/difference";
import { type Dim, type Layout, layoutOf, placeOf as placeAt } from "../../data/explore/tiles";
import { shown } from "../../state/theme";
import { exact, plural } from "../../widgets/format";
import { useSize } from "../../widgets/size";
import { place } from "../source";
import { EDGE, fitting, GridPainter, geometryOf, SCALES, type Scene, type Spot } from "./gridpaint";
import { blockName, curveAt, representativeName, type Side } from "./side";
import { select, show, type Where } from "./where";

/** What grids side by side share: how large a cell is, and where one looks. */
export interface Camera {
  scale: number | undefined; // index in SCALES; undefined: as large as all fits
  x: number; // pixels of the screen
  y: number;
}

interface Props {
  side: Side;
  where: Where;
  most: number;
  bundle: number;
  camera: { value: Camera };
  slot: string; // which of the grids side by side it is
  fits: { value: Record<string, Fit> }; // of all of these
  traced?: ReadonlySet<number>; // where rows are no operations: blocks of which these are known
  alike?: (spot: Spot) => (block: number) => number[]; // warps that are marked with one of these
  point: (side: Side, spot: Spot | undefined) => void;
}

const STEP = 0.8;

export function sceneOf(
  side: Side,
  most: number,
  bundle: number,
  width: number,
  height: number,
): { base: Omit<Scene, "aspect">; fit: Fit } {
  const grid = side.launch.grid as Dim;
  const warps = Math.max(1, side.looks.warps);
  const tall = Math.ceil(most / bundle) * STEP;
  const columnsFor = (tiles: number) =>
    Math.max(1, Math.ceil(Math.sqrt((tiles * (tall + 3) * (width / height)) / (warps + 1))));
  const layout: Layout = layoutOf(grid, side.data.blocks, columnsFor);
  const nameOf = (block: number) => blockName(block, grid).replace("block ", "");
  const rowName = (block: number) => {
    const [, y, z] = placeAt(block, grid);
    return grid[2] > 1 ? `${y}, ${z}` : String(y);
  };
  const axes = layout.how !== "grid" ? "block" : grid[2] > 1 ? "y, z\\x" : "y\\x";
  const { looks, curves } = side;
  const scene = { layout, looks, curves, most, bundle, nameOf, rowName, axes };
  const ratio = globalThis.devicePixelRatio || 1;
  const { scale, aspect } = fitting(
    scene,
    ratio,
    width * ratio - 2 * MARGIN,
    height * ratio - 2 * MARGIN,
  );
  return { base: scene, fit: { scale, aspect } };
}

/** How large and how high cells may be for all tiles to be in sight. */
export interface Fit {
  scale: number; // index in SCALES
  aspect: number;
}

/** What suits all grids side by side. */
const smallest = (fits: Fit[]): Fit => ({
  scale: Math.min(...fits.map((f) => f.scale)),
  aspect: Math.min(...fits.map((f) => f.aspect)),
});

/** "operations 21 to 40": they are counted from 1. */
export const bundleName = (bundle: number, size: number, ops: number): string => {
  const [from, to] = [bundle * size + 1, Math.min(ops, (bundle + 1) * size)];
  return to > from ? `operations ${exact(from)} to ${exact(to)}` : `operation ${exact(from)}`;
};

/** What a cell says, in words. */
export function spotText(side: Side, spot: Spot, bundle: number): string {
  const grid = side.launch.grid as Dim;
  const who = `${blockName(spot.block, grid)}, warp ${spot.warp}`;
  if (!side.data.firstOf.has(spot.block))
    return `${blockName(spot.block, grid)}: its warps are not in the profile`;
  const curve = curveAt(side, spot.block, spot.warp);
  if (!curve) {
    const known = side.data.indexOf(spot.block, spot.warp) !== undefined;
    if (known && side.looks.pairs[side.looks.of.get(spot.block) ?? -1]?.[spot.warp] !== -2)
      return `${who}: not compared here, since all warps together do too much that is unlike; open the block`;
    return known
      ? `${who}: the block that it is compared with has no warp of that number`
      : `${who}: not in the profile`;
  }
  const from = spot.bundle * bundle;
  if (from >= curve.ops) return `${who}: has ended, after ${plural(curve.ops, "operation")}`;
  const mean = meanOf(curve, "total", from, from + bundle);
  const pcs = side.data.pcsOf(side.data.kindOf(spot.block, spot.warp), from, bundle);
  const i = side.m.payload.instructions.find(
    (x) => x.kernel === side.row.kernel && x.line !== undefined && pcs.includes(x.pc),
  );
  const line = place(side.m, i?.file, i?.line);
  const than = `warp ${spot.warp} of ${representativeName(side)}`;
  const by =
    mean === 0 ? `as ${than}` : `differ from ${than} by ${mean.toFixed(2)} of 1 on average`;
  return `${who}, ${bundleName(spot.bundle, bundle, curve.ops)}: ${by}${line ? ` · ${line}` : ""}`;
}

const MARGIN = 4; // pixels around the tiles, for the frame of those at the edges

const clampTo = (value: number, world: number, view: number): number =>
  world <= view ? -MARGIN : Math.max(-MARGIN, Math.min(world - view + MARGIN, value));

/** One launch: a tile a block, a column a warp, a row a bundle of operations. */
export function Grid(p: Props) {
  const { side, where, most, bundle, camera } = p;
  const canvas = useRef<HTMLCanvasElement>(null);
  const hover = useSignal<Spot | undefined>(undefined);
  const size = useSize(canvas);
  const drag = useRef<{ x: number; y: number; from: Camera; moved: boolean } | undefined>(
    undefined,
  );
  const ratio = globalThis.devicePixelRatio || 1;
  const room = {
    width: Math.max(0, size.width.value - EDGE.left),
    height: Math.max(0, size.height.value - EDGE.top),
  };
  const [edgeX, edgeY] = [EDGE.left * ratio, EDGE.top * ratio];
  const { base, fit } = useMemo(
    () => sceneOf(side, most, bundle, room.width || 800, room.height || 500),
    [side, most, bundle, room.width, room.height],
  );
  const shared = smallest(Object.values({ ...p.fits.value, [p.slot]: fit }));
  const scene = useMemo(() => ({ ...base, aspect: shared.aspect }), [base, shared.aspect]);
  const [width, height] = [room.width * ratio, room.height * ratio];
  const scale = camera.value.scale ?? shared.scale;
  const painter = useMemo(
    () => new GridPainter(scene, SCALES[scale] as number, ratio),
    [scene, scale, ratio, shown.value],
  );
  const cursor =
    where.block === undefined
      ? undefined
      : {
          block: where.block,
          warp: where.warp ?? 0,
          bundle: Math.floor((where.step ?? 0) / bundle),
        };
  const pointed = hover.value ?? cursor;
  const x = clampTo(camera.value.x, painter.g.worldWidth, width);
  const y = clampTo(camera.value.y, painter.g.worldHeight, height);

  useEffect(() => {
    p.fits.value = { ...p.fits.value, [p.slot]: fit };
  }, [fit.scale, fit.aspect]);
  useEffect(
    () => () => {
      const { [p.slot]: _, ...others } = p.fits.value;
      p.fits.value = others;
    },
    [],
  );
  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    if (element.width !== width + edgeX) element.width = width + edgeX;
    if (element.height !== height + edgeY) element.height = height + edgeY;
    painter.draw(element, x - edgeX, y - edgeY, {
      cursor,
      hover: hover.value,
      rep: side.lent ? undefined : side.rep,
      traced: p.traced,
      alike: pointed && p.alike?.(pointed),
      step: where.until,
    });
    element.dataset.drawn = `${SCALES[scale]}`;
  });
  // The cursor stays in sight.
  useEffect(() => {
    const corner = cursor && painter.cornerOf(cursor.block);
    if (!corner || width === 0) return;
    const { g } = painter;
    const next = { ...camera.value, x, y };
    if (corner[0] < x) next.x = corner[0];
    if (corner[0] + g.width > x + width) next.x = corner[0] + g.width - width;
    if (corner[1] - g.label < y) next.y = corner[1] - g.label;
    if (corner[1] + g.height > y + height) next.y = corner[1] + g.height - height;
    if (next.x !== x || next.y !== y) camera.value = next;
  }, [where.block, painter]);

  const spotOf = (e: { clientX: number; clientY: number }): Spot | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const [px, py] = [
      (e.clientX - box.left) * ratio - edgeX,
      (e.clientY - box.top) * ratio - edgeY,
    ];
    return px < 0 || py < 0 ? undefined : painter.spotAt(x + px, y + py);
  };
  const zoomTo = (next: number, at?: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect();
    const wanted = Math.max(0, Math.min(SCALES.length - 1, next));
    const [px, py] =
      at && box ? [at.clientX - box.left - EDGE.left, at.clientY - box.top - EDGE.top] : [0, 0];
    const after = geometryOf(scene, SCALES[wanted] as number, ratio);
    camera.value = {
      scale: wanted,
      x: ((x + px * ratio) / painter.g.pitchX) * after.pitchX - px * ratio,
      y: ((y + py * ratio) / painter.g.pitchY) * after.pitchY - py * ratio,
    };
  };
  useEffect(() => {
    const element = canvas.current;
    const wheel = (e: WheelEvent) => {
      if (e.ctrlKey || e.metaKey) {
        e.preventDefault();
        zoomTo(scale + (e.deltaY < 0 ? 1 : -1), e);
        return;
      }
      if (painter.g.worldHeight <= height && painter.g.worldWidth <= width) return;
      e.preventDefault();
      const [dx, dy] = e.shiftKey ? [e.deltaY, 0] : [e.deltaX, e.deltaY];
      camera.value = { scale, x: x + dx * ratio, y: y + dy * ratio };
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  });

  const pointAt = (spot: Spot | undefined) => {
    hover.value = spot;
    p.point(side, spot);
  };
  const choose = (spot: Spot) =>
    select({
      level: "grid",
      launch: where.launch,
      on: side.on,
      block: spot.block,
      warp: spot.warp,
      step: spot.bundle * bundle,
    });
  const open = (spot: Spot) =>
    show({
      level: "block",
      launch: where.launch,
      on: side.on,
      block: spot.block,
      warp: spot.warp,
      step: p.traced ? undefined : spot.bundle * bundle,
    });
  const key = (e: KeyboardEvent) => {
    if (!onGridKey(e, { side, scene, painter, cursor, bundle, choose, open })) {
      if (e.key === "+" || e.key === "=") zoomTo(scale + 1);
      else if (e.key === "-") zoomTo(scale - 1);
      else if (e.key === "0") camera.value = { scale: undefined, x: 0, y: 0 };
      else return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div
      class="gridbox"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
      tabIndex={0}
      role="application"
      aria-roledescription="grid of blocks"
      aria-label={`${plural(side.data.blocks.length, "block")}: arrow keys move the selection, Enter opens the block`}
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        class="gridcanvas"
        onPointerMove={(e) => {
          const d = drag.current;
          if (d && e.buttons & 1) {
            const [dx, dy] = [(e.clientX - d.x) * ratio, (e.clientY - d.y) * ratio];
            d.moved ||= Math.abs(dx) + Math.abs(dy) > 4 * ratio;
            if (d.moved) camera.value = { scale, x: d.from.x - dx, y: d.from.y - dy };
          } else pointAt(spotOf(e));
        }}
        onPointerLeave={() => pointAt(undefined)}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          try {
            e.currentTarget.setPointerCapture(e.pointerId);
          } catch {
            // no real pointer
          }
          drag.current = { x: e.clientX, y: e.clientY, from: { scale, x, y }, moved: false };
        }}
        onPointerCancel={() => {
          drag.current = undefined;
        }}
        onPointerUp={(e) => {
          const clicked = drag.current && !drag.current.moved;
          drag.current = undefined;
          const spot = spotOf(e);
          if (clicked && spot && side.data.firstOf.has(spot.block)) open(spot);
        }}
      />
    </div>
  );
}

interface KeyContext {
  side: Side;
  scene: Scene;
  painter: GridPainter;
  cursor: Spot | undefined;
  bundle: number;
  choose: (spot: Spot) => void;
  open: (spot: Spot) => void;
}

/** The next block in that direction that has warps in the profile, or is at least there. */
function neighbour(k: KeyContext, block: number, dx: number, dy: number): number {
  const { layout } = k.scene;
  const tile = layout.tileOf(block) ?? 0;
  let [column, row] = [tile % layout.columns, Math.floor(tile / layout.columns)];
  for (;;) {
    column += dx;
    row += dy;
    if (column < 0 || row < 0 || column >= layout.columns || row >= layout.rows) return block;
    const there = layout.blockOf(row * layout.columns + column);
    if (there !== undefined && k.side.data.firstOf.has(there)) return there;
  }
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Arrows go from block to block, with shift from warp to warp and from bundle to bundle. */
function onGridKey(e: KeyboardEvent, k: KeyContext): boolean {
  const at = k.cursor ?? { block: k.side.data.blocks[0] ?? 0, warp: 0, bundle: 0 };
  const arrow = ARROWS[e.key];
  if (arrow && !k.cursor) k.choose(at);
  else if (arrow && e.shiftKey) {
    const warp = Math.max(0, Math.min(k.painter.g.warps - 1, at.warp + arrow[0]));
    const bundle = Math.max(0, Math.min(k.painter.g.bundles - 1, at.bundle + arrow[1]));
    k.choose({ ...at, warp, bundle });
  } else if (arrow) k.choose({ ...at, block: neighbour(k, at.block, arrow[0], arrow[1]) });
  else if (e.key === "Home") k.choose({ ...at, block: k.side.rep });
  else if (e.key === "Enter") k.open(at);
  else if (e.key === "r") select(k.side.on ? { rep2: at.block } : { rep: at.block });
  else return false;
  return true;
}
