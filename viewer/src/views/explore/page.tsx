import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ARCHS } from "../../data/explore/archs";
import { bundleFor, type Dim } from "../../data/explore/tiles";
import { archOfDevice } from "../../data/explore/transactions";
import type { WarpData } from "../../data/explore/types";
import type { Model } from "../../data/model";
import type { Explore, Kernel } from "../../data/payload";
import { exact, middle, plural } from "../../widgets/format";
import { Block, COLUMNS, cellText } from "./block";
import { Focus } from "./focus";
import { type Camera, type Fit, Grid, spotText } from "./grid";
import type { Spot } from "./gridpaint";
import { guest } from "./guest";
import { HashedExplorer } from "./hashed";
import { Legend } from "./legend";
import { useLoaded } from "./loaded";
import { OperationView } from "./operation";
import { Outliers } from "./outliers";
import { blockName, comparedWarp, type Side, sideOf } from "./side";
import { SourcePane } from "./source";
import { OtherLaunches, Player, Tools } from "./tools";
import { Traced } from "./traced";
import { WarpView } from "./warp";
import { here, select, show, up, type Where } from "./where";

const ROWS = 24; // of a tile, about

/** Rows that have steps, or paths, to show. */
export const explored = (m: Model): Explore[] =>
  m.payload.explore.filter((row) => row.pages || row.hashed?.columns);

const launchName = (m: Model, row: Explore): string => {
  const kernel = m.kernelById.get(row.kernel);
  return `${middle(kernel?.short_name ?? "kernel", 50)}, launch ${row.launch}`;
};

function Empty({ m }: { m: Model }) {
  const left = m.payload.explore;
  return (
    <div class="empty">
      <h1>What warps did, step by step</h1>
      {left.length > 0 ? (
        <p>
          The steps of {plural(left.length, "launch", "launches")} found no room in this report:{" "}
          <code>warplens explore -k KERNEL PROFILE</code> writes those of one kernel.
        </p>
      ) : (
        <p>
          This profile does not hold them: <code>warplens profile --set sequences</code> keeps them;
          on a GPU, of kernels that data decides, <code>--probes trace,path</code> keeps the
          requests of a few blocks, and which path each warp took.
        </p>
      )}
    </div>
  );
}

function Crumbs({ side, where }: { side: Side; where: Where }) {
  const grid = side.launch.grid as Dim;
  const parts: [string, (() => void) | undefined][] = [["Grid", () => show({ level: "grid" })]];
  if (where.level !== "grid" && where.block !== undefined)
    parts.push([blockName(where.block, grid), () => show({ level: "block" })]);
  if ((where.level === "warp" || where.level === "operation") && where.warp !== undefined)
    parts.push([`warp ${where.warp}`, () => show({ level: "warp" })]);
  if (where.level === "operation")
    parts.push([`operation ${exact((where.step ?? 0) + 1)}`, undefined]);
  return (
    <nav class="levels" aria-label="Levels">
      {parts.map(([text, to], i) => (
        <span key={text}>
          {i > 0 && <span class="muted"> › </span>}
          {to && i < parts.length - 1 ? (
            <button type="button" class="plainlink" onClick={to}>
              {text}
            </button>
          ) : (
            <b aria-current="page">{text}</b>
          )}
        </span>
      ))}
    </nav>
  );
}

interface LevelProps {
  side: Side;
  where: Where;
  bundle: number;
  arch: string;
  pointed: (text: string, pcs: number[]) => void;
}

const pcsOf = (side: Side, kind: number, from: number, n: number): number[] =>
  kind < 0 ? [] : [...new Set(side.data.pcsOf(kind, from, n))];

function BlockLevel({ side, where, bundle, arch, pointed }: LevelProps) {
  const block = where.block ?? 0;
  const kinds = useMemo(() => side.data.kindsOf(block), [side, block]);
  const than = comparedWarp(side, where);
  const loaded = useLoaded(async () => {
    const pairs = [...kinds].map((kind) => ({ kind, than: kinds[than] as number }));
    const known = pairs.filter((p) => p.kind >= 0);
    const curves = await side.data.curvesOf(known, arch);
    let at = 0;
    return pairs.map((p) => (p.kind >= 0 ? curves[at++] : undefined));
  }, [side, block, than, arch]);
  const curves = loaded.value;
  if (loaded.error) return <p class="hint">{loaded.error}</p>;
  if (!curves) return <p class="muted">Comparing the warps …</p>;
  const props = { side, where, bundle, kinds, curves, than };
  const point = (warp: number | undefined, at: number | undefined) => {
    if (warp === undefined || at === undefined) return pointed("", []);
    const text = cellText({ ...props, point }, warp, at);
    return pointed(text, pcsOf(side, kinds[warp] ?? -1, at * bundle, bundle));
  };
  return (
    <div class="level">
      <Block {...props} point={point} />
      <Focus />
    </div>
  );
}

