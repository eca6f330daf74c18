import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Curve, meanOf } from "../../data/explore/difference";
import { type Dim, differenceCode, ENDED, UNKNOWN } from "../../data/explore/tiles";
import { shown } from "../../state/theme";
import { exact, plural } from "../../widgets/format";
import { useSize } from "../../widgets/size";
import { cssOf } from "./colors";
import { bundleName } from "./grid";
import { blockName, type Side } from "./side";
import { select, show, type Where } from "./where";

/** What the three columns of a warp tell. */
export const COLUMNS = [
  {
    key: "threads",
    short: "T",
    name: "active threads",
    of: "threads that are active in one only, of 32",
  },
  {
    key: "shared",
    short: "S",
    name: "shared memory",
    of: "bank conflicts, up to 8 passes more or fewer",
  },
  {
    key: "global",
    short: "G",
    name: "global memory",
    of: "bytes moved, up to 1,024 more or fewer",
  },
] as const;

interface Props {
  side: Side;
  where: Where;
  bundle: number;
  kinds: Int32Array; // of each warp; -1: not known
  curves: (Curve | undefined)[]; // likewise, compared with warp `than`
  than: number;
  point: (warp: number | undefined, bundle: number | undefined) => void;
}

const HEAD = 34; // pixels above the rows
const AXIS = 58; // beside them
const GAP = 12; // between warps
const LEAST = 4; // width of a cell
const MOST = 28;
const ROW = 12;
const VIEW = 560; // height of the rows

interface Shape {
  cell: number;
  row: number;
  bundles: number;
  rows: number; // in sight
}

function shapeOf(p: Props, width: number): Shape {
  const n = Math.max(1, p.curves.length);
  const cell = Math.floor(((width - AXIS) / n - GAP) / COLUMNS.length);
  const most = p.curves.reduce((m, c) => Math.max(m, c?.ops ?? 0), 1);
  const bundles = Math.ceil(most / p.bundle);
  const row = Math.max(ROW, Math.min(24, Math.floor(VIEW / bundles)));
  const rows = Math.min(bundles, Math.floor(VIEW / row));
  return { cell: Math.max(LEAST, Math.min(MOST, cell)), row, bundles, rows };
}

const leftOf = (s: Shape, warp: number): number => AXIS + warp * (COLUMNS.length * s.cell + GAP);

/** Draws what is in sight: rows from `first` on. */
function paint(c: CanvasRenderingContext2D, p: Props, s: Shape, first: number, ink: Ink): void {
  c.font = "11px system-ui, sans-serif";
  for (let i = 0; i < s.rows && first + i < s.bundles; i++) {
    const bundle = first + i;
    const y = HEAD + i * s.row;
    c.fillStyle = ink.muted;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText(exact(bundle * p.bundle + 1), AXIS - 10, y + s.row / 2);
    p.curves.forEach((_, warp) => {
      cells(c, p, s, warp, y, bundle, ink);
    });
  }
  c.textAlign = "right";
  c.fillStyle = ink.muted;
  c.fillText("operation", AXIS - 4, 24);
  p.curves.forEach((curve, warp) => {
    head(c, p, s, curve, warp, ink);
  });
  const warp = p.where.warp;
  if (warp === undefined) return;
  const bundle = Math.floor((p.where.step ?? 0) / p.bundle);
  c.strokeStyle = ink.text;
  c.lineWidth = 2;
  const y = HEAD + (bundle - first) * s.row;
  if (bundle >= first && bundle < first + s.rows)
    c.strokeRect(leftOf(s, warp) - 2, y - 1, COLUMNS.length * s.cell + 3, s.row + 1);
}

interface Ink {
  text: string;
  muted: string;
  accent: string;
}

function cells(
  c: CanvasRenderingContext2D,
  p: Props,
  s: Shape,
  warp: number,
  y: number,
  bundle: number,
  ink: Ink,
): void {
  const from = bundle * p.bundle;
  const [curve, left] = [p.curves[warp], leftOf(s, warp)];
  c.globalAlpha = from > (p.where.until ?? from) ? 0.2 : 1; // not played yet
  COLUMNS.forEach(({ key }, k) => {
    const mean = curve ? meanOf(curve, key, from, from + p.bundle) : Number.NaN;
    const code = Number.isNaN(mean) ? (curve ? ENDED : UNKNOWN) : differenceCode(mean);
    c.fillStyle = cssOf(code);
    c.fillRect(left + k * s.cell, y, s.cell - 1, s.row - 1);
  });
  if (curve && hasBarrier(p, warp, from, from + p.bundle)) {
    c.fillStyle = ink.text;
    c.fillRect(left - 3, y + s.row - 2, COLUMNS.length * s.cell + 5, 2);
  }
  c.globalAlpha = 1;
}

/** Whether an operation from..to of the warp is a barrier. */
const hasBarrier = (p: Props, warp: number, from: number, to: number): boolean =>
  p.side.data.hasBarrier(p.kinds[warp] ?? -1, from, to);

