import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const KEY = "warplens-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

// A file opened from disk may have no storage; the switch then lasts as long as the page.
function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  }
}

function store(theme: Theme): void {
  try {
    if (theme === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // as above
  }
}

export const theme = signal<Theme>(stored());
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemDark.value = dark.matches;
});

/** On paper: all that is asked for must stand there, since nothing scrolls. */
export const printing = signal(false);

const slim = matchMedia("(max-width: 900px)");

/** The window is so narrow that columns stand below each other: as in narrow.css. */
export const narrow = signal(slim.matches);
slim.addEventListener("change", () => {
  narrow.value = slim.matches;
});

addEventListener("beforeprint", () => {
  printing.value = true;
});
addEventListener("afterprint", () => {
  printing.value = false;
});

/** What is shown, light on paper: canvases read it so that they are drawn again when it changes. */
export const shown = signal<"light" | "dark">("light");

effect(() => {
  const wanted = theme.value === "auto" ? (systemDark.value ? "dark" : "light") : theme.value;
  shown.value = printing.value ? "light" : wanted;
  document.documentElement.dataset.theme = shown.value;
});

/** To the other one; back to the system's choice where that is the same. */
export function toggleTheme(): void {
  const wanted = shown.value === "dark" ? "light" : "dark";
  theme.value = (wanted === "dark") === systemDark.value ? "auto" : wanted;
  store(theme.value);
}
