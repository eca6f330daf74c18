// The explorer from the server of `warplens explore`: launches come when they are opened, of one profile and of two; and what
// is said where they do not come. WARPLENS is the command, WARPLENS_DEMO the program (examples/transpose_demo).
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { becomes, eventually, findBrowser, launch, open, placeOf, scratch, sees, shows, viewer } from "../../viewer/test/tools.mjs";

const folder = scratch();
const profile = join(folder, "demo.wlprof");
const other = join(folder, "other.wlprof");
const rows = join(folder, "rows.wlprof"); // what a GPU recorded: paths of launches 1 and 3, of all three the steps of seven blocks
const running = new Set();
let context;

before(async () => {
  const run = ["profile", "--backend", "emulate", "--set", "sequences", "-q", "-o", profile, "--", process.env.WARPLENS_DEMO];
  execFileSync(process.env.WARPLENS, run, { cwd: join(viewer, ".."), stdio: "ignore" });
  copyFileSync(profile, other);
  mkdirSync(join(folder, "captures"));
  copyFileSync(join(viewer, "../tests/golden/gpu/rows.wlcap"), join(folder, "captures/rows.wlcap"));
  execFileSync(process.env.WARPLENS, ["import", "-q", "-o", rows, join(folder, "captures")], {
    env: { ...process.env, WARPLENS_SET: "sequences", WARPLENS_REPLAY_BUDGET: "none" },
    stdio: "ignore",
  });
  context = await launch(findBrowser(), folder, { colorScheme: "light" });
});
after(async () => {
  await context?.close();
  for (const server of running) server.kill("SIGKILL");
});

/** A server, once it has printed its address. */
async function serve(...args) {
  const server = spawn(process.env.WARPLENS, ["explore", "--serve", "--no-open", ...args], { stdio: ["ignore", "pipe", "ignore"] });
  running.add(server);
  const [url] = await once(createInterface(server.stdout), "line");
  return { server, url };
}

async function end(server) {
  server.kill("SIGINT");
  const [status] = await once(server, "exit");
  running.delete(server);
  assert.equal(status, 0);
}

/** What pages ask the server for from now on. */
function launchesAsked(url) {
  const asked = [];
  context.on("request", (r) => r.url().startsWith(`${url}launch/`) && asked.push(r.url().replace(url, "")));
  return asked;
}

const drawn = (page, figure = "figure") => page.waitForSelector(`${figure} .gridcanvas[data-drawn]`);

/** Clicks a grid's first block, then its first warp and an operation. */
async function descend(page, figure) {
  const box = await placeOf(page, `${figure} .gridcanvas`);
  await page.mouse.click(box.x + 50, box.y + 34);
  await sees(page, ".levels", /^Grid › block \(0, 0\)/);
  await page.waitForSelector(".blockcanvas");
  const warps = await placeOf(page, ".blockcanvas");
  await page.mouse.click(warps.x + 70, warps.y + 60);
  await sees(page, ".levels", /› warp 0/);
  await sees(page, ".warpview", /Warp 0 executes \d+ operations/);
  await page.click(".openstep");
  await sees(page, ".operationview", /Operation \d+ of \d+/);
}

test("from the grid to an operation, and to another launch", async () => {
  const { server, url } = await serve(profile);
  const asked = launchesAsked(url);
  const { page, problems } = await open(context, url);
  await shows(page, "");
  await drawn(page);
  await descend(page, "figure");
  await becomes(() => page.locator(".explorecode a").count(), 1); // the source is there, and its file is in the report
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  await drawn(page);
  const launches = await page.locator("select >> nth=0").locator("option").evaluateAll((all) => all.map((o) => o.value));
  assert.ok(launches.length > 1);
  for (const id of launches) {
    await page.selectOption("select >> nth=0", id);
    await drawn(page);
    await eventually(async () => assert.match(await page.evaluate(() => location.hash), new RegExp(`^#explore/${id}`)));
  }
  await page.selectOption("select >> nth=0", launches[0]);
  await drawn(page);
  assert.deepEqual([...asked].sort(), launches.map((id) => `launch/0/${id}`).sort()); // each once
  assert.deepEqual(problems, []);
  await page.close();
  await end(server);
});

