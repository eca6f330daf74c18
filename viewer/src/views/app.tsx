import { computed, signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { choicesOf } from "../data/explore/served";
import type { Model } from "../data/model";
import { go, href, type Route, route, type View } from "../state/route";
import { shown, toggleTheme } from "../state/theme";
import { baseName, exact } from "../widgets/format";
import { CoveragePanel } from "./coverage";
import { ExploreView } from "./explore/page";
import { FileView, rankedFiles, stepHotLine } from "./file";
import { FindingsView, listedGroups } from "./finding";
import { GlossaryView } from "./glossary";
import { KernelView, listedKernels } from "./kernel";
import { MemoryView } from "./memory";
import { ObjectView, rankedObjects } from "./object";
import { OverviewView } from "./overview";
import { focusSearch, Search } from "./search";

const help = signal(false);
const view = computed(() => route.value.view);

const TABS: { view: View; label: string; count: (m: Model) => number | undefined }[] = [
  { view: "finding", label: "Findings", count: (m) => m.payload.groups.length },
  { view: "kernel", label: "Kernels", count: (m) => m.payload.kernels.length },
  { view: "object", label: "Objects", count: (m) => rankedObjects(m).length },
  { view: "overview", label: "Overview", count: () => undefined },
  { view: "memory", label: "Memory", count: () => undefined },
  { view: "explore", label: "Explorer", count: () => undefined },
];

/** Whether warps' steps were kept, so that there is something to explore. */
const hasSteps = (m: Model): boolean => m.payload.explore.length > 0 || choicesOf(m).length > 0;

function Brand() {
  return (
    <a class="brand" href={href("finding", 1)}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {[0, 1, 2, 3].map((row) =>
          [0, 1, 2, 3].map((column) => (
            <rect
              key={`${row}${column}`}
              class={row === column ? "used" : "unused"}
              x={column * 4 + 0.4}
              y={row * 4 + 0.4}
              width={3.2}
              height={3.2}
              rx={0.6}
            />
          )),
        )}
      </svg>
      warplens
    </a>
  );
}

function TopBar({ m }: { m: Model }) {
  const { program, device } = m.payload;
  return (
    <header class="top">
      <Brand />
      <nav aria-label="Views">
        {TABS.filter((tab) => tab.view !== "explore" || hasSteps(m)).map((tab) => {
          const n = tab.count(m);
          return (
            <a
              key={tab.view}
              href={href(tab.view)}
              class={view.value === tab.view ? "on" : ""}
              aria-current={view.value === tab.view ? "page" : undefined}
            >
              {tab.label}
              {n !== undefined && <span class="n">{exact(n)}</span>}
            </a>
          );
        })}
      </nav>
      <p class="run">
        <span class="mono" title={program.executable}>
          {baseName(program.executable)}
        </span>
        {device && (
          <span class="muted">
            {" "}
            on {device.name}
            {program.collector === "emulate" ? ", emulated" : ""}
          </span>
        )}
      </p>
      <Search m={m} />
      <button
        type="button"
        class="icon"
        onClick={toggleTheme}
        title="Light or dark (t)"
        aria-label="Light or dark"
      >
        {shown.value === "dark" ? "☀" : "☾"}
      </button>
      <button
        type="button"
        class="icon"
        title="Keys and glossary (?)"
        aria-label="Keys and glossary"
        onClick={() => {
          help.value = true;
        }}
      >
        ?
      </button>
    </header>
  );
}

const KEYS: [string, string][] = [
  ["/", "search"],
  ["j, k", "next and previous in the list"],
  ["n, p", "in a source file: the next hot line, and the one before"],
  ["1 – 6", "findings, kernels, objects, overview, memory, explorer"],
  ["t", "light or dark"],
  ["arrows", "on a heat map: move the selected cell; page up, page down, home, end, too"],
  ["+, −", "on a heat map, on memory: zoom, as the wheel does with ctrl"],
  ["arrows, 0, p", "on memory: select a call or an object; all of it; the peak"],
  ["arrows, page up, page down", "on the banks of a shared array: select a word; change the phase"],
  [
    "arrows, Enter, Esc",
    "in the explorer: select a block, a warp, an operation; open it; one level up",
  ],
  ["r, +, −, 0", "in the explorer: compare with what is selected; zoom; show all"],
  ["?", "this list"],
  ["Esc", "empty the search; close"],
];

function Help() {
  const sheet = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    if (help.value) sheet.current?.showModal();
    else sheet.current?.close();
  });
  return (
    <dialog
      ref={sheet}
      class="sheet"
      aria-label="Keys"
      onClose={() => {
        help.value = false;
      }}
    >
      <h2>Keys</h2>
      <table class="plain">
        <tbody>
          {KEYS.map(([key, what]) => (
            <tr key={key}>
              <th class="text mono" scope="row">
                {key}
              </th>
              <td class="text">{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <a
          href={href("glossary")}
          onClick={() => {
            help.value = false;
          }}
        >
          Glossary: what the words mean
        </a>
      </p>
    </dialog>
  );
}

/** The ids that j and k walk through, in the order of the list. */
function listed(m: Model, where: Route): { ids: number[]; at: number } {
  const ids =
    where.view === "finding"
      ? listedGroups(m).map(({ number }) => number)
      : where.view === "kernel"
        ? listedKernels(m).map((k) => k.id)
        : where.view === "object"
          ? rankedObjects(m).map((o) => o.id)
          : where.view === "file"
            ? rankedFiles(m).map((f) => f.id)
            : [];
  return { ids, at: where.id === undefined ? 0 : ids.indexOf(where.id) };
}

function step(m: Model, by: number): void {
  const { ids, at } = listed(m, route.value);
  const id = ids[Math.min(ids.length - 1, Math.max(0, at + by))];
  if (id !== undefined) go(href(route.value.view, id));
}

/** Whether keys mean what is written, or chosen, there. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=checkbox]), select, textarea");

function onKey(m: Model, e: KeyboardEvent): void {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (isTyping(e.target)) return;
  const tab = TABS[Number.parseInt(e.key, 10) - 1];
  if (tab) go(href(tab.view));
  else if (e.key === "/") {
    e.preventDefault();
    focusSearch();
  } else if (e.key === "j") step(m, 1);
  else if (e.key === "k") step(m, -1);
  else if (e.key === "n" && view.value === "file") stepHotLine(m, route.value.id, 1);
  else if (e.key === "p" && view.value === "file") stepHotLine(m, route.value.id, -1);
  else if (e.key === "t") toggleTheme();
  else if (e.key === "?") help.value = !help.value;
  else if (e.key === "Escape") help.value = false;
}

function Page({ m }: { m: Model }) {
  const { id } = route.value;
  switch (route.value.view) {
    case "finding":
      return <FindingsView m={m} id={id} />;
    case "kernel":
      return <KernelView m={m} id={id} />;
    case "object":
      return <ObjectView m={m} id={id} />;
    case "file":
      return <FileView m={m} id={id} />;
    case "memory":
      return <MemoryView m={m} />;
    case "explore":
      return <ExploreView m={m} id={id} />;
    case "overview":
      return <OverviewView m={m} />;
    case "glossary":
      return <GlossaryView />;
  }
}

/** Past the bar and the list, for those who go by keys. */
function toContent(): void {
  const detail = document.querySelector<HTMLElement>(".detail") ?? document.querySelector("main");
  detail?.setAttribute("tabindex", "-1");
  detail?.focus();
}

export function App({ m }: { m: Model }) {
  const key = `${route.value.view} ${route.value.id ?? ""}`;
  useEffect(() => {
    const listener = (e: KeyboardEvent) => onKey(m, e);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, [m]);
  useEffect(() => {
    if (view.value !== "file") scrollTo(0, 0); // a source file shows its hottest line
    document.querySelector(".card.on")?.scrollIntoView({ block: "nearest" });
    document.body.dataset.view = key; // it stands, and keys are listened to
  }, [key]);
  return (
    <>
      <button type="button" class="jump" onClick={toContent}>
        To the content
      </button>
      <TopBar m={m} />
      <main>
        <Page m={m} />
        <CoveragePanel m={m} />
      </main>
      <Help />
    </>
  );
}
