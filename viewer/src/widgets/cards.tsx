import type { ComponentChildren } from "preact";
import { exact } from "./format";

const MOST = 200;

interface Props<Item> {
  label: string;
  head?: string;
  items: Item[];
  idOf: (item: Item, index: number) => number;
  on: number; // the id of the one that is shown
  href: (id: number) => string;
  card: (item: Item, id: number) => ComponentChildren;
  ranked?: boolean; // cards begin with their number
  section?: (item: Item, before: Item | undefined) => ComponentChildren; // stands above the card, where there is any
}

/** The list at the left of a view: a card for each item. Of very many only the first, and the one that is shown. */
export function CardList<Item>(p: Props<Item>) {
  const cards = p.items
    .map((item, i) => ({ item, id: p.idOf(item, i), section: p.section?.(item, p.items[i - 1]) }))
    .filter(({ id }, i) => i < MOST || id === p.on);
  const more = p.items.length - cards.length;
  return (
    <nav class="list" aria-label={p.label}>
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
      {more > 0 && <p class="muted listhead">and {exact(more)} more: search finds them</p>}
    </nav>
  );
}