function WarpLevel({ side, where, arch }: LevelProps) {
  const loaded = useLoaded(
    () => side.data.warp(where.block ?? 0, where.warp ?? 0),
    [side, where.block, where.warp],
  );
  const warp: WarpData | undefined = loaded.value;
  const last = (warp?.operations().length ?? 1) - 1;
  const step = Math.min(where.step ?? 0, last);
  const open = () => show({ level: "operation", step });
  useEnterKey(where.level === "warp", open);
  if (loaded.error) return <p class="hint">{loaded.error}</p>;
  if (!warp || warp.block !== where.block || warp.warp !== where.warp)
    return <p class="muted">Unpacking the warp's steps …</p>;
  const props = { m: side.m, launch: side.launch, warp, step, arch };
  const to = (next: number) => select({ level: where.level, step: next });
  if (where.level === "operation")
    return (
      <div class="level">
        <OperationView {...props} onStep={to} />
        <Focus key="operation" />
      </div>
    );
  return (
    <div class="level">
      <Focus key="warp" />
      <button type="button" class="openstep" onClick={open}>
        Open operation {exact(step + 1)} <kbd>Enter</kbd>
      </button>
      <WarpView {...props} onStep={(next) => (next === step ? open() : to(next))} />
    </div>
  );
}

/** Enter opens what is selected, wherever the focus is, unless it is on something that Enter presses. */
function useEnterKey(on: boolean, open: () => void): void {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const pressed =
        e.target instanceof HTMLElement && e.target.matches("a, button, input, select");
      if (!on || e.key !== "Enter" || pressed || e.defaultPrevented) return;
      e.preventDefault();
      open();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
}

/** Esc and backspace go one level up, wherever the focus is. */
function useUpKeys(level: Where["level"]): void {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLElement && e.target.matches("input, select");
      const wanted = e.key === "Escape" || e.key === "Backspace";
      if (!wanted || level === "grid" || typing || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      up();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [level]);
}

const fits = signal<Record<string, Fit>>({});
const camera = signal<Camera>({ scale: undefined, x: 0, y: 0 });

interface GridLevelProps extends LevelProps {
  beside: Side | undefined;
  most: number;
  point: (side: Side, spot: Spot | undefined) => void;
}

function GridLevel({ side, beside, where, bundle, most, point }: GridLevelProps) {
  const of = (s: Side) => (s === side ? where : { ...where, block: undefined });
  return (
    <div class={beside ? "level grids two" : "level grids"}>
      <Focus />
      {[side, ...(beside ? [beside] : [])].map((s) => (
        <figure key={s === side ? "it" : "beside"}>
          {beside && (
            <figcaption>
              {launchName(s.m, s.row)}
              {s.m !== side.m && ` of ${guest.value?.name ?? "another report"}`}
            </figcaption>
          )}
          <Grid
            side={s}
            where={of(s)}
            most={most}
            bundle={bundle}
            camera={camera}
            slot={s === side ? "it" : "beside"}
            fits={fits}
            foreign={s.m !== side.m}
            point={point}
          />
        </figure>
      ))}
    </div>
  );
}

/** What the levels show, loaded: a launch, and the one beside it on the same scale. */
function useSides(m: Model, row: Explore, where: Where, arch: string) {
  const main = useLoaded(() => sideOf({ m, row, arch, rep: where.rep }), [m, row, arch, where.rep]);
  const own = explored(m).find((r) => r.launch === where.beside);
  const at = guest.value;
  const other = at?.row ?? own;
  const than = main.value;
  const beside = useLoaded<Side | undefined>(
    async () =>
      other && than
        ? sideOf({
            m: at?.m ?? m,
            row: other,
            arch,
            rep: undefined,
            than: !at && other.kernel === row.kernel ? than : undefined,
          })
        : undefined,
    [than, other, arch],
  );
  return { main, beside: where.level === "grid" && other ? beside : {} };
}

