import { type Filter, GAINS, isFiltering, NO_FILTER, patternsOf } from "../data/filter";
import type { Model } from "../data/model";
import { filter } from "../state/filter";
import { exact } from "../widgets/format";

const GAIN_NAMES = { worth: "worth fixing", little: "of little gain" } as const;

const change = (part: Partial<Filter>): void => {
  filter.value = { ...filter.value, ...part };
};

/** Narrows a list by name, pattern and gain; tells how much of it is shown. */
export function FilterBar({ m, shown, all }: { m: Model; shown: number; all: number }) {
  const { text, pattern, gain } = filter.value;
  return (
    <form class="filter" onSubmit={(e) => e.preventDefault()}>
      <input
        type="search"
        placeholder="filter by name"
        aria-label="Show only those with this in their name"
        value={text}
        onInput={(e) => change({ text: e.currentTarget.value })}
      />
      <select
        aria-label="Show only those with this pattern"
        value={pattern}
        onChange={(e) => change({ pattern: e.currentTarget.value })}
      >
        <option value="">any pattern</option>
        {patternsOf(m).map((p) => (
          <option key={p} value={p}>
            {p}
          </option>
        ))}
      </select>
      <select
        aria-label="Show only those of this gain"
        value={gain}
        onChange={(e) => change({ gain: e.currentTarget.value as Filter["gain"] })}
      >
        <option value="">any gain</option>
        {GAINS.map((g) => (
          <option key={g} value={g}>
            {GAIN_NAMES[g]}
          </option>
        ))}
      </select>
      {isFiltering(filter.value) && (
        <p class="muted small">
          {exact(shown)} of {exact(all)}{" "}
          <button type="button" class="plainlink" onClick={() => change(NO_FILTER)}>
            show all
          </button>
        </p>
      )}
    </form>
  );
}
