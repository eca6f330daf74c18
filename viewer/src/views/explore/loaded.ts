import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** A promise's value; the error where there is one. */
export function useLoaded<T>(
  make: () => Promise<T>,
  deps: unknown[],
): { value?: T; error?: string } {
  const state = useSignal<{ value?: T; error?: string }>({});
  useEffect(() => {
    let current = true;
    make().then(
      (value) => {
        if (current) state.value = { value };
      },
      (error: unknown) => {
        if (current)
          state.value = { error: error instanceof Error ? error.message : String(error) };
      },
    );
    return () => {
      current = false;
    };
  }, deps);
  return state.value;
}
