import type { Finding, Payload } from "../data/payload";

/** Where the reader is, kept in the address behind "#", so that links, back and forward work:
 * #finding/3?place=2, #kernel/2, #object/5?map=1,2, #file/1. */
export const VIEWS = [
  "finding",
  "kernel",
  "object",
  "memory",
  "overview",
  "explore",
  "file",
  "glossary",
] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  id: number | undefined;
  query: Record<string, string>;
}

export function parseRoute(hash: string): Route | undefined {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?");
  const [view, id] = path.split("/");
  if (!(VIEWS as readonly string[]).includes(view ?? "")) return undefined;
  const number = Number.parseInt(id ?? "", 10);
  return {
    view: view as View,
    id: Number.isFinite(number) ? number : undefined,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function href(view: View, id?: number, query: Record<string, string | number> = {}): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([key, value]) => [key, String(value)]),
  )
    .toString()
    .replaceAll("%2C", ",");
  return `#${view}${id === undefined ? "" : `/${id}`}${text ? `?${text}` : ""}`;
}

/** The finding among those of its group, which has one number. */
export function findingHref(payload: Payload, f: Finding): string {
  const place = payload.findings.indexOf(f) - (payload.groups[f.number - 1]?.first ?? 0) + 1;
  return href("finding", f.number, place > 1 ? { place } : {});
}