function Explorer({ m, row }: { m: Model; row: Explore }) {
  const where = { ...here(), launch: row.launch };
  const arch =
    ARCHS.find((a) => a.id === where.arch)?.id ??
    archOfDevice(m.payload.device?.compute_capability ?? "9.0").id;
  const kernel = m.kernelById.get(row.kernel) as Kernel;
  const { main, beside } = useSides(m, row, where, arch);
  const status = useSignal<{ text: string; pcs: number[] }>({ text: "", pcs: [] });
  const side = main.value;
  useEffect(() => {
    camera.value = { scale: undefined, x: 0, y: 0 };
  }, [row.launch, where.beside, guest.value]);
  useEffect(() => {
    status.value = { text: "", pcs: [] };
  }, [where.level, side !== undefined]);
  useUpKeys(where.level);
  if (main.error) return <p class="hint">{main.error}</p>;
  if (!side) return <p class="muted">Unpacking what {plural(row.warps, "warp")} did …</p>;
  const most = Math.max(side.most, beside.value?.most ?? 1);
  const bundle = where.bundle && where.bundle > 0 ? where.bundle : bundleFor(most, ROWS);
  const point = (of: Side, spot: Spot | undefined) => {
    const pcs = spot
      ? pcsOf(of, of.data.kindOf(spot.block, spot.warp), spot.bundle * bundle, bundle)
      : [];
    status.value = { text: spot ? spotText(of, spot, bundle) : "", pcs };
  };
  const pointed = (text: string, pcs: number[]) => {
    status.value = { text, pcs };
  };
  const level = { side, where, bundle, arch, pointed };
  return (
    <div class="explorebody">
      <div class="exploremain">
        <Crumbs side={side} where={where} />
        <Tools m={m} side={side} where={where} bundle={bundle} arch={arch} rows={explored(m)} />
        <OtherLaunches m={m} row={row} />
        <Traced side={side} />
        {where.level === "grid" && (
          <GridLevel {...level} beside={beside.value} most={most} point={point} />
        )}
        {where.level === "block" && <BlockLevel {...level} />}
        {(where.level === "warp" || where.level === "operation") && <WarpLevel {...level} />}
        {where.level === "grid" && side.leftOut > 0 && (
          <p class="muted">
            {plural(side.leftOut, "warp")} of {exact(side.row.warps)} are not compared here: what
            they did differs too much from round to round, or from warp to warp, to compare all of
            it for one picture. Those whose paths most warps took came first. Open a block to
            compare its warps.
          </p>
        )}
        <p class="pointed" aria-live="polite">
          {status.value.text || <Said {...level} />}
        </p>
        <Player side={side} where={where} most={most} />
        {(where.level === "grid" || where.level === "block") && (
          <Legend level={where.level} columns={COLUMNS} />
        )}
        {where.level === "grid" && <Outliers m={m} side={side} />}
      </div>
      <Pane
        m={m}
        kernel={kernel}
        side={side}
        where={where}
        bundle={bundle}
        pcs={status.value.pcs}
      />
    </div>
  );
}

/** What is selected, when nothing is pointed at. */
function Said({ side, where, bundle }: LevelProps) {
  if (where.block === undefined || where.level !== "grid")
    return (
      <span class="muted">
        {where.level === "grid"
          ? "Point at a cell to read what it says; click, or press Enter, to open its block."
          : where.level === "block"
            ? "Point at a cell to read what it says; click, or press Enter, to open its warp."
            : ""}
      </span>
    );
  const spot = {
    block: where.block,
    warp: where.warp ?? 0,
    bundle: Math.floor((where.step ?? 0) / bundle),
  };
  return <>{spotText(side, spot, bundle)}</>;
}

interface PaneProps {
  m: Model;
  kernel: Kernel;
  side: Side;
  where: Where;
  bundle: number;
  pcs: number[]; // pointed at
}

/** The source of what is pointed at, else of what is selected, else of the representative's first operations. */
function Pane({ m, kernel, side, where, bundle, pcs }: PaneProps) {
  const { data } = side;
  const own = data.kindOf(where.block ?? side.rep, where.warp ?? 0);
  const kind = own < 0 ? (data.opened.warps.kind[0] ?? -1) : own;
  const played = where.level === "grid" || where.level === "block" ? where.until : undefined;
  const step = played ?? where.step ?? 0;
  const one = where.level === "warp" || where.level === "operation";
  const from = one ? step : Math.floor(step / bundle) * bundle;
  const shown = pcs.length > 0 ? pcs : pcsOf(side, kind, from, one ? 1 : bundle);
  const what =
    pcs.length > 0
      ? "what is pointed at"
      : one
        ? `operation ${exact(step + 1)}`
        : `operations ${exact(from + 1)} to ${exact(from + bundle)}`;
  return <SourcePane m={m} kernel={kernel} pcs={shown} what={what} />;
}

/** The explorer: what the warps of a launch did, from the grid to a single operation. */
export function ExploreView({ m, id }: { m: Model; id: number | undefined }) {
  const rows = explored(m);
  const row = rows.find((r) => r.launch === id) ?? rows[0];
  if (!row) return <Empty m={m} />;
  const steps = <Explorer key={row.launch} m={m} row={row} />;
  return (
    <article class="explore">
      {row.hashed?.columns ? (
        <HashedExplorer key={row.launch} m={m} row={row} rows={rows} steps={steps} />
      ) : (
        steps
      )}
    </article>
  );
}
