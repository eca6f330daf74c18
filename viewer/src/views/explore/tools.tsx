import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ARCHS } from "../../data/explore/archs";
import type { Dim } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import type { Explore } from "../../data/payload";
import { exact, middle, plural, shapeOf } from "../../widgets/format";
import { guest, guestError, invite } from "./guest";
import { blockName, comparedWarp, curveAt, type Side } from "./side";
import { select, show, type Where } from "./where";

interface Props {
  m: Model;
  side: Side;
  where: Where;
  bundle: number;
  arch: string;
  rows: Explore[];
}

const nameOf = (m: Model, row: Explore): string =>
  `${middle(m.kernelById.get(row.kernel)?.short_name ?? "kernel", 36)}, launch ${row.launch}`;

/** What the page does not show, and how to see it. */
function leftOut(m: Model): string {
  const n = m.payload.explore.filter((row) => row.left_out !== undefined).length;
  const many = plural(n, "other launch", "other launches");
  return n > 0 ? `; ${many} found no room here: warplens explore -k KERNEL leaves more of it` : "";
}

/** Of how many launches of the kernel nothing can be shown, and why. */
export function OtherLaunches({ m, row }: { m: Model; row: Explore }) {
  const shown = m.payload.explore.filter((r) => r.kernel === row.kernel).length;
  const unknown = row.launches - row.launches_known;
  if (row.launches <= shown) return null;
  return (
    <p class="muted otherlaunches">
      This kernel was launched {exact(row.launches)} times; {plural(shown, "launch", "launches")}{" "}
      can be explored here.{" "}
      {unknown > 0 && (
        <>
          Of {exact(unknown)} it is not known what their warps did: only of the first launches of a
          kernel and shape, and of every one whose number is a power of two, it is kept.{" "}
          <code>--heat-launches 0</code> keeps it of all
          {m.payload.program.collector === "inline" && (
            <>
              , where data decides with <code>--probe-launches 0</code>
            </>
          )}
          .
        </>
      )}
    </p>
  );
}

