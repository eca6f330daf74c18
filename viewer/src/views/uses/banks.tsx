import { BANKS, isOf, LEVELS, level, ORIGINS, type PhaseData } from "../../data/phases";
import { exact, plural } from "../../widgets/format";

const WIDE = 20;
const HIGH = 14;
const LEFT = 44;
const TOP = 18;
const MOST_ROWS = 64; // that are drawn; more are put together

interface Props {
  d: PhaseData;
  at: Int32Array; // by word: the run that tells of it
  phase: number;
  word: number | undefined;
  pick: (word: number) => void;
  go: (phase: number) => void;
}

/** Where words are drawn: word 0 lies in the array's first bank; a cell stands for `joined` words of its bank. */
export interface Layout {
  first: number; // bank of word 0
  words: number;
  rows: number;
  joined: number;
}

export function layoutOf(words: number, firstBank: number): Layout {
  const lines = Math.ceil((firstBank + words) / BANKS);
  const joined = Math.ceil(lines / MOST_ROWS);
  return { first: firstBank, words, rows: Math.ceil(lines / joined), joined };
}

/** The words of a cell, those that there are. */
export function wordsOf(l: Layout, row: number, bank: number): number[] {
  const found: number[] = [];
  for (let line = row * l.joined; line < (row + 1) * l.joined; line++) {
    const word = line * BANKS + bank - l.first;
    if (word >= 0 && word < l.words) found.push(word);
  }
  return found;
}

/** Of several words one that the phase accesses, else one that was ever accessed. */
function tellingWord(
  d: PhaseData,
  at: Int32Array,
  phase: number,
  words: number[],
): number | undefined {
  return (
    words.find((w) => isOf(d, phase, at[w] as number)) ??
    words.find((w) => (at[w] as number) >= 0) ??
    words[0]
  );
}

interface Cells {
  paths: Map<string, string>; // by class
  stored: string;
  read: string;
}

/** All cells of a kind are one path: a large array stays quick to draw. */
function cellsOf(d: PhaseData, at: Int32Array, phase: number, l: Layout): Cells {
  const cells: Cells = { paths: new Map(), stored: "", read: "" };
  for (let row = 0; row < l.rows; row++) {
    for (let bank = 0; bank < BANKS; bank++) {
      const word = tellingWord(d, at, phase, wordsOf(l, row, bank));
      if (word === undefined) continue;
      const run = at[word] as number;
      const [x, y] = [LEFT + bank * WIDE, TOP + row * HIGH];
      const origin = ORIGINS[run < 0 ? 0 : (d.origin[run] as number)]?.name ?? "somehow";
      const updated = run >= 0 && d.updated[run] === 1 ? " updated" : "";
      const kind =
        run < 0
          ? "word unfilled l0"
          : `word ${origin} l${level(d.accesses[run] as number)}${updated}`;
      cells.paths.set(
        kind,
        `${cells.paths.get(kind) ?? ""}M${x + 0.5} ${y + 0.5}h${WIDE - 1}v${HIGH - 1}h${1 - WIDE}z`,
      );
      if (!isOf(d, phase, run)) continue;
      if (d.writers[run]) cells.stored += `M${x + 1} ${y + 1}h8l-8 8z`;
      if (d.readers[run]) {
        cells.read += `M${x + WIDE - 6} ${y + HIGH - 4.5}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z`;
      }
    }
  }
  return cells;
}

function label(d: PhaseData, at: Int32Array, word: number): string {
  const run = at[word] as number;
  const where = `word ${exact(word)}, byte ${exact(4 * word)}`;
  if (run < 0) return `${where}: not accessed yet`;
  const origin = ORIGINS[d.origin[run] as number]?.words ?? "";
  const updated = d.updated[run] ? ", updated" : "";
  return `${where}: ${origin}${updated}, accessed ${plural(d.accesses[run] as number, "time")} since`;
}

function onPictureKey(p: Props, l: Layout, e: KeyboardEvent): void {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -BANKS * l.joined,
    ArrowDown: BANKS * l.joined,
  };
  const by = steps[e.key];
  if (by !== undefined) {
    const to = (p.word ?? -by) + by;
    if (to >= 0 && to < l.words) p.pick(to);
  } else if (e.key === "PageDown") p.go(p.phase + 1);
  else if (e.key === "PageUp") p.go(p.phase - 1);
  else return;
  e.preventDefault();
  e.stopPropagation();
}

