// Presses every control of every page of a report, in light and in dark: nothing may fail, and each control has a name.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findBrowser, launch, open, report, scratch, shows } from "../../viewer/test/tools.mjs";

const PAGES = ["#overview", "#finding/1", "#finding/2", "#kernel/1", "#kernel/2", "#object/1", "#object/2", "#object/8", "#memory", "#glossary",
  "#file/1", "#explore", "#explore/2?beside=1", "#explore/2?block=37", "#explore/2?block=37&warp=2", "#explore/2?block=37&warp=2&step=3"];
const MOST = 400; // controls of a page: more of them would be no end

const folder = scratch();
let path;

before(async () => {
  path = await report(folder, "controls");
});

/** In the page: the first visible control that is not in `pressed` is used, each in its own way; its key, or null. */
function pressNext(pressed) {
  const seen = new Map();
  const nameOf = (e) =>
    (e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || e.title || e.tagName).trim().slice(0, 80);
  const use = (e) => {
    if (e.matches("select")) {
      for (const option of [...e.options].reverse()) {
        e.value = option.value;
        e.dispatchEvent(new Event("change", { bubbles: true }));
      }
    } else if (e.matches("input[type=range]")) {
      for (const value of [e.min, e.max]) {
        e.value = value;
        e.dispatchEvent(new Event("input", { bubbles: true }));
      }
    } else if (e.matches("input[type=search], input[type=text], input:not([type])")) {
      for (const value of ["a", "no such thing", ""]) {
        e.value = value;
        e.dispatchEvent(new Event("input", { bubbles: true }));
      }
    } else if (e.matches("[role=application], [tabindex]:not(a, button, input, select)")) {
      e.focus();
      for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End", "+", "-", "0", "r", "Enter"])
        e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    } else if (!e.matches("input[type=file]")) e.click();
  };
  for (const e of document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")) {
    if (e.tabIndex < 0 || e.disabled || !e.checkVisibility()) continue;
    const base = `${e.tagName} ${nameOf(e)}`;
    const nth = (seen.get(base) ?? 0) + 1;
    seen.set(base, nth);
    const key = `${base} ${nth}`;
    if (pressed.includes(key)) continue;
    use(e);
    return key;
  }
  return null;
}

const ROLES = ["button", "link", "combobox", "slider", "checkbox", "radio", "textbox", "searchbox", "tab", "menuitem", "application",
  "DisclosureTriangle", "spinbutton", "option", "switch"];

/** Controls, as a screen reader is told of them, that have no name. */
async function nameless(session) {
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const controls = nodes.filter((n) => !n.ignored && ROLES.includes(n.role?.value));
  assert.ok(controls.length > 0);
  return controls.filter((n) => !n.name?.value?.trim()).map((n) => `${n.role.value} ${JSON.stringify(n.properties)}`);
}

/** What tells that controls have come or gone. */
const controlsOf = (page) =>
  page.evaluate(() => document.querySelectorAll("a, button, input, select, option, summary, [role], [tabindex]").length);

const settled = (page) =>
  page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 0)))));

async function pressAll(context, hash) {
  const { page, problems } = await open(context, path, hash);
  await shows(page, hash);
  const session = await page.context().newCDPSession(page);
  await page.waitForFunction(() => !document.querySelector(".explore") || document.querySelector(".explore [tabindex='0'], .empty"));
  const pressed = [];
  const known = new Set([await controlsOf(page)]);
  assert.deepEqual(await nameless(session), [], hash);
  for (;;) {
    const key = await page.evaluate(pressNext, pressed);
    if (key === null) break;
    pressed.push(key);
    assert.ok(pressed.length < MOST, `${hash} has no end of controls`);
    await settled(page);
    assert.deepEqual(problems, [], `${hash}: ${key}`);
    const controls = await controlsOf(page);
    if (!known.has(controls)) assert.deepEqual(await nameless(session), [], `${hash}: after ${key}`);
    known.add(controls);
    await page.evaluate((to) => {
      document.querySelector("dialog[open]")?.close();
      if (location.hash !== to) location.hash = to;
    }, hash);
    await shows(page, hash);
    await settled(page);
  }
  assert.ok(pressed.length > 8, `${hash} has only ${pressed.length} controls`);
  assert.ok(await page.locator("main").isVisible());
  assert.deepEqual(problems, []);
  await page.close();
  return pressed.length;
}

for (const colorScheme of ["light", "dark"])
  test(`every control of every page, ${colorScheme}`, async (t) => {
    const context = await launch(findBrowser(), folder, { colorScheme });
    after(() => context.close());
    for (const hash of PAGES) t.diagnostic(`${hash}: ${await pressAll(context, hash)} controls`);
  });
