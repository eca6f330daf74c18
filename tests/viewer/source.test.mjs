// Source files and the code beside them in a real browser. Exit status 77 where there is no browser: skipped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { becomes, eventually, load, placeOf, report, sees } from "../../viewer/test/tools.mjs";
import { counts, folder, has, inSight, visit, visits } from "./page.mjs";

const { pack } = await load("test/fixture/container.ts", folder);

test("names and sources from a profile stay text", () =>
  visit("#kernel/5", async (page) => {
    await sees(page, "h1", /<\/script><img src=x onerror=alert\(1\)>/);
    await counts(page, "img", 0);
    await counts(page, "script", 2);
    const policy = await page.getAttribute("meta[http-equiv]", "content");
    assert.match(policy, /default-src 'none'/);
    assert.ok(!policy.includes("unsafe"));
  }));

test("without lines or sources the page says how to get them", async () => {
  const blind = await report(folder, "blind", ({ payload, parts }) => ({
    payload: {
      ...payload,
      files: payload.files.map((f) => ({ ...f, missing: "no such file", chunks: [] })),
      kernels: payload.kernels.map(({ file, line, ...k }) => k),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".coverage", /5 kernels without line information: compile with nvcc -lineinfo/);
      await sees(page, ".coverage", /1 source file could not be read: demo\.cu \(no such file\)/);
      await sees(page, ".excerpt", /not in the profile: no such file\. Lines: 35/);
    },
    blind,
  );
});

test("a kernel's instructions", () =>
  visit("#kernel/2", async (page) => {
    await sees(page, ".mix", /memory 2\.5\s%[^]*integer 55\s%[^]*control flow 20\s%/);
    await counts(page, ".mixbar span", 4);
  }));

test("a source file opens at its hottest line; keys and buttons go to the next hot one", () =>
  visit("", async (page) => {
    await page.setViewportSize({ width: 1280, height: 400 });
    await visits(page, "#file/1");
    const shown = () => page.getAttribute(".line.shown", "data-line");
    const order = [];
    await sees(page, ".hotlines", /Line 35, the hottest of \d+ hot lines: .* avoidable · finding 1/);
    await sees(page, ".line.shown", /sum \+= A\[row \* n \+ k\]/);
    for (let i = 0; i < 4; i++) {
      await becomes(() => inSight(page, ".line.shown"), true);
      order.push(await shown());
      await page.keyboard.press("n");
      await eventually(async () => assert.notEqual(await shown(), order.at(-1)));
    }
    assert.equal(new Set(order).size, 4);
    await page.keyboard.press("p");
    await becomes(shown, order[3]);
    await page.click(".hotlines button >> nth=0");
    await becomes(shown, order[2]);
    await page.waitForURL(new RegExp(`#file/1\\?line=${order[2]}$`));
    await page.click('.line.marked[data-line="35"]');
    await becomes(shown, "35");
    assert.ok(await page.isDisabled(".hotlines button >> nth=0"));
    await visits(page, "#file/1?line=1");
    await sees(page, ".hotlines", /Line 1 does not access memory$/);
    await page.click(".hotlines label >> nth=1"); // keys go on working there
    await page.keyboard.press("n");
    await becomes(shown, "35");
    await visits(page, "#finding/4");
    await page.click(".who a.place");
    await becomes(() => inSight(page, ".line.shown"), true);
    await sees(page, ".line.shown", /tile\[threadIdx\.x\]/);
  }));

/** What the column of PTX or of SASS says of what is marked in it. */
const says = (page, form, pattern) => sees(page, `.of-${form} .belongs`, pattern);

/** Selects the first instruction with such text that is in sight. */
const select = (page, form, text) => page.click(`.of-${form} .insn:has-text("${text}")`);

const marked = (page, form) => page.locator(`.of-${form} .insn.on code`).allInnerTexts();

/** Whether the first marked instruction of a column is in its sight. */
const showsMarked = (page, form) =>
  page.evaluate((f) => {
    const box = document.querySelector(`.of-${f} .code`).getBoundingClientRect();
    const on = document.querySelector(`.of-${f} .insn.on`)?.getBoundingClientRect();
    return on !== undefined && on.top >= box.top && on.bottom <= box.bottom;
  }, form);

test("PTX and SASS stand beside the source, those of the selected line marked", () =>
  visit("", async (page) => {
    await visits(page, "#file/1?line=25");
    await says(page, "ptx", /^\d+ instructions of line 25$/);
    await says(page, "sass", /^\d+ instructions of line 25$/);
    await sees(page, ".of-sass .path", /SASS for sm_80: the program has none for the device's sm_90 · no counts: its PTX was measured/);
    await becomes(() => page.locator(".panes select").inputValue(), "2"); // which has the line
    await sees(page, '.of-ptx .insn.on:has-text("ld.shared")', /25\s*ld\.shared\.f32 %f2, \[%r12\];\s*32\.0 wavefronts\s*×\d+/);
    await becomes(() => page.locator(".of-sass .insn .note").count(), 0); // nothing of it was counted
    for (const form of ["ptx", "sass"]) await becomes(() => showsMarked(page, form), true);
    await select(page, "ptx", "st.shared"); // of another line
    await has(page, ".line.shown", "data-line", "20");
    await says(page, "ptx", /the selected one; \d+ more of line 20/);
    await page.selectOption(".panes select", "3");
    await page.waitForURL(/line=20&kernel=3$/);
    await says(page, "ptx", /^0 instructions of line 20$/);
    await counts(page, ".of-sass", 0);
    await sees(page, ".columnchoice label >> nth=2", /^\s*SASS \(the program has no machine code of it\)$/);
    await counts(page, ".of-ptx .insn .ran:not(:empty)", 0); // executions are not known of this kernel
    await page.selectOption(".panes select", "5");
    await counts(page, ".panes", 0);
    await sees(page, ".columnchoice label >> nth=1", /PTX \(the profile has none\)/);
    await visits(page, "#kernel/2");
    await page.click("text=Source, PTX and SASS side by side");
    await page.waitForURL(/#file\/1\?line=\d+&kernel=2$/);
    await counts(page, ".codepane", 2);
  }));

test("an instruction marks its line, and by the lines of the PTX what it belongs to", () =>
  visit("#file/1?line=25&kernel=2", async (page) => {
    const own = () => page.locator(".of-ptx .insn.itself code").innerText();
    await select(page, "ptx", "ld.shared");
    await eventually(async () => assert.match(await own(), /ld\.shared/));
    const pc = Number((await page.getAttribute(".of-ptx .insn.itself", "id")).replace("ptx-", ""));
    assert.match(page.url(), new RegExp(`line=25&kernel=2&ptx=${pc}$`));
    const made = Array.from({ length: pc % 5 === 4 ? 0 : 2 - (pc % 2) }, (_, i) => `LDS R${pc}, [R12+0x${4 * i}]`);
    await becomes(() => marked(page, "sass"), made);
    await says(page, "sass", new RegExp(`^${made.length} instructions? made from the selected PTX$`));
    await page.locator(".of-sass .insn.on").last().click();
    await says(page, "ptx", /^what the selected SASS was made from$/);
    await becomes(async () => (await marked(page, "ptx")).length, 1);
    await becomes(async () => /ld\.shared/.test((await marked(page, "ptx"))[0] ?? ""), true);
    await counts(page, ".of-sass .insn.itself", 1);
    await page.goBack();
    await eventually(async () => assert.match(await own(), /ld\.shared/));
  }));

test("keys go from instruction to instruction, and from line to line", () =>
  visit("#file/1?line=25&kernel=2&ptx=0", async (page) => {
    const at = () => page.getAttribute(".of-ptx .insn.itself", "id");
    await page.locator(".of-ptx .code").focus();
    await page.keyboard.press("ArrowDown");
    await becomes(at, "ptx-1");
    await page.keyboard.press("ArrowUp");
    await becomes(at, "ptx-0");
    await page.keyboard.press("ArrowUp");
    await becomes(at, "ptx-0");
    await has(page, ".of-ptx .code", "aria-activedescendant", "ptx-0");
    await sees(page, ".of-ptx .insn.itself .ran", /^never$/); // counted, and it was none
    await page.keyboard.press("End");
    await eventually(async () => assert.ok(Number((await at()).slice(4)) > 1));
    await page.keyboard.press("Home");
    await becomes(at, "ptx-0");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown"); // from what belongs to the selected one, in the other column
    await counts(page, ".of-sass .insn.itself", 1);
    await visits(page, "#file/1?line=25&kernel=2");
    await page.locator('section[aria-label="Source"]').focus();
    await page.keyboard.press("ArrowDown");
    await has(page, ".line.shown", "data-line", "26");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await has(page, ".line.shown", "data-line", "24");
  }));

test("where instructions are known by source line only, that is said", () =>
  visit("#file/1?line=11&kernel=1", async (page) => {
    await sees(page, ".of-sass .path", /SASS for sm_80 · no counts/);
    await page.locator(".of-ptx .insn.on").first().click();
    await says(page, "sass", /^\d+ instructions? of line 11, by source line only: its machine code was made from other PTX$/);
    await becomes(async () => (await marked(page, "sass")).length > 1, true);
  }));

test("each column can be hidden; narrow windows fold them", () =>
  visit("#file/1?line=25&kernel=2", async (page) => {
    const widthOf = async (selector) => (await placeOf(page, selector)).width;
    const left = async (selector) => (await placeOf(page, selector)).x;
    await page.setViewportSize({ width: 1900, height: 900 });
    await eventually(async () => assert.ok((await left(".of-sass")) > (await left(".of-ptx")) + 100));
    await page.setViewportSize({ width: 1280, height: 900 });
    await eventually(async () => assert.equal(await left(".of-sass"), await left(".of-ptx")));
    const narrow = await widthOf(".of-ptx");
    await page.click(".columnchoice >> text=Source");
    await counts(page, ".line", 0);
    await eventually(async () => assert.ok((await left(".of-sass")) > (await left(".of-ptx")) + 100));
    await eventually(async () => assert.ok((await widthOf(".of-ptx")) >= narrow));
    await page.click(".columnchoice >> text=PTX");
    await counts(page, ".codepane", 1);
    await page.click(".columnchoice >> text=SASS"); // the source comes back: there is nothing else
    await counts(page, ".codepane", 0);
    await sees(page, ".line", /./);
    for (const name of ["Source", "PTX", "SASS"]) await page.click(`.columnchoice >> text=${name}`);
    await counts(page, ".codepane", 2);
    await page.setViewportSize({ width: 600, height: 800 });
    await becomes(() => page.locator(".insn:visible:not(.on):not(.near)").count(), 0);
    await sees(page, ".of-ptx .insn.on", /./);
    await becomes(() => inSight(page, ".line.shown"), true);
    await becomes(() => inSight(page, ".of-sass .path"), true);
  }));

test("of 20,000 instructions those in sight are in the page, and all can be reached", async () => {
  const many = await report(folder, "many", ({ payload, parts }) => {
    const kernel = payload.kernels.find((k) => k.id === 2);
    const rows = Array.from({ length: 20_000 }, (_, pc) => ({ pc, text: `IADD3 R${pc % 255}, RZ, 0x${pc}, RZ`, file: 1, line: pc === 15_000 ? 25 : 20 }));
    kernel.listings[0].code = parts.push(pack(Buffer.from(JSON.stringify(rows), "utf8")));
    return { payload, parts };
  });
  await visit("#file/1?line=25&kernel=2", async (page) => {
    await becomes(() => marked(page, "sass"), ["IADD3 R210, RZ, 0x15000, RZ"]);
    await becomes(() => showsMarked(page, "sass"), true);
    await eventually(async () => assert.ok((await page.locator(".of-sass .insn").count()) < 200));
    await page.locator(".of-sass .code").focus();
    await page.keyboard.press("End");
    await becomes(() => marked(page, "sass"), ["IADD3 R109, RZ, 0x19999, RZ"]);
    await becomes(() => showsMarked(page, "sass"), true);
    await page.locator(".of-sass .code").evaluate((e) => e.scrollTo(0, 10_000 * 20));
    await sees(page, '.of-sass .insn:has-text("0x10000,")', /27100\s+IADD3/);
  }, many);
});

test("a source file with what its lines move", () =>
  visit("#file/1", async (page) => {
    await sees(page, ".line.marked.first", /sum \+= A\[row \* n \+ k\]/);
    await becomes(async () => (await page.locator(".line").count()) > 60, true);
    await becomes(async () => (await page.locator(".line.marked").count()) >= 8, true);
    await page.click(".who a >> text=drift");
    await page.waitForURL(/#kernel\/4/);
  }));
