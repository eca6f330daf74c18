import type { Ink } from "../heatmap/palette";

/** Colours of a page's theme that pictures of a course need. */
export interface CourseInk extends Ink {
  bg: string;
  used: string;
  usedSoft: string;
  waste: string;
  good: string;
  bad: string;
  select: string;
  launch: string;
  copy: string;
  sans: string;
}

export function courseInk(element: Element): CourseInk {
  const style = getComputedStyle(element);
  const get = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: get("--text"),
    muted: get("--muted"),
    line: get("--line"),
    empty: get("--empty"),
    accent: get("--accent"),
    bg: get("--bg"),
    used: get("--used"),
    usedSoft: get("--used-soft"),
    waste: get("--waste"),
    good: get("--good"),
    bad: get("--bad"),
    select: get("--select"),
    launch: get("--kw"),
    copy: get("--type"),
    sans: get("--sans"),
  };
}

/** A canvas as large as it is shown, in the device's pixels. */
export function prepared(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** Text that ends with an ellipsis where there is no room for all of it. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let length = Math.max(1, Math.floor((text.length * room) / context.measureText(text).width));
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}

// Of Okabe and Ito's and Tol's colours: told apart with any kind of colour blindness, neighbours above all.
const KERNEL_COLORS = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#e69f00",
  "#882255",
  "#999933",
  "#44aa99",
  "#aa4499",
];

export const kernelColor = (index: number): string =>
  KERNEL_COLORS[index % KERNEL_COLORS.length] as string;
