import type { Strip } from "../data/payload";
import { bytes, count, exact, percent, ratio } from "./format";

const WIDTH = 720;
const HEIGHT = 56;
const BASE = HEIGHT - 14; // the bars stand on it
const WORD_BYTES = 4;

/** Accesses of an element that was touched, on average over a bin. */
const heat = (s: Strip, i: number): number => {
  const touched = s.touched[i] ?? 0;
  return touched > 0 ? (s.accesses?.[i] ?? touched) / touched : 0;
};

/** Bins side by side that look alike. */
interface Piece {
  from: number; // elements
  to: number;
  touched: number;
  heat: number;
}

function piecesOf(s: Strip, elements: number): Piece[] {
  const pieces: Piece[] = [];
  s.touched.forEach((touched, i) => {
    const from = i * s.width;
    const to = Math.min(elements, from + s.width);
    const last = pieces[pieces.length - 1];
    const kind = (n: number, whole: number) => (n === 0 ? 0 : n < whole ? 1 : 2);
    const same =
      last &&
      last.heat === heat(s, i) &&
      kind(last.touched, last.to - last.from) === kind(touched, to - from);
    if (!same) pieces.push({ from, to, touched, heat: heat(s, i) });
    else {
      last.to = to;
      last.touched += touched;
    }
  });
  return pieces;
}

function pieceWords({ from, to, touched, heat }: Piece): string {
  const where = `bytes ${exact(from * WORD_BYTES)} to ${exact(to * WORD_BYTES - 1)}`;
  if (touched === 0) return `${where}: not accessed`;
  const part = touched < to - from ? ` of those accessed, ${percent(touched / (to - from))}` : "";
  return `${where}: ${heat < 10 ? ratio(heat) : count(heat)} accesses of an element${part}`;
}

function Bars({ s, elements, x }: { s: Strip; elements: number; x: (element: number) => number }) {
  const pieces = piecesOf(s, elements);
  const most = Math.max(1, ...pieces.map((p) => p.heat));
  return (
    <>
      <rect class="idle" x={0} y={0} width={WIDTH} height={BASE} />
      {pieces.map((p) => {
        const high = p.touched > 0 ? Math.max(2, (p.heat / most) * BASE) : 0;
        const at = { x: x(p.from), width: x(p.to) - x(p.from) };
        return (
          <g key={p.from}>
            <title>{pieceWords(p)}</title>
            <rect class="ground" y={0} height={BASE} {...at} />
            <rect
              class={p.touched < p.to - p.from ? "accessed partly" : "accessed"}
              y={BASE - high}
              height={high}
              {...at}
            />
          </g>
        );
      })}
    </>
  );
}

/** Whether the range tells anything: it is no more than where most elements are. */
const stands = (s: Strip, elements: number): boolean =>
  s.frequency !== undefined &&
  s.frequency.hot_bytes > 0 &&
  s.frequency.hot_share > (1.2 * s.frequency.hot_bytes) / (elements * WORD_BYTES);

function HotRange({ s, x }: { s: Strip; x: (element: number) => number }) {
  if (!s.frequency) return null;
  const from = x(s.frequency.hot_offset / WORD_BYTES);
  const to = x((s.frequency.hot_offset + s.frequency.hot_bytes) / WORD_BYTES);
  return (
    <path
      class="hotrange"
      d={`M${from} ${BASE + 3}v6H${Math.max(to, from + 2)}v-6`}
      fill="none"
      vector-effect="non-scaling-stroke"
    />
  );
}

function Words({ s, elements }: { s: Strip; elements: number }) {
  const touched = s.touched.reduce((sum, n) => sum + n, 0);
  const { frequency: f } = s;
  return (
    <figcaption>
      {touched < elements && (
        <>
          {percent(1 - touched / elements)} ({bytes((elements - touched) * WORD_BYTES)}) are not
          accessed.{" "}
        </>
      )}
      {f && stands(s, elements) && (
        <>
          <span class="swatch hot" /> Bytes {exact(f.hot_offset)} to{" "}
          {exact(f.hot_offset + f.hot_bytes - 1)} ({bytes(f.hot_bytes)}) have{" "}
          <b>{percent(f.hot_share)}</b> of the accesses.{" "}
        </>
      )}
      {f ? `At most ${exact(f.most)} accesses of an element.` : "How often is not known."}
    </figcaption>
  );
}

/** An object from its first byte to its last: how often elements are accessed, and the range that is accessed most. */
export function StripPicture({ strip, elements }: { strip: Strip; elements: number }) {
  const x = (element: number) => (element / Math.max(1, elements)) * WIDTH;
  return (
    <figure class="strip">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="accesses along the object"
      >
        <Bars s={strip} elements={elements} x={x} />
        {stands(strip, elements) && <HotRange s={strip} x={x} />}
      </svg>
      <p class="ends muted small num">
        <span>0</span>
        <span>{bytes(elements * WORD_BYTES)}</span>
      </p>
      <Words s={strip} elements={elements} />
    </figure>
  );
}
