import type { Kernel } from "../data/payload";
import { count, percent } from "../widgets/format";

// Classes in an order and colours of their own (Okabe and Ito's), the same in every report.
const CLASSES: Record<string, { label: string; color: string }> = {
  memory: { label: "memory", color: "#d55e00" },
  atomic: { label: "atomics", color: "#e69f00" },
  int: { label: "integer", color: "#56b4e9" },
  fp32: { label: "fp32", color: "#0072b2" },
  fp64: { label: "fp64", color: "#004b76" },
  half: { label: "half", color: "#5f8fb8" },
  tensor: { label: "tensor", color: "#332288" },
  sfu: { label: "special functions", color: "#117733" },
  convert: { label: "conversions", color: "#009e73" },
  compare: { label: "comparisons", color: "#8fd9c0" },
  move: { label: "moves", color: "#b8c4cc" },
  control: { label: "control flow", color: "#cc79a7" },
  sync: { label: "barriers", color: "#882255" },
  warp: { label: "shuffles, votes", color: "#f0e442" },
};

interface Part {
  key: string;
  label: string;
  color: string;
  n: number;
}

function parts(k: Kernel): Part[] {
  const order = Object.keys(CLASSES);
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...k.mix]
    .sort((a, b) => rank(a.class) - rank(b.class))
    .map(({ class: key, instructions: n }) => ({
      key,
      n,
      label: CLASSES[key]?.label ?? key,
      color: CLASSES[key]?.color ?? "#888888",
    }));
}

/** What the warps of a kernel executed, as a bar and in numbers. */
export function MixPicture({ k }: { k: Kernel }) {
  const all = parts(k);
  const sum = all.reduce((s, p) => s + p.n, 0);
  if (sum === 0) return null;
  const text = all.map((p) => `${p.label} ${percent(p.n / sum)}`).join(", ");
  return (
    <figure class="mix">
      <div class="mixbar" role="img" aria-label={text}>
        {all.map((p) => (
          <span
            key={p.key}
            style={{ flexGrow: p.n, background: p.color }}
            title={`${p.label}: ${count(p.n)}`}
          />
        ))}
      </div>
      <figcaption>
        <ul class="tight mixlist">
          {all.map((p) => (
            <li key={p.key}>
              <span class="swatch" style={{ background: p.color }} /> {p.label}{" "}
              <b class="num">{percent(p.n / sum)}</b>
            </li>
          ))}
        </ul>
        <span class="muted">{count(sum)} warp instructions</span>
      </figcaption>
    </figure>
  );
}
