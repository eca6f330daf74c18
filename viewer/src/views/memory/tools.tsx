import { bytes, exact } from "../../widgets/format";
import { kernelColor } from "../../widgets/timeline/paint";
import { KernelName } from "../names";
import { ALL, type Colour, type MemoryState, type Narrowing, type Order } from "./state";

const SIZES = [0, 2 ** 10, 2 ** 20, 2 ** 24, 2 ** 28, 2 ** 30];

/** Which objects are listed, in which order. */
export function FilterTools({ s }: { s: MemoryState }) {
  const { text, pattern, atPeak, least } = s.narrowing.value;
  const change = (part: Partial<Narrowing>) => {
    s.narrowing.value = { ...s.narrowing.peek(), ...part };
  };
  const all = s.all;
  const patterns = [...new Set(all.flatMap((o) => [...s.patternsOf(o)]))].sort();
  const shown = s.rows.value.length;
  return (
    <form class="memtools" onSubmit={(e) => e.preventDefault()}>
      <input
        type="search"
        placeholder="name or file:line"
        aria-label="Show only objects with this in their name or place"
        value={text}
        onInput={(e) => change({ text: e.currentTarget.value })}
      />
      <select
        aria-label="Show only objects with this pattern"
        value={pattern}
        onChange={(e) => change({ pattern: e.currentTarget.value })}
      >
        <option value="">any pattern</option>
        {patterns.map((p) => (
          <option key={p} value={p}>
            {p}
          </option>
        ))}
      </select>
      <select
        aria-label="Show only objects of this size or more"
        value={least}
        onChange={(e) => change({ least: Number(e.currentTarget.value) })}
      >
        {SIZES.map((size) => (
          <option key={size} value={size}>
            {size === 0 ? "any size" : `≥ ${bytes(size)}`}
          </option>
        ))}
      </select>
      <select
        aria-label="Order of the objects"
        value={s.order.value}
        onChange={(e) => {
          s.order.value = e.currentTarget.value as Order;
        }}
      >
        <option value="size">largest first</option>
        <option value="begin">as allocated</option>
        <option value="saving">what saves most first</option>
      </select>
      <label>
        <input
          type="checkbox"
          checked={atPeak}
          onChange={(e) => change({ atPeak: e.currentTarget.checked })}
        />{" "}
        at the peak only
      </label>
      <span class="muted small">
        {exact(shown)} of {exact(all.length)} objects{" "}
        {shown < all.length && (
          <button type="button" class="plainlink" onClick={() => change(ALL)}>
            show all
          </button>
        )}
      </span>
    </form>
  );
}

/** What of the course is in sight, and how it is drawn. */
export function SightTools({ s }: { s: MemoryState }) {
  const axis = s.axis.value;
  const { zoom } = axis;
  return (
    <p class="memtools">
      <span class="zoomers">
        <button type="button" aria-label="Zoom in" onClick={() => axis.zoomBy(2)}>
          +
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          disabled={zoom <= 1}
          onClick={() => axis.zoomBy(-2)}
        >
          −
        </button>
        <button type="button" disabled={zoom <= 1} onClick={() => axis.showAll()}>
          all
        </button>
        <button type="button" disabled={s.now.peak === 0} onClick={() => s.toPeak()}>
          peak
        </button>
      </span>
      <select
        aria-label="What the axis shows"
        value={s.byTime.value ? "time" : "calls"}
        disabled={!s.d.ops.timed}
        title={s.d.ops.timed ? undefined : "The times of some calls are not known"}
        onChange={(e) => {
          s.byTime.value = e.currentTarget.value === "time";
        }}
      >
        <option value="calls">call after call</option>
        <option value="time">by the host’s time</option>
      </select>
      <select
        aria-label="What colours show"
        value={s.colour.value}
        onChange={(e) => {
          s.colour.value = e.currentTarget.value as Colour;
        }}
      >
        <option value="how">reads and writes</option>
        <option value="kernel">kernels</option>
      </select>
    </p>
  );
}

const MOST_KERNELS = 10;

function Key({ style, children }: { style: string; children: string }) {
  return (
    <span class="key">
      <span class={`swatch ${style}`} />
      {children}
    </span>
  );
}

export function Legend({ s }: { s: MemoryState }) {
  const byKernel = s.colour.value === "kernel";
  return (
    <p class="memlegend small muted">
      <Key style="launch">launch</Key>
      <Key style="copied">copy, set</Key>
      <Key style="host">allocation, free</Key>
      <Key style="idle">allocated</Key>
      <Key style="inuse">first to last access</Key>
      {!byKernel && <Key style="read">read</Key>}
      {!byKernel && <Key style="written">written</Key>}
      {byKernel &&
        s.kernels.slice(0, MOST_KERNELS).map((k, i) => (
          <span key={k} class="key">
            <span class="swatch" style={{ background: kernelColor(i) }} />
            <KernelName m={s.m} id={k} most={24} />
          </span>
        ))}
      {byKernel && s.kernels.length > MOST_KERNELS && (
        <span>… {exact(s.kernels.length - MOST_KERNELS)} more, colours come again</span>
      )}
      <Key style="dot">in use at the peak</Key>
      {s.d.lives.ended.includes(2) && <Key style="leak">never freed</Key>}
      <Key style="gone">goes with what is ticked</Key>
    </p>
  );
}
