import { useEffect } from "preact/hooks";
import { up } from "./where";

/** Once a level stands, keys go to it, unless the reader is somewhere else. */
export function Focus() {
  useEffect(() => {
    let frame = 0;
    const look = () => {
      const level = document.querySelector<HTMLElement>(".exploremain .level [tabindex='0']");
      if (!level) frame = requestAnimationFrame(look);
      else if (document.activeElement === document.body) level.focus({ preventScroll: true });
    };
    look();
    return () => cancelAnimationFrame(frame);
  }, []);
  return null;
}

/** Esc and backspace go one level up, wherever the focus is. */
export function useUpKeys(on: boolean): void {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLElement && e.target.matches("input, select");
      const wanted = e.key === "Escape" || e.key === "Backspace";
      if (!wanted || !on || typing || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      up();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [on]);
}
