import { ALONE, DIFFERENCES, ENDED, UNKNOWN } from "../../data/explore/tiles";
import { shown } from "../../state/theme";
import { cssOf } from "./colors";

const STEPS = 24;

function Swatch({ code, text, help }: { code: number; text: string; help?: string }) {
  return (
    <span class="key" title={help}>
      <span class="swatch" style={{ background: cssOf(code) }} /> {text}
    </span>
  );
}

/** The colours of differences. */
export function Scale() {
  const width = 100 / STEPS;
  return (
    <svg
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label="Scale of differences from 0 to 1"
    >
      {Array.from({ length: STEPS }, (_, i) => (
        <rect
          key={i}
          x={i * width}
          y={0}
          width={width + 0.2}
          height={8}
          fill={cssOf(Math.round((i / (STEPS - 1)) * (DIFFERENCES - 1)))}
        />
      ))}
    </svg>
  );
}

interface Props {
  level: "grid" | "block";
  columns: readonly { short: string; name: string; of: string }[];
}

/** What the colours and places mean. */
export function Legend({ level, columns }: Props) {
  void shown.value; // colours follow the theme
  return (
    <div class="explorelegend">
      <p>
        {level === "grid"
          ? "Each tile is a thread block. In it a column is a warp, and time goes down: a row is a bundle of consecutive operations."
          : "Each region is a warp. Time goes down: a row is a bundle of consecutive operations. "}
        {level === "block" &&
          columns.map(({ short, name, of }, i) => (
            <span key={short} title={of}>
              {i > 0 && ", "}
              <b>{short}</b> {name}
            </span>
          ))}
        {level === "block" && "."}
      </p>
      <p class="scale">
        <span>as the representative</span>
        <Scale />
        <span>quite different</span>
        <Swatch code={ENDED} text="has ended" />
        <Swatch code={UNKNOWN} text="not in the profile" />
        {level === "grid" && (
          <Swatch
            code={ALONE}
            text="not compared"
            help="The representative block has no warp of that number, or the warps do too much that is unlike to compare all at once"
          />
        )}
        {level === "block" && (
          <span class="key">
            <span class="barriermark" /> barrier
          </span>
        )}
      </p>
      <details>
        <summary>How the difference is worked out</summary>
        <p>
          Operations of two warps are lined up by what they execute. For each: 1 where only one of
          them executes it, + threads that are active in one of them only / 32, + bytes that one
          moves beyond the other / 1,024, + passes of bank conflicts beyond the other's / 8; at most
          1. A cell is the mean of its operations. It says that warps differ, not which one is
          better.
        </p>
      </details>
    </div>
  );
}
