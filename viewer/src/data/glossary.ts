/** A word of a report and what it means. */
export interface Term {
  section: string;
  term: string;
  means: string;
}

declare const GLOSSARY: Term[]; // from docs/terms.md, put here by build.mjs

/** Empty where a module is tested by itself. */
export const glossary: Term[] = typeof GLOSSARY === "undefined" ? [] : GLOSSARY;
