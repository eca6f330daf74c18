// The view of memory in a real browser. Exit status 77 where there is no browser: skipped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { becomes, eventually, placeOf, report, sees, shows } from "../../viewer/test/tools.mjs";
import { folder, visit, counts, has } from "./page.mjs";

test("memory shows its peak, what the plan saves, and objects with the largest first", () =>
  visit("#memory", async (page) => {
    await sees(page, "h1", /^5 MiB at the peak, 4 MiB with the plan$/);
    await sees(page, ".peaks", /With the plan\s+4 MiB, 20\s%\s+less/);
    await sees(page, ".memtools >> nth=1", /7 of 7 objects/);
    await sees(page, ".changes li >> nth=0", /long before[^]*particles[^]*Step 1 of the plan\. Saves 1 MiB of the plan/);
    await counts(page, ".selected", 0);
  }));

test("an allocation that failed stands before the curve, with what was in use then", () =>
  visit("#memory", async (page) => {
    await sees(page, ".failed", /cudaMalloc \(demo\.cu:64\) failed: it asked for 8 MiB when 3 MiB of 140 GiB were free/);
    await page.click("text=Tick the plan");
    await sees(page, ".failed", /With what is ticked 6 MiB would have been free, still too little/);
    await page.click(".failed >> text=what was in use");
    await sees(page, ".selected .facts", /memory in use after it\s+5 MiB/);
    await page.click(".zoomers >> text=peak");
    await sees(page, ".selected .facts", /order \(demo\.cu:65\)/);
  }));

test("what is ticked is replayed: the peak follows", () =>
  visit("#memory", async (page) => {
    const ticked = (text) => sees(page, ".peaks dd >> nth=2", text);
    await ticked(/^nothing is$/);
    await page.check(".changes li >> nth=0 >> input");
    await ticked(/^5 MiB$/);
    await page.check(".changes li >> nth=1 >> input");
    await ticked(/^4 MiB, 20\s%\s+less$/);
    await page.click("text=Untick all");
    await ticked(/^nothing is$/);
    await page.click("text=Tick the plan");
    await ticked(/^4 MiB/);
    await counts(page, ".changes input:checked", 2);
  }));

test("an object of memory tells where it is allocated, who uses it and what was found", () =>
  visit("#memory/6", async (page) => {
    await sees(page, ".selected h2", /particles/);
    await sees(page, ".selected", /2 MiB, 40\s%\s+of the peak/);
    await sees(page, ".selected .facts", /allocation at demo\.cu:64/);
    await sees(page, ".found", /Allocated 8 calls before its first use, the set at demo\.cu:68/);
    await sees(page, ".found", /What the set at demo\.cu:68 writes is replaced unread/);
    await sees(page, ".users", /copies and sets\s+0\s+2/);
    await sees(page, ".callpath", /cudaMalloc\s+allocate demo\.cu:50\s+main demo\.cu:59/);
    await page.click(".selected .facts >> text=/^set at/");
    await sees(page, ".selected", /Accesses\s+writes particles/);
    await sees(page, ".selected .facts", /memory in use after it\s+5 MiB/);
    await page.click(".selected .close");
    await counts(page, ".selected", 0);
  }));

test("memory is moved about in by keys", () =>
  visit("#memory", async (page) => {
    await page.waitForSelector(".livesbox canvas");
    await page.focus(".livesbox");
    await page.keyboard.press("ArrowDown");
    await sees(page, ".selected h2", /particles/);
    await page.keyboard.press("End");
    await sees(page, ".selected h2", /order/);
    await sees(page, ".selected .facts", /never freed/);
    await page.focus(".curvebox");
    await page.keyboard.press("p");
    await sees(page, ".selected h2", /^allocation$/);
    await sees(page, ".selected .facts", /order \(demo\.cu:65\)/);
    await page.keyboard.press("ArrowRight");
    await sees(page, ".selected h2", /^copy$/);
    await has(page, 'button[aria-label="Zoom out"]', "disabled", "");
    await page.keyboard.press("+");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", null);
    await page.keyboard.press("0");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", "");
  }));

test("memory is zoomed by the wheel, dragged, and selected in by a click", () =>
  visit("#memory", async (page) => {
    const box = await placeOf(page, ".livesbox canvas");
    await page.mouse.click(box.x + 300, box.y + 30); // the second row
    await sees(page, ".selected h2", /d_in/);
    await page.mouse.move(box.x + 500, box.y + 30);
    await sees(page, ".pointed", /d_in[^]*MiB in use/);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", null);
    const before = await page.locator(".pointed").innerText();
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(box.x + 500, box.y + 30);
    await eventually(async () => assert.notEqual(await page.locator(".pointed").innerText(), before));
    await sees(page, ".selected h2", /d_in/); // a drag selects nothing
  }));

test("objects of memory are narrowed by name, pattern, size and the peak", () =>
  visit("#memory", async (page) => {
    const shown = (n) => sees(page, ".memtools >> nth=1", new RegExp(`${n} of 7 objects`));
    await page.fill(".memtools input[type=search]", "demo.cu:61");
    await shown(1);
    await page.click(".memtools >> text=show all");
    await shown(7);
    await page.selectOption('select[aria-label*="pattern"]', "leak");
    await shown(1);
    await page.selectOption('select[aria-label*="pattern"]', "");
    await page.selectOption('select[aria-label*="size"]', String(2 ** 20));
    await shown(3);
    await page.selectOption('select[aria-label="What the axis shows"]', "time");
    await page.selectOption('select[aria-label="What colours show"]', "kernel");
    await sees(page, ".memlegend", /transpose/);
  }));

test("a finding about memory begins with its object and leads to its life, not to a map that there is none of", async () => {
  const of_memory = await report(folder, "of-memory", ({ payload, parts }) => {
    const [group] = payload.groups;
    const finding = payload.findings[group.first];
    for (const key of ["kernel", "access", "share_of_kernel"]) delete finding[key];
    Object.assign(finding, { pattern: "early-allocation", subject: "object", unit: "bytes", object: 5, lines: [] });
    payload.maps = payload.maps.filter((map) => map.object !== 5);
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    await sees(page, ".headline .who", /^d_C[^·]*device$/); // no line, and no dot before none
    await becomes(() => page.locator(".more a").allInnerTexts(), ["Its life among the others, and what the change saves"]);
    await page.click(".more a");
    await sees(page, ".selected h2", /d_C/);
  }, of_memory);
});

test("a course of which operations are left out says so", async () => {
  const cut = await report(folder, "cut", ({ payload, parts }) => {
    payload.memory.courses[0].left_out = 1234;
    return { payload, parts };
  });
  await visit("#memory", (page) => sees(page, ".who", /24 operations, 1,234 more left out, at which nothing begins or ends/), cut);
});

test("a program without device memory has nothing to show of it", async () => {
  const none = await report(folder, "none", ({ payload, parts }) => {
    payload.memory.courses = [];
    return { payload, parts };
  });
  await visit("#memory", (page) => sees(page, ".empty", /allocated no device memory/), none);
});