function head(
  c: CanvasRenderingContext2D,
  p: Props,
  s: Shape,
  curve: Curve | undefined,
  warp: number,
  ink: Ink,
): void {
  const left = leftOf(s, warp);
  const width = COLUMNS.length * s.cell;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillStyle = warp === p.than ? ink.accent : curve ? ink.text : ink.muted;
  c.font = `${warp === p.than ? "700 " : ""}11px system-ui, sans-serif`;
  c.fillText(width >= 40 ? `warp ${warp}` : String(warp), left + width / 2, 9, width + GAP);
  c.font = "10px system-ui, sans-serif";
  c.fillStyle = ink.muted;
  if (s.cell >= 8)
    COLUMNS.forEach(({ short }, k) => {
      c.fillText(short, left + k * s.cell + s.cell / 2, 24);
    });
  if (warp !== p.than) return;
  c.strokeStyle = ink.accent;
  c.lineWidth = 2;
  const rows = Math.min(s.rows, s.bundles);
  c.strokeRect(left - 4, HEAD - 3, width + 7, rows * s.row + 5);
}

/** What a cell says, in words. */
export function cellText(p: Props, warp: number, bundle: number): string {
  const curve = p.curves[warp];
  if (!curve) return `warp ${warp}: not in the profile`;
  const from = bundle * p.bundle;
  if (from >= curve.ops) return `warp ${warp}: has ended, after ${plural(curve.ops, "operation")}`;
  const of = COLUMNS.map(({ key, name }) => {
    const mean = meanOf(curve, key, from, from + p.bundle);
    return `${name} ${mean === 0 ? "as there" : mean.toFixed(2)}`;
  });
  const barrier = hasBarrier(p, warp, from, from + p.bundle) ? "; with a barrier" : "";
  const what = warp === p.than ? "the others are compared with it" : of.join(", ");
  return `warp ${warp}, ${bundleName(bundle, p.bundle, curve.ops)}: ${what}${barrier}`;
}

/** One block: a region a warp, in it a row a bundle and a column for each of threads, shared and global memory. */
export function Block(p: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const top = useSignal(0);
  const s = shapeOf(p, width.value || 800);
  const last = Math.max(0, s.bundles - s.rows);
  const at = Math.floor((p.where.step ?? 0) / p.bundle);
  const first = Math.min(last, Math.max(0, Math.round(top.value)));
  const all = Math.max(width.value, leftOf(s, p.curves.length));
  const height = HEAD + s.rows * s.row + 6;

  useEffect(() => {
    if (at < first) top.value = at;
    else if (at >= first + s.rows) top.value = at - s.rows + 1;
  }, [at]);
  useEffect(() => {
    const element = canvas.current;
    const c = element?.getContext("2d");
    if (!element || !c || width.value === 0) return;
    const ratio = devicePixelRatio || 1;
    element.width = all * ratio;
    element.height = height * ratio;
    c.scale(ratio, ratio);
    const style = getComputedStyle(element);
    const of = (name: string) => style.getPropertyValue(name).trim() || "#000";
    paint(c, p, s, first, { text: of("--text"), muted: of("--muted"), accent: of("--accent") });
    void shown.value;
  });
  useEffect(() => {
    const element = canvas.current;
    const wheel = (e: WheelEvent) => {
      if (last === 0 || e.ctrlKey) return;
      e.preventDefault();
      top.value = Math.min(last, Math.max(0, top.value + e.deltaY / s.row));
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  });

  const spotOf = (e: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const [x, y] = [e.clientX - box.left, e.clientY - box.top];
    const warp = Math.floor((x - AXIS) / (COLUMNS.length * s.cell + GAP));
    const bundle = first + Math.max(0, Math.floor((y - HEAD) / s.row));
    const inside = warp >= 0 && warp < p.curves.length && bundle < s.bundles && x >= AXIS;
    return inside ? { warp, bundle } : undefined;
  };
  const choose = (warp: number, bundle: number) =>
    select({
      level: "block",
      warp: Math.max(0, Math.min(p.curves.length - 1, warp)),
      step: Math.max(0, Math.min(s.bundles - 1, bundle)) * p.bundle,
    });
  const key = (e: KeyboardEvent) => {
    const [warp, bundle] = [p.where.warp ?? 0, at];
    if (e.key === "ArrowLeft") choose(warp - 1, bundle);
    else if (e.key === "ArrowRight") choose(warp + 1, bundle);
    else if (e.key === "ArrowUp") choose(warp, bundle - 1);
    else if (e.key === "ArrowDown") choose(warp, bundle + 1);
    else if (e.key === "PageUp") choose(warp, bundle - s.rows);
    else if (e.key === "PageDown") choose(warp, bundle + s.rows);
    else if (e.key === "r") select({ than: warp });
    else if (e.key === "Enter") show({ level: "warp", warp, step: p.where.step ?? 0 });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const grid = p.side.launch.grid as Dim;
  return (
    <div
      ref={box}
      class="blockbox"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
      tabIndex={0}
      role="application"
      aria-roledescription="warps of a block"
      aria-label={`${blockName(p.where.block ?? 0, grid)}, ${plural(p.curves.length, "warp")}: arrow keys move the selection, Enter opens the warp`}
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        class="blockcanvas"
        style={{ width: `${all}px`, height: `${height}px` }}
        onPointerMove={(e) => {
          const spot = spotOf(e);
          p.point(spot?.warp, spot?.bundle);
        }}
        onPointerLeave={() => p.point(undefined, undefined)}
        onClick={(e) => {
          const spot = spotOf(e);
          if (spot && p.curves[spot.warp])
            show({ level: "warp", warp: spot.warp, step: spot.bundle * p.bundle });
        }}
      />
    </div>
  );
}