export function LaunchChoice({ m, rows, side }: Pick<Props, "m" | "rows" | "side">) {
  if (rows.length < 2)
    return <b class="mono">{middle(m.kernelById.get(side.row.kernel)?.short_name ?? "", 40)}</b>;
  return (
    <label>
      Launch{" "}
      <select
        value={side.row.launch}
        onChange={(e) => {
          const none = { block: undefined, warp: undefined, step: undefined, rep: undefined };
          const launch = Number(e.currentTarget.value);
          show({ ...none, than: undefined, level: "grid", launch, beside: undefined });
        }}
      >
        {rows.map((row) => (
          <option key={row.launch} value={row.launch}>
            {nameOf(m, row)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A launch of another report, by its file; all of that report's launches can be chosen then. */
function GuestChoice() {
  const at = guest.value;
  return (
    <>
      <label class="file" title="An HTML file that warplens wrote, of another profile">
        {at ? `of ${at.name}` : "or of another report:"}{" "}
        <input
          type="file"
          accept=".html"
          onChange={(e) => {
            const file = e.currentTarget.files?.[0];
            if (file) void invite(file);
          }}
        />
      </label>
      {at && (
        <button
          type="button"
          onClick={() => {
            guest.value = undefined;
          }}
        >
          Put it away
        </button>
      )}
      {guestError.value && <span class="warntext">{guestError.value}</span>}
    </>
  );
}

/** What stands beside the launch, on the same scale. */
function BesideChoice({ m, rows, where, side }: Props) {
  const at = guest.value;
  const choices = at
    ? at.m.payload.explore.filter((r) => r.pages)
    : rows.filter((r) => r !== side.row && r.pages);
  const choose = (launch: number) => {
    const row = choices.find((r) => r.launch === launch);
    if (at && row) guest.value = { ...at, row };
    else select({ beside: Number.isFinite(launch) ? launch : undefined });
  };
  return (
    <div class="exploretools">
      <label>
        Beside it{" "}
        <select
          value={at ? at.row.launch : (where.beside ?? "")}
          disabled={choices.length === 0}
          onChange={(e) => choose(Number.parseInt(e.currentTarget.value, 10))}
        >
          {!at && <option value="">nothing</option>}
          {choices.map((row) => (
            <option key={row.launch} value={row.launch}>
              {nameOf(at?.m ?? m, row)}
            </option>
          ))}
        </select>
      </label>
      <GuestChoice />
    </div>
  );
}

/** Sizes of bundles that the buttons go through. */
function nextBundle(bundle: number, up: boolean): number {
  const steps = [1, 2, 5];
  const power = 10 ** Math.floor(Math.log10(bundle));
  const all = [power / 10, power, power * 10].flatMap((p) => steps.map((s) => s * p));
  const wanted = all.filter((n) => n >= 1 && (up ? n > bundle : n < bundle));
  return (up ? wanted[0] : wanted[wanted.length - 1]) ?? bundle;
}

function BundleChoice({ bundle }: { bundle: number }) {
  return (
    <span class="bundle" title="How many consecutive operations a row stands for">
      Row:{" "}
      <button
        type="button"
        aria-label="Fewer operations a row"
        disabled={bundle <= 1}
        onClick={() => select({ bundle: nextBundle(bundle, false) })}
      >
        −
      </button>{" "}
      <span class="num">{plural(bundle, "operation")}</span>{" "}
      <button
        type="button"
        aria-label="More operations a row"
        onClick={() => select({ bundle: nextBundle(bundle, true) })}
      >
        +
      </button>
    </span>
  );
}

/** Which block the others are compared with, and who chose it. */
function RepChoice({ side, where }: { side: Side; where: Where }) {
  const grid = side.launch.grid as Dim;
  const at = where.block;
  return (
    <span class="rep">
      Compared with <b class="repname">{blockName(side.rep, grid)}</b>
      <span class="muted">{side.chosen ? " (your choice)" : " (the most common)"}</span>{" "}
      {at !== undefined && at !== side.rep && (
        <button type="button" title="r" onClick={() => select({ rep: at })}>
          Compare with {blockName(at, grid)}
        </button>
      )}
      {side.chosen && (
        <button type="button" onClick={() => select({ rep: undefined })}>
          Choose by itself
        </button>
      )}
    </span>
  );
}

/** Likewise of the warps of a block. */
function WarpChoice({ side, where }: { side: Side; where: Where }) {
  const than = comparedWarp(side, where);
  return (
    <span class="rep">
      Compared with <b class="repname">warp {than}</b>
      <span class="muted">
        {than === where.than ? " (your choice)" : " (the most common of the block)"}
      </span>{" "}
      {where.warp !== than && where.warp !== undefined && (
        <button type="button" title="r" onClick={() => select({ than: where.warp })}>
          Compare with warp {where.warp}
        </button>
      )}
      {where.than !== undefined && (
        <button type="button" onClick={() => select({ than: undefined })}>
          Choose by itself
        </button>
      )}
    </span>
  );
}

export function Tools(p: Props) {
  const { side, where, bundle, arch } = p;
  const few = where.level === "grid" || where.level === "block";
  return (
    <>
      <div class="exploretools">
        <LaunchChoice {...p} />
        <span class="muted">
          {shapeOf(side.launch.grid, side.launch.block)}; {plural(side.row.warps, "warp")} of{" "}
          {plural(side.data.blocks.length, "block")} known
          {side.row.compared.dropped ? `; ${exact(side.row.compared.dropped)} found no room` : ""}
          {leftOut(p.m)}
          {side.row.paths ? "" : "; of some basic blocks only the accesses are known"}
        </span>
      </div>
      {where.level === "grid" && <BesideChoice {...p} />}
      <div class="exploretools">
        {few && <BundleChoice bundle={bundle} />}
        {where.level === "grid" && <RepChoice side={side} where={where} />}
        {where.level === "block" && <WarpChoice side={side} where={where} />}
        <label title="What requests cost, on other generations of GPUs">
          Costs as on{" "}
          <select value={arch} onChange={(e) => select({ arch: e.currentTarget.value })}>
            {ARCHS.map((a) => (
              <option key={a.id} value={a.id}>
                {a.name}
              </option>
            ))}
          </select>
        </label>
      </div>
    </>
  );
}

const MILLISECONDS = 120; // of a step, when it plays
const STEPS = 200; // so many at most from begin to end

/** Goes through the operations: by hand, or by itself. */
export function Player({ side, where, most }: { side: Side; where: Where; most: number }) {
  const playing = useSignal(false);
  const one = where.level === "warp" || where.level === "operation";
  const curve = one ? curveAt(side, where.block ?? 0, where.warp ?? 0) : undefined;
  const last = Math.max(0, (curve?.ops ?? most) - 1);
  const step = Math.min(last, (one ? where.step : where.until) ?? (one ? 0 : last));
  const by = one ? 1 : Math.max(1, Math.round(last / STEPS));
  const to = (next: number) =>
    select({ level: where.level, [one ? "step" : "until"]: Math.max(0, Math.min(last, next)) });
  useEffect(() => {
    if (!playing.value) return undefined;
    const timer = setTimeout(() => {
      if (step >= last) playing.value = false;
      else to(step + by);
    }, MILLISECONDS);
    return () => clearTimeout(timer);
  });
  return (
    <div class="player">
      <button
        type="button"
        aria-label={playing.value ? "Pause" : "Play"}
        title={playing.value ? "Pause" : "Play: let the operations go by, one after another"}
        onClick={() => {
          if (!playing.value && step >= last) to(0);
          playing.value = !playing.value;
        }}
      >
        {playing.value ? "❚❚" : "►"}
      </button>
      <button type="button" aria-label="Step back" title="Step back" onClick={() => to(step - 1)}>
        ‹
      </button>
      <input
        type="range"
        min={0}
        max={last}
        value={step}
        aria-label="Operation"
        onInput={(e) => to(Number(e.currentTarget.value))}
      />
      <button type="button" aria-label="Step" title="Step" onClick={() => to(step + 1)}>
        ›
      </button>
      <span class="num muted">
        operation {exact(step + 1)} of {exact(last + 1)}
      </span>
      {!one && where.until !== undefined && (
        <button type="button" onClick={() => select({ level: where.level, until: undefined })}>
          Show all
        </button>
      )}
    </div>
  );
}
