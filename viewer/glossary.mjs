// The words that a reader of a report meets, from docs/terms.md: [{ section, term, means }].
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../docs/terms.md");

// Sections that are for readers as a whole; of the others, the terms that reports use.
const WHOLE = ["What runs", "Memory", "Accesses and what they cost", "Profile, analysis, report"];
const ALSO = [
  "backend",
  "sampled block",
  "estimate",
  "replay",
  "repeat",
  "probe",
  "call stack, stack",
];

/** Markdown without its marks. */
const plain = (text) =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .trim();

function rows(section) {
  const [title, ...lines] = section.split("\n");
  return lines
    .filter((line) => /^\|(?!-|\s*term\s*\|)/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, 3)
        .map(plain),
    )
    .map(([term, means]) => ({ section: title.trim(), term, means }));
}

export function glossary() {
  const sections = readFileSync(PAGE, "utf8").split(/^## /m).slice(1);
  const all = sections.flatMap(rows);
  const found = (name) => all.some((t) => t.section === name || t.term === name);
  const missing = [...WHOLE, ...ALSO].filter((name) => !found(name));
  if (missing.length > 0) throw new Error(`docs/terms.md has no ${missing.join(", ")}`);
  return all.filter((t) => WHOLE.includes(t.section) || ALSO.includes(t.term));
}
