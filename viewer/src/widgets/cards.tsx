import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { exact } from "./format";

const MOST = 200;

interface Props<Item> {
  label: string;
  head?: string;
  foot?: string | undefined;
  items: Item[];
  idOf: (item: Item, index: number) => number;
  on: number; // the id of the one that is shown
  href: (id: number) => string;
  card: (item: Item, id: number) => ComponentChildren;
  filter?: ComponentChildren; // narrows the list
  ranked?: boolean; // cards begin with their number
  section?: (item: Item, before: Item | undefined) => ComponentChildren; // stands above the card, where there is any
}

/** What a narrow window has in place of the list. */
function Chooser<Item>({ p, open }: { p: Props<Item>; open: Signal<boolean> }) {
  const ids = p.items.map(p.idOf);
  const at = ids.indexOf(p.on);
  const neighbour = (by: number, text: string, name: string) => {
    const id = ids[at + by];
    return id === undefined ? (
      <span class="muted">{text}</span>
    ) : (
      <a href={p.href(id)} aria-label={name}>
        {text}
      </a>
    );
  };
  return (
    <p class="chooser">
      <button
        type="button"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {p.label}
        {at >= 0 && `: ${exact(at + 1)} of ${exact(ids.length)}`} {open.value ? "▴" : "▾"}
      </button>
      {neighbour(-1, "‹ previous", "Previous in the list")}
      {neighbour(1, "next ›", "Next in the list")}
    </p>
  );
}

/** The list at the left of a view: a card for each item. Of very many only the first, and the one that is shown. In a narrow
 * window it opens at a button, with the neighbours of the one that is shown beside it. */
export function CardList<Item>(p: Props<Item>) {
  const open = useSignal(false);
  useEffect(() => {
    open.value = false;
  }, [p.on]);
  const cards = p.items
    .map((item, i) => ({ item, id: p.idOf(item, i), section: p.section?.(item, p.items[i - 1]) }))
    .filter(({ id }, i) => i < MOST || id === p.on);
  const more = p.items.length - cards.length;
  return (
    <nav class={`list${open.value ? " open" : ""}`} aria-label={p.label}>
      <Chooser p={p} open={open} />
      {p.filter}
      {p.head && <p class="muted listhead">{p.head}</p>}
      <ol>
        {cards.map(({ item, id, section }) => (
          <li key={id}>
            {section && <p class="muted listhead">{section}</p>}
            <a
              class={`card${p.ranked ? "" : " plain"}${id === p.on ? " on" : ""}`}
              href={p.href(id)}
              aria-current={id === p.on}
            >
              {p.card(item, id)}
            </a>
          </li>
        ))}
      </ol>
      {cards.length === 0 && <p class="muted listhead">Nothing matches the filter.</p>}
      {more > 0 && <p class="muted listhead">and {exact(more)} more: search finds them</p>}
      {p.foot && <p class="muted listhead">{p.foot}</p>}
    </nav>
  );
}
