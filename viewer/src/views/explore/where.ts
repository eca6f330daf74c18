import { go, href, type Route, replace, route } from "../../state/route";

/** What the explorer shows, as the address has it: #explore/LAUNCH?block=..&warp=..&step=.. */
export const LEVELS = ["grid", "block", "warp", "operation"] as const;
export type Level = (typeof LEVELS)[number];

export interface Where {
  launch: number | undefined;
  level: Level;
  block: number | undefined; // linear index
  warp: number | undefined;
  step: number | undefined; // operation of the warp
  until: number | undefined; // operation that has been played: what is later is veiled
  arch: string | undefined;
  rep: number | undefined; // the block that is chosen by hand to compare with
  than: number | undefined; // likewise the warp of the block
  bundle: number | undefined;
  beside: string | undefined; // a launch, "7", or one of the other profile, "other-7"; "none"; undefined: what suits
  on: number | undefined; // 1: block, warp and step are those of the launch beside
  rep2: number | undefined; // the block that the launch beside is compared with, as `rep`
  own: number | undefined; // 1: the launch beside is compared with its own block, not with that of the other one
}

const NUMBERS = [
  "block",
  "warp",
  "step",
  "until",
  "rep",
  "than",
  "bundle",
  "on",
  "rep2",
  "own",
] as const;
const TEXTS = ["beside", "arch"] as const;

/** The deepest level that the address names something of, unless it says which. */
function levelOf(query: Record<string, string>): Level {
  const named = LEVELS.find((level) => level === query.level);
  if (named) return named;
  if (query.block === undefined) return "grid";
  if (query.warp === undefined) return "block";
  return query.step === undefined ? "warp" : "operation";
}

export function whereOf({ id, query }: Route): Where {
  const number = (key: string) => {
    const value = Number.parseInt(query[key] ?? "", 10);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const [block, warp, step, until, rep, than, bundle, on, rep2, own] = NUMBERS.map(number);
  const level = levelOf(query);
  return {
    launch: id,
    level,
    block,
    warp,
    step,
    until,
    arch: query.arch,
    rep,
    than,
    bundle,
    beside: query.beside,
    on,
    rep2,
    own,
  };
}

export function whereHref(w: Where): string {
  const query: Record<string, string | number> = {};
  if (w.level !== levelOf(naming(w))) query.level = w.level;
  for (const key of NUMBERS) if (w[key] !== undefined) query[key] = w[key] as number;
  for (const key of TEXTS) if (w[key] !== undefined) query[key] = w[key] as string;
  return href("explore", w.launch, query);
}

const naming = (w: Where): Record<string, string> =>
  Object.fromEntries(
    NUMBERS.flatMap((key) => (w[key] === undefined ? [] : [[key, String(w[key])]])),
  );

export const here = (): Where => whereOf(route.value);

/** Shows something else, as a step of the history. */
export const show = (change: Partial<Where>): void => go(whereHref({ ...here(), ...change }));

/** Moves what is selected without such a step. */
export const select = (change: Partial<Where>): void =>
  replace(whereHref({ ...here(), ...change }));

/** One level up; what was selected there still is. */
export function up(): void {
  const { level } = here();
  const above = LEVELS[LEVELS.indexOf(level) - 1];
  if (above) show({ level: above });
}