test("two profiles side by side: both open down to an operation", async () => {
  const { server, url } = await serve(profile, other);
  const right = "figure:nth-of-type(2)";
  const asked = launchesAsked(url);
  const { page, problems } = await open(context, url);
  await shows(page, "");
  await drawn(page, right);
  assert.deepEqual(asked, ["launch/0/2", "launch/1/2"]);
  await sees(page, "figcaption >> nth=0", /launch 2 of demo\.wlprof/);
  await sees(page, "figcaption >> nth=1", /launch 2 of other\.wlprof/);
  await sees(page, `${right} .rep`, /block \(0, 0\) of launch 2 at the left/);
  // The representative is chosen at either side: first for both, then for the right one alone.
  await page.focus("figure:nth-of-type(1) .gridbox");
  for (const key of ["ArrowRight", "ArrowRight", "r"]) await page.keyboard.press(key);
  await sees(page, "figure:nth-of-type(1) .rep", /block \(1, 0\) \(your choice\)/);
  await sees(page, `${right} .rep`, /block \(1, 0\) of launch 2 at the left/);
  await page.focus(`${right} .gridbox`);
  for (const key of ["ArrowDown", "ArrowDown", "r"]) await page.keyboard.press(key);
  await sees(page, `${right} .rep`, /\(your choice\)/);
  await page.click(`${right} .rep >> text=Choose by itself`);
  await sees(page, `${right} .rep`, /at the left/);
  await descend(page, right);
  await sees(page, ".levels", /of .*launch 2 of other\.wlprof/);
  await page.click(".across button"); // the same operation of the other launch
  await sees(page, ".levels", /of .*launch 2 of demo\.wlprof/);
  await sees(page, ".operationview", /Operation \d+ of \d+/);
  assert.deepEqual(problems, []);
  // An address holds all of it.
  const hash = await page.evaluate(() => location.hash);
  const again = await open(context, url, hash);
  await sees(again.page, ".levels", /of .*launch 2 of demo\.wlprof/);
  await sees(again.page, ".operationview", /Operation \d+ of \d+/);
  assert.deepEqual(again.problems, []);
  await again.page.close();
  await page.close();
  await end(server);
});

test("launches of which paths are known, and what leads from there to steps, alone and with another profile", async () => {
  for (const profiles of [[rows], [rows, profile]]) {
    const { server, url } = await serve(...profiles);
    const { page, problems } = await open(context, url, "#explore/1");
    await drawn(page);
    await sees(page, ".known", /hash of its path is known.*except of 7 blocks/s);
    await sees(page, ".outliers", /32 warps took 15 paths/);
    for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    await page.waitForSelector(".blockcanvas");
    await sees(page, ".known", /requests of 7 of its 16 blocks were traced/);
    await sees(page, ".levels", profiles.length > 1 ? /of .*launch 1 of rows\.wlprof/ : /^Grid › block 1$/);
    await page.keyboard.press("Escape");
    await sees(page, ".known", /hash of its path is known/);
    await page.selectOption("select >> nth=0", "2"); // there, nothing is known but steps
    await drawn(page);
    await sees(page, ".known", /requests of 7 of its 16 blocks were traced/);
    await becomes(() => page.locator("figure").count(), profiles.length);
    assert.deepEqual(problems, []);
    await page.close();
    await end(server);
  }
});

test("where no answer comes, the page says what to do", async () => {
  const first = await serve(profile);
  const { page } = await open(context, first.url);
  await drawn(page);
  const launches = await page.locator("select >> nth=0").locator("option").evaluateAll((all) => all.map((o) => o.value));
  await end(first.server);
  await page.selectOption("select >> nth=0", launches[1]);
  await sees(page, ".failed", /Nothing answers at 127\.0\.0\.1:\d+.*start it again with the same arguments/);
  await page.selectOption("select >> nth=0", launches[0]); // what came before is there still
  await drawn(page);
  await page.selectOption("select >> nth=0", launches[1]);
  await sees(page, ".failed", /Nothing answers/);
  // Another server at the same port has another token.
  const second = await serve("--port", new URL(first.url).port, profile);
  await page.click("text=Try again");
  await sees(page, ".failed", /not the address that warplens explore printed/);
  await page.goto(`${second.url}#explore/${launches[1]}`);
  await drawn(page);
  await end(second.server);
  await page.close();
});

test("a launch that fails beside another leaves that one where it is", async () => {
  const { server, url } = await serve(profile, other);
  const { page } = await open(context, url);
  await drawn(page, "figure:nth-of-type(2)");
  await end(server);
  await page.selectOption("select >> nth=1", "other-1");
  await sees(page, "figure:nth-of-type(2) .failed", /Nothing answers/);
  await drawn(page, "figure:nth-of-type(1)");
  await page.close();
});
