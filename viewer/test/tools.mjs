// What the tests share: TypeScript made runnable, the page with a payload, a browser.
import assert from "node:assert/strict";
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

/** A page of the views of one warp, on warps made by hand. */
export async function warpPage(folder) {
  const { stories } = await load("test/fixture/warps.ts", folder);
  const { pack } = await load("test/fixture/container.ts", folder);
  const packed = (story) => pack(Buffer.from(JSON.stringify(story.code), "utf8"));
  const code = Object.fromEntries(stories().map((story) => [story.name, packed(story)]));
  const bundled = async (entry, define = {}) => {
    const options = { bundle: true, write: false, absWorkingDir: viewer, logLevel: "error" };
    const result = await build({ ...options, entryPoints: [join(viewer, entry)], define });
    return result.outputFiles[0].text;
  };
  const script = await bundled("test/fixture/warppage.tsx", {
    CODE: JSON.stringify(code),
    GLOSSARY: "[]",
    WORKER_SOURCE: '""',
  });
  const path = join(folder, "warps.html");
  const style = await bundled("src/style.css");
  writeFileSync(
    path,
    `<!doctype html><meta charset="utf-8"><title>Warps</title><style>${style}</style><div id="app"></div><script>${script.replaceAll("</script", "<\\/script")}</script>`,
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

// After so long what is waited for does not come: no machine is so busy.
const PATIENCE_MS = 60_000;

/** Waits until `check` throws nothing: what clicks, keys and links do takes a moment, and longer on a busy machine. */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((go) => setTimeout(go, 20));
    }
  }
}

/** What is read comes to be what is expected. */
export const becomes = (read, expected) =>
  eventually(async () => assert.deepEqual(await read(), expected));

/** The first element of that kind comes to read like the pattern. */
export const sees = (page, selector, pattern) =>
  eventually(async () => {
    const text = await page.locator(selector).first().innerText({ timeout: 1000 });
    assert.match(text, pattern);
  });

/** Where an element is, when it moves no more. */
export async function placeOf(page, selector) {
  const read = () => page.locator(selector).first().boundingBox();
  let last = await read();
  await eventually(async () => {
    const [before, now] = [last, await read()];
    last = now;
    assert.ok(now);
    assert.deepEqual(now, before);
  });
  return last;
}

/** The report shows what the address says, and listens to keys. */
export async function shows(page, hash) {
  const [view, id = ""] = hash.slice(1).split("?")[0].split("/");
  await page.waitForSelector(hash ? `body[data-view="${view} ${id}"]` : "body[data-view]");
}

/** A function that checks values against a JSON schema. */
export const compileSchema = (schema) => new Ajv({ allErrors: true }).compile(schema);

/** Opens a file, or the address of a server, and notes everything that must not happen. */
export async function open(context, path, hash = "") {
  const served = path.startsWith("http:");
  const url = served ? path : pathToFileURL(path).href;
  const own = served
    ? [url, `blob:${new URL(url).origin}/`, "data:"]
    : ["file:", "data:", "blob:null/"];
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
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
    if (!own.some((start) => r.url().startsWith(start))) {
      problems.push(`request: ${r.url()}`);
    }
  });
  await page.goto(`${url}${hash}`);
  return { page, problems };
}
