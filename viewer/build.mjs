// Builds the report's page as one HTML file with a mark where the data go: node build.mjs [--out FILE]
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { glossary } from "./glossary.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const PAYLOAD_MARK = "@PAYLOAD@";
const CONNECTS = "connect-src 'none'"; // src/report/html.c has it say 'self' where a server gives the page
const MOST_BYTES = 500_000;

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome110", "firefox113", "safari16.4"],
    charset: "ascii",
    legalComments: "none",
    absWorkingDir: here,
    ...options,
    define: { "process.env.NODE_ENV": '"production"', ...options.define },
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function place(html, mark, text) {
  if (html.split(mark).length !== 2) throw new Error(`${mark} is not there exactly once`);
  return html.replace(mark, () => text);
}

/** The page, with @PAYLOAD@ still in it. */
export async function page() {
  const worker = await bundle("src/worker/main.ts", {});
  const script = await bundle("src/main.tsx", {
    define: { WORKER_SOURCE: JSON.stringify(worker), GLOSSARY: JSON.stringify(glossary()) },
  });
  const style = await bundle("src/style.css", { loader: { ".css": "css" } });
  if (/<\/?(script|style|!--)/i.test(script + style))
    throw new Error("the bundle would end its own element");
  if (script.includes(PAYLOAD_MARK)) throw new Error("the bundle holds the mark of the payload");
  let html = readFileSync(join(here, "src/index.html"), "utf8");
  html = place(html, "@SCRIPT_HASH@", hash(script));
  html = place(html, "@STYLE_HASH@", hash(style));
  html = place(html, "@STYLE@", style);
  html = place(html, "@SCRIPT@", script);
  if (html.split(CONNECTS).length !== 2) throw new Error(`${CONNECTS} is not there exactly once`);
  if (html.length > MOST_BYTES)
    throw new Error(`the page has ${html.length} bytes: more than ${MOST_BYTES}`);
  return html;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const at = process.argv.indexOf("--out");
  const out = at > 0 ? process.argv[at + 1] : join(here, "dist/viewer.html");
  const html = await page();
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, html);
  console.log(`${out}: ${html.length} bytes`);
}