/** The cell under the pointer, as row and bank. */
function cellAt(
  e: MouseEvent & { currentTarget: HTMLElement },
  l: Layout,
): [number, number] | undefined {
  const box = e.currentTarget.getBoundingClientRect();
  const scale = (LEFT + BANKS * WIDE + 2) / box.width;
  const bank = Math.floor(((e.clientX - box.left) * scale - LEFT) / WIDE);
  const row = Math.floor(((e.clientY - box.top) * scale - TOP) / HIGH);
  return bank >= 0 && bank < BANKS && row >= 0 && row < l.rows ? [row, bank] : undefined;
}

function Selected({ l, word }: { l: Layout; word: number }) {
  const line = Math.floor((l.first + word) / BANKS);
  const x = LEFT + ((l.first + word) % BANKS) * WIDE;
  const y = TOP + Math.floor(line / l.joined) * HIGH;
  return <rect class="selected" x={x - 0.5} y={y - 0.5} width={WIDE + 1} height={HIGH + 1} />;
}

/** An array: banks across, a row for each 128 bytes. Colours tell of the value that a word holds, marks what the phase
 * does. */
export function BankGrid(p: Props) {
  const { d, at, phase, word } = p;
  const l = layoutOf(d.row.words, d.row.first_bank);
  const cells = cellsOf(d, at, phase, l);
  const height = TOP + l.rows * HIGH + 2;
  const click = (e: MouseEvent & { currentTarget: HTMLElement }) => {
    const cell = cellAt(e, l);
    const found = cell && tellingWord(d, at, phase, wordsOf(l, ...cell));
    if (found !== undefined) p.pick(found);
  };
  const every = Math.max(1, Math.ceil(l.rows / 16));
  return (
    <>
      <div
        class="bankgrid"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
        tabIndex={0}
        onClick={click}
        onKeyDown={(e) => onPictureKey(p, l, e)}
        aria-label="Words by bank"
      >
        <svg
          viewBox={`0 0 ${LEFT + BANKS * WIDE + 2} ${height}`}
          role="img"
          aria-label={word === undefined ? "banks and rows" : label(d, at, word)}
        >
          {[0, 4, 8, 12, 16, 20, 24, 28, 31].map((bank) => (
            <text
              key={bank}
              class="axis"
              x={LEFT + (bank + 0.5) * WIDE}
              y={TOP - 5}
              text-anchor="middle"
            >
              {bank === 0 ? "bank 0" : bank}
            </text>
          ))}
          {Array.from({ length: l.rows }, (_, row) => row)
            .filter((row) => row % every === 0)
            .map((row) => (
              <text
                key={row}
                class="axis"
                x={LEFT - 5}
                y={TOP + row * HIGH + HIGH - 3}
                text-anchor="end"
              >
                {exact(Math.max(0, row * l.joined * BANKS - l.first) * 4)}
              </text>
            ))}
          {[...cells.paths].map(([kind, path]) => (
            <path key={kind} class={kind} d={path} />
          ))}
          <path class="mark stored" d={cells.stored} />
          <path class="mark read" d={cells.read} />
          {word !== undefined && <Selected l={l} word={word} />}
        </svg>
      </div>
      <p class="muted small">
        On the left, the row's first byte.
        {l.joined > 1 &&
          ` A cell stands for ${l.joined} words of its bank, and shows one that the phase accesses.`}
        {word !== undefined && ` Selected: ${label(d, at, word)}.`}
      </p>
    </>
  );
}

/** What colours and marks mean: of the origins that are there. */
export function PhaseLegend({ origins }: { origins: Set<number> }) {
  return (
    <ul class="phaselegend small">
      {ORIGINS.map(({ name, words }, i) =>
        i > 0 && !origins.has(i) ? null : (
          <li key={name}>
            <span class={`word ${name} l3`} /> {words}
          </li>
        ),
      )}
      <li>
        <span class="word computed l3 updated" /> edged: updated since
      </li>
      <li>
        accesses since it was filled:{" "}
        {LEVELS.map((text, i) => (
          <span key={text}>
            <span class={`word loaded l${i}`} /> {text}{" "}
          </span>
        ))}
      </li>
      <li>
        in this phase: <span class="now stored" /> stored, <span class="now read" /> read
      </li>
    </ul>
  );
}
