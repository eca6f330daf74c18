import { signal, useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Model } from "../data/model";
import { type Hit, search, searchIndex } from "../data/search";
import { go } from "../state/route";
import { middle } from "../widgets/format";

const MOST_HITS = 20;
const field = signal<HTMLInputElement | null>(null);

/** Puts the cursor into the search field. */
export const focusSearch = (): void => {
  field.value?.focus();
  field.value?.select();
};

function Option({ hit, id, on, pick }: { hit: Hit; id: string; on: boolean; pick: () => void }) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys stay in the field, as comboboxes have it
    // biome-ignore lint/a11y/useFocusableInteractive: as above
    <div role="option" id={id} aria-selected={on} class={on ? "on" : ""} onClick={pick}>
      <span class="kind muted">{hit.kind}</span>
      <span class="name">{middle(hit.name, 60)}</span>
      <span class="muted small">{middle(hit.detail, 60)}</span>
    </div>
  );
}

/** Looks for findings, kernels, objects, files and source lines. */
export function Search({ m }: { m: Model }) {
  const index = useMemo(() => searchIndex(m), [m]);
  const query = useSignal("");
  const open = useSignal(false);
  const at = useSignal(0);
  const hits = useComputed(() => search(m, index, query.value, MOST_HITS));
  const shown = open.value && query.value.trim() !== "";
  const pick = (hit: Hit | undefined) => {
    if (!hit) return;
    open.value = false;
    field.value?.blur();
    go(hit.href);
  };
  const key = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step !== undefined) {
      e.preventDefault();
      at.value = Math.min(hits.value.length - 1, Math.max(0, at.value + step));
    } else if (e.key === "Enter") pick(hits.value[at.value]);
    else if (e.key === "Escape") {
      if (query.value === "") field.value?.blur();
      e.preventDefault();
      query.value = "";
    }
  };
  return (
    <div class="search">
      <input
        ref={(element) => {
          field.value = element;
        }}
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: it has no datalist, which would imply it
        role="combobox"
        list={undefined}
        aria-label="Search findings, kernels, objects, files and source lines"
        aria-expanded={shown}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={shown && hits.value.length > 0 ? `hit${at.value}` : ""}
        placeholder="Search  /"
        value={query.value}
        onInput={(e) => {
          query.value = e.currentTarget.value;
          at.value = 0;
          open.value = true;
        }}
        onFocus={() => {
          open.value = true;
        }}
        onBlur={() => {
          open.value = false;
        }}
        onKeyDown={key}
      />
      {/* A press would take the focus, and with it the list, before it becomes a click. */}
      <div
        id="hits"
        role="listbox"
        aria-label="Found"
        hidden={!shown}
        onPointerDown={(e) => e.preventDefault()}
      >
        {hits.value.map((hit, i) => (
          <Option
            key={hit.href}
            hit={hit}
            id={`hit${i}`}
            on={i === at.value}
            pick={() => pick(hit)}
          />
        ))}
        {hits.value.length === 0 && <p class="muted">Nothing found.</p>}
      </div>
    </div>
  );
}
