import { computed, signal } from "@preact/signals";

import { parseRoute, type Route } from "./address";

export { findingHref, href, type Route, type View } from "./address";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** Where a report opens: at its first finding, or at the overview when there is none. */
export const home = signal<Route>({ view: "overview", id: undefined, query: {} });
export const route = computed(() => parseRoute(hash.value) ?? home.value);

export function go(to: string): void {
  location.hash = to;
  hash.value = location.hash; // the event comes later, and the next key may not wait for it
}

/** Changes the address without a new step in the history. */
export function replace(to: string): void {
  history.replaceState(null, "", to);
  hash.value = location.hash;
}
