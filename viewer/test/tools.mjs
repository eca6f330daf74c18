// What the tests share: TypeScript made runnable, the page with a payload, a browser.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Ajv from "ajv";
import { build } from "esbuild";
import { PAYLOAD_MARK, page } from "../build.mjs";

export const viewer = join(dirname(fileURLToPath(import.meta.url)), "..");
export const fixtureFolder = join(viewer, "test/fixture");

/** A folder that goes when the process ends. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "warplens-viewer-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Imports a TypeScript module. */
export async function load(path, folder) {
  const out = join(folder, `${path.replace(/[^a-z0-9]/gi, "_")}.mjs`);
  await build({
    entryPoints: [join(viewer, path)],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: out,
    absWorkingDir: viewer,
    logLevel: "error",
  });
  return import(pathToFileURL(out).href);
}

/** A report on the fixture's data; `change` may alter them first. */
export async function report(folder, name, change = (data) => data) {
  const { fixture } = await load("test/fixture/index.ts", folder);
  const { encode } = await load("test/fixture/container.ts", folder);
  const data = change(fixture(fixtureFolder)) ?? {};
  const path = join(folder, `${name}.html`);
  writeFileSync(
    path,
    (await page()).replace(PAYLOAD_MARK, () => encode(data.payload, data.parts)),
  );
  return path;
}

const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

/** The browser's path, or undefined: then say so and skip. */
export function findBrowser() {
  const named = process.env.WARPLENS_BROWSER;
  if (named) return named;
  for (const name of BROWSERS) {
    for (const folder of (process.env.PATH ?? "").split(":")) {
      const path = join(folder, name);
      // Ubuntu's chromium is a door to a snap, which cannot open files outside the home folder.
      if (existsSync(path) && !isSnap(path)) return path;
    }
  }
  return undefined;
}

function isSnap(path) {
  try {
    return readFileSync(path, "latin1").slice(0, 4096).includes("/snap/");
  } catch {
    return false;
  }
}

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser's context with a fresh profile. */
export async function launch(executable, folder, options = {}) {
  const { chromium } = await import("playwright-core");
  const profile = mkdtempSync(join(folder, "profile-"));
  return chromium.launchPersistentContext(profile, {
    executablePath: executable,
    headless: true,
    args: ARGS,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
}

/** A function that checks values against a JSON schema. */
export const compileSchema = (schema) => new Ajv({ allErrors: true }).compile(schema);

/** Opens a file and notes everything that must not happen. */
export async function open(context, path, hash = "") {
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = [];
  page.on("console", (m) => {
    if (m.type() === "error" || m.type() === "warning") problems.push(`console: ${m.text()}`);
  });
  page.on("pageerror", (e) => problems.push(`error: ${e.message}`));
  page.on("dialog", (d) => {
    problems.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("request", (r) => {
    // The worker that unpacks heat maps is made of the page's own text.
    if (!/^(file:|data:|blob:null\/)/.test(r.url())) {
      problems.push(`request: ${r.url()}`);
    }
  });
  await page.goto(`${pathToFileURL(path).href}${hash}`);
  return { page, problems };
}
