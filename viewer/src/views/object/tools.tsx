import { useSignal } from "@preact/signals";
import type { MemoryObject } from "../../data/payload";
import type { Sight } from "../../widgets/heatmap/sight";

/** One of several: buttons side by side. */
export function Switch<T extends string>(p: {
  label: string;
  value: T;
  options: { value: T; label: string; help: string }[];
  set: (value: T) => void;
}) {
  return (
    <fieldset class="switch">
      <legend>{p.label}</legend>
      {p.options.map((o) => (
        <button
          key={o.value}
          type="button"
          title={o.help}
          aria-pressed={o.value === p.value}
          class={o.value === p.value ? "on" : ""}
          onClick={() => p.set(o.value)}
        >
          {o.label}
        </button>
      ))}
    </fieldset>
  );
}

/** The byte that a reader asks for: an offset, an element as [12], or an address as 0x7f...; undefined where it is none. */
export function wantedByte(
  text: string,
  object: MemoryObject,
  element: number,
): number | undefined {
  const asked = text.trim().replace(/[,_]/g, "");
  const index = /^\[\s*(\d+)\s*\]$/.exec(asked);
  if (index) return Number(index[1]) * element;
  const n = Number(asked.replace(/^\+/, ""));
  if (asked === "" || !Number.isFinite(n) || n < 0) return undefined;
  const base = object.base ?? 0;
  return /^0x/i.test(asked) && base > 0 && n >= base ? n - base : n;
}

/** Takes the reader to a place of the object; `go` is false where there is none of that name. */
export function GoTo({ go }: { go: (text: string) => boolean }) {
  const wrong = useSignal(false);
  return (
    <form
      class="goto"
      onSubmit={(e) => {
        e.preventDefault();
        wrong.value = !go(e.currentTarget.querySelector("input")?.value ?? "");
      }}
    >
      <input
        type="text"
        placeholder="offset, [element] or 0xaddress"
        aria-label="Go to an offset in bytes, an element as [12] or an address as 0x7f00"
        aria-invalid={wrong.value}
        size={26}
      />
      <button type="submit">Go</button>
    </form>
  );
}

/** More or fewer rows in sight. */
export function Zoom({ sight }: { sight: Sight }) {
  const level = sight.level.value;
  const last = sight.zooms.length - 1;
  return (
    <span class="zoom">
      <button type="button" onClick={() => sight.zoomBy(1)} disabled={level >= last}>
        <span aria-hidden="true">−</span>
        <span class="unseen">See more rows</span>
      </button>
      <button type="button" onClick={() => sight.zoomBy(-1)} disabled={level <= 0}>
        <span aria-hidden="true">+</span>
        <span class="unseen">See fewer rows</span>
      </button>
      <button type="button" onClick={() => sight.zoomTo(last)} disabled={level >= last}>
        all
      </button>
    </span>
  );
}
