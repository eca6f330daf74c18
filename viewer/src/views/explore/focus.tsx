import { useEffect } from "preact/hooks";

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
