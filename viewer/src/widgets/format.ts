const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 1,234 up to 9,999, then 12.3K, 1.05M. */
export const count = (n: number): string =>
  Math.abs(n) < 10000 ? plain.format(n) : compact.format(n);

export const exact = (n: number): string => plain.format(n);

export function ratio(n: number): string {
  return n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2);
}

/** A ratio of which small ones matter, too: 0.016. */
export const intensity = (n: number): string => (n > 0 && n < 0.1 ? n.toPrecision(2) : ratio(n));

export function percent(share: number): string {
  const value = share * 100;
  // The number and its sign stay on one line.
  if (value > 0 && value < 0.1) return "<\u00a00.1\u00a0%";
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1)}\u00a0%`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(n: number): string {
  let value = n;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

export function seconds(s: number): string {
  if (s < 1e-3) return `${(s * 1e6).toPrecision(3)} µs`;
  if (s < 1) return `${(s * 1e3).toPrecision(3)} ms`;
  return `${s.toPrecision(3)} s`;
}

const RATES = ["", "k", "M", "G", "T", "P", "E"];

/** A rate, or an amount, in powers of 1,000, ready for its unit: "4.33 T", "602 G". */
export function rate(n: number): string {
  let value = n;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < RATES.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))}\u00a0${RATES[unit]}`;
}

export const dim = (d: readonly number[]): string => {
  const [x = 1, y = 1, z = 1] = d;
  if (z > 1) return `${exact(x)} × ${exact(y)} × ${exact(z)}`;
  return y > 1 ? `${exact(x)} × ${exact(y)}` : exact(x);
};

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${exact(n)} ${n === 1 ? one : many}`;

/** "16 × 16 blocks of 256 threads" */
export const shapeOf = (grid: readonly number[], block: readonly number[]): string =>
  `${dim(grid)} ${dim(grid) === "1" ? "block" : "blocks"} of ${dim(block)} ${dim(block) === "1" ? "thread" : "threads"}`;

/** Shortened in the middle, where long C++ names differ least. */
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A value of the evidence: whole numbers with separators, others with three digits that count. */
export function quantity(value: number, unit: string): string {
  const text = Number.isInteger(value)
    ? exact(value)
    : Math.abs(value) >= 1000
      ? exact(Math.round(value))
      : String(Number(value.toPrecision(3)));
  if (!unit) return text;
  return `${text} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}
