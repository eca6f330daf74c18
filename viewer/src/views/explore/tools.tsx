import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ARCHS } from "../../data/explore/archs";
import { type Choice, choicesOf } from "../../data/explore/served";
import type { Model } from "../../data/model";
import type { Explore } from "../../data/payload";
import { exact, middle, plural, shapeOf } from "../../widgets/format";
import { type Beside, BesideChoice, RepChoice } from "./beside";
import { comparedWarp, curveAt, launchName, type Side, shortName } from "./side";
import { select, show, type Where } from "./where";

interface Props {
  m: Model;
  choice: Choice;
  side: Side; // that, or what stands beside it
  at: Beside | undefined; // what stands beside it
  where: Where;
  bundle: number;
  arch: string;
}

/** What the page does not show, and how to see it. */
function leftOut(m: Model): string {
  const shown = new Set(choicesOf(m).map((choice) => choice.launch));
  const n = m.payload.explore.filter((row) => !shown.has(row.launch)).length;
  const many = plural(n, "other launch", "other launches");
  return n > 0 ? `; ${many} found no room here: warplens explore --serve shows them all` : "";
}

/** Of how many launches of the kernel nothing can be shown, and why. */
export function OtherLaunches({ m, row }: { m: Model; row: Explore }) {
  const shown = choicesOf(m).filter((c) => c.kernel === row.kernel).length;
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

/** Nothing is chosen of another launch. */
const NOTHING = {
  block: undefined,
  warp: undefined,
  step: undefined,
  rep: undefined,
  than: undefined,
  beside: undefined,
  on: undefined,
  rep2: undefined,
  own: undefined,
};

export function LaunchChoice({ m, choice }: { m: Model; choice: Choice }) {
  const rows = choicesOf(m);
  const options = useMemo(
    () =>
      rows.map((row) => (
        <option key={row.launch} value={row.launch}>
          {shortName(m, row)}
        </option>
      )),
    [m, rows],
  );
  if (rows.length < 2)
    return <b class="mono">{middle(m.kernelById.get(choice.kernel)?.short_name ?? "", 40)}</b>;
  return (
    <label>
      Launch{" "}
      <select
        value={choice.launch}
        onChange={(e) => {
          const launch = Number(e.currentTarget.value);
          show({ ...NOTHING, level: "grid", launch });
        }}
      >
        {options}
      </select>
    </label>
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

/** Which warp of a block the others are compared with, and who chose it. */
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
        {side.on ? (
          <b class="mono">{launchName(side.m, side.row)}</b>
        ) : (
          <LaunchChoice m={p.m} choice={p.choice} />
        )}
        <span class="muted">
          {shapeOf(side.launch.grid, side.launch.block)}; {plural(side.row.warps, "warp")} of{" "}
          {plural(side.data.blocks.length, "block")} known
          {side.row.compared.dropped ? `; ${exact(side.row.compared.dropped)} found no room` : ""}
          {leftOut(p.m)}
          {side.row.paths ? "" : "; of some basic blocks only the accesses are known"}
        </span>
      </div>
      {where.level === "grid" && (
        <BesideChoice m={p.m} choice={p.choice} {...(p.at && { at: p.at })} />
      )}
      <div class="exploretools">
        {few && <BundleChoice bundle={bundle} />}
        {where.level === "grid" && !p.at && <RepChoice side={side} where={where} />}
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
