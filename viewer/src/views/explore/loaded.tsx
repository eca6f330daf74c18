import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Loaded<T> {
  value?: T;
  error?: string;
  again?: () => void; // after an error
}

/** A promise's value; the error where there is one. */
export function useLoaded<T>(make: () => Promise<T>, deps: unknown[]): Loaded<T> {
  const state = useSignal<Loaded<T>>({});
  const tries = useSignal(0);
  const again = () => {
    state.value = {};
    tries.value++;
  };
  useEffect(() => {
    let current = true;
    make().then(
      (value) => {
        if (current) state.value = { value };
      },
      (error: unknown) => {
        if (current)
          state.value = { error: error instanceof Error ? error.message : String(error), again };
      },
    );
    return () => {
      current = false;
    };
  }, [...deps, tries.value]);
  return state.value;
}

/** What went wrong, and what can be done about it. */
export function Failed({ error, again }: Loaded<unknown>) {
  return (
    <div class="failed" role="alert">
      <p class="hint">{error}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}
