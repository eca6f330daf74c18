// The report in a real browser, opened from disk. Exit status 77 where there is no browser: skipped.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { becomes, eventually, launch, load, open, placeOf, report, sees, shows } from "../../viewer/test/tools.mjs";
import { folder, sample, context, path, visit, counts, has, pointed, picture, visits, inSight } from "./page.mjs";

const VIEWS = ["#finding/1", "#finding/2", "#kernel/2", "#object/1?map=1,2", "#object/8", "#file/1", "#overview", "#memory", "#memory/6", "#glossary",
  "#explore", "#explore/2?block=37", "#explore/2?block=37&warp=2", "#explore/2?block=37&warp=2&step=3"];

/** The middle of an element in the page. */
async function middleOf(page, selector) {
  const { x, y, width, height } = await placeOf(page, selector);
  return [x + width / 2, y + height / 2];
}

/** Finding 1 is worth something only where the grid fills the device; finding 2 costs time. */
const smallRun = ({ payload, parts }) => {
  const worth = { seconds: 1e-6, low: -1e-6, high: 2e-6, of_kernel: 0.01, of_program: 0.005, of_full: 0.31, small: true };
  const costs = { seconds: -1e-6, low: -3e-6, high: -1e-7, of_kernel: -0.02, of_program: -0.01, of_full: -0.05 };
  payload.groups[0].worth = worth;
  payload.groups[1].worth = costs;
  return { payload, parts };
};

/** Texts whose contrast with what lies behind them is less than WCAG 2 wants at level AA. */
function faint() {
  const parts = (color) => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => {
      const c = v / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parts(getComputedStyle(e).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };
  const result = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || element.closest("svg, script, noscript, .unseen") || !element.checkVisibility()) continue;
    if (element.matches(":disabled")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parts(style.color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      result.push(`${ratio.toFixed(2)} ${element.className} ${element.textContent.trim().slice(0, 40)}`);
    }
  }
  return [...new Set(result)];
}

test("opens at the dearest finding with line, remedy, picture and coverage", () =>
  visit("", async (page) => {
    await becomes(() => page.title(), "demo – warplens");
    await counts(page, ".list .card", 6);
    await sees(page, "h1", /Different warps use different words/);
    await sees(page, ".line.marked.first", /sum \+= A\[row \* n \+ k\]/);
    await sees(page, ".line.marked.first .number", /35/);
    await sees(page, ".remedy", /Let threadIdx\.x walk along the row/);
    await sees(page, ".picture >> nth=0", /32 sectors: 1 KiB moved, 128 B used/);
    await sees(page, ".picture >> nth=1", /4 sectors: 128 B moved/);
    await sees(page, ".detail", /counted on all 64 blocks/);
    await sees(page, ".coverage", /5 of 6 launches observed/);
    await sees(page, ".coverage", /left out by --kernel-name/);
    await sees(page, ".coverage", /1 launch estimated, from some of the blocks/);
    await sees(page, ".coverage", /3 memory instructions, line 11, 12\s+its address depends on data/);
  }));

test("a picture that is an example says so in its title", () =>
  visit("#finding/6", async (page) => {
    await sees(page, ".picture", /^Now, an example 5 sectors/);
    await visits(page, "#finding/1");
    await sees(page, ".picture", /^Now 32 sectors/);
  }));

test("deep links, back and forward", () =>
  visit("#finding/3", async (page) => {
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.click(".card >> nth=4");
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await page.waitForURL(/#finding\/5$/);
    await page.goBack();
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.goForward();
    await sees(page, ".crumbs", /Finding 5 of 6/);
  }));

test("keyboard", () =>
  visit("", async (page) => {
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.keyboard.press("k");
    await sees(page, ".crumbs", /Finding 2 of 6/);
    await page.keyboard.press("4");
    await sees(page, "h1", /^Overview$/);
    await page.keyboard.press("?");
    await page.locator("dialog").waitFor({ state: "visible" });
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "hidden" });
  }));

test("light and dark follow the system and the switch", () =>
  visit("", async (page) => {
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [light, dark] = ["rgb(255, 255, 255)", "rgb(20, 23, 28)"];
    await becomes(shade, light);
    await page.emulateMedia({ colorScheme: "dark" });
    await becomes(shade, dark);
    await page.keyboard.press("t");
    await becomes(shade, light);
    await page.reload();
    await shows(page, "");
    await becomes(shade, light);
    await page.keyboard.press("t");
    await becomes(shade, dark);
    await page.emulateMedia({ colorScheme: "light" });
    await becomes(shade, light);
  }));

test("a kernel's lines sort and open", () =>
  visit("#kernel/2", async (page) => {
    const first = ".lines > tbody > tr.opens >> nth=0";
    await sees(page, first, /demo\.cu:25 load shared[^]*\s4\s/); // finding 4
    await sees(page, first, /262K\s+32\.0\s+1\.00/);
    await page.click(".lines th >> text=line");
    await sees(page, first, /demo\.cu:20/);
    await page.click(".lines tr.opens >> nth=0");
    await sees(page, ".detailrow", /ld\.global\.f32/);
    await page.focus(".lines tr.opens .opener >> nth=1");
    await page.keyboard.press("Enter");
    await sees(page, ".detailrow", /st\.shared\.f32/);
    await has(page, ".opener >> nth=1", "aria-expanded", "true");
    await has(page, ".lines th >> nth=0", "aria-sort", "ascending");
  }));

test("the overview lists the run, kernels, objects and the peak", () =>
  visit("#overview", async (page) => {
    for (const part of [/compute capability 9\.0, 132 SMs/, /gemm<float>/, /particles/, /5 MiB reached at/]) {
      await sees(page, "main", part);
    }
  }));

test("peaks of several devices are told apart", async () => {
  const two = await report(folder, "devices", ({ payload, parts }) => {
    const [peak] = payload.memory.peaks;
    payload.memory.peaks.push({ ...peak, device: 1, bytes: 3_145_728 });
    payload.memory.devices.push({ process: 1, device: 1, name: "Second", peak_bytes: 3_145_728 });
    return { payload, parts };
  });
  const parts = [/peak memory, device 0\s+5 MiB/, /peak memory, device 1\s+3 MiB, Second/, /3 MiB on device 1 reached at/];
  await visit("#overview", async (page) => {
    for (const part of parts) await sees(page, "main", part);
  }, two);
});

test("findings of the whole program need no kernel, object or map", async () => {
  const whole = await report(folder, "whole", ({ payload, parts }) => {
    const [finding] = payload.findings;
    for (const key of ["kernel", "object", "share_of_kernel", "access"]) delete finding[key];
    Object.assign(finding, { subject: "program", unit: "bytes", lines: [] });
    Object.assign(payload.groups[0], { kernels: [], objects: [] });
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    await sees(page, ".detail h1", /Different warps use different words/);
    await sees(page, ".detail", /of the program's memory[^]*iB\s*avoidable memory/);
    for (const link of ["kernel", "object"]) await counts(page, `.detail a[href*="#${link}"]`, 0);
  }, whole);
  await visit("#overview", (page) => sees(page, "main", /Different warps use different words/), whole);
});

test("fits a narrow window without scrolling sideways, every view", () =>
  visit("", async (page) => {
    for (const width of [1280, 1000, 700, 400]) {
      await page.setViewportSize({ width, height: 800 });
      for (const hash of VIEWS) {
        await visits(page, hash);
        const wide = () => page.evaluate(() => {
          if (document.documentElement.scrollWidth <= innerWidth) return "";
          const right = (e) => e.getBoundingClientRect().right;
          const all = [...document.querySelectorAll("main *, header *")];
          const widest = all.reduce((a, b) => (right(b) > right(a) ? b : a));
          return `${widest.tagName} ${widest.className} reaches ${right(widest)}`;
        });
        await eventually(async () => assert.equal(await wide(), "", `at ${width} in ${hash}`));
      }
    }
  }));

test("a kernel's page says first what bounds it, then what to do, then draws", () =>
  visit("#kernel/1", async (page) => {
    await sees(page, "p.bound", /^Bound by requests to L1\.$/);
    await sees(page, ".figures", /12\.0 µs\s+a launch, predicted\s+58\s%\s+of that: requests to L1/);
    await becomes(() => page.locator("article h2").allInnerTexts(), [
      "What to do",
      "Where its time goes",
      "How close it is to the device's limits",
      "What could be gained",
      "Occupancy",
      "Instructions",
      "Lines",
      "Elements",
      "Source",
    ]);
    await sees(page, ".links .advice", /\w+/);
    assert.equal(await page.locator("article >> text=/measured on the GPU|efficiency/").count(), 0);
  }));

test("where nothing tells what bounds a kernel, its page says why", async () => {
  const unknown = await report(folder, "unknown", ({ payload, parts }) => {
    const kernel = payload.kernels.find((k) => k.id === 1);
    delete kernel.model;
    kernel.model_missing = "No figures were measured of its device.";
    return { payload, parts };
  });
  await visit("#kernel/1", async (page) => {
    await sees(page, ".unbound", /^What bounds it is not known\. No figures were measured of its device\.$/);
    await counts(page, ".roofline, .benefits, p.bound, article .figures", 0);
    await sees(page, ".occupancy", /^40 of 64 warps/); // that needs no figures
  }, unknown);
});

test("where a launch was measured, its efficiency stands beside the prediction", async () => {
  const measured = await report(folder, "measured", ({ payload, parts }) => {
    const kernel = payload.kernels.find((k) => k.id === 2);
    Object.assign(kernel, { device_seconds: 32e-6, timed: 1, noted: 2 });
    Object.assign(kernel.model, { measured: 16e-6, efficiency: 0.625 });
    payload.program.collector = "inline";
    return { payload, parts };
  });
  await visit("#kernel/2", async (page) => {
    await sees(page, ".figures", /16\.0 µs\s+a launch, measured on the GPU\s+12\.0 µs\s+a launch, predicted/);
    await sees(page, ".figures", /63\s%\s+efficiency: of what its bound, traffic to L2, allows/);
    await counts(page, ".roofline .done", 1);
    await counts(page, ".roofline .predicted", 1);
    await sees(page, ".roofline", /Filled: measured; hollow: predicted\.[^]*It has no floating point/);
    await sees(page, ".roofline", /what is touched stays in L2/);
    await visits(page, "#kernel/1"); // nothing of it was measured
    await counts(page, ".roofline .predicted", 0);
    assert.equal(await page.locator("article >> text=/measured on the GPU|efficiency/").count(), 0);
  }, measured);
});

test("the roofline has a mark a level, below its roof, with figures at each", () =>
  visit("#kernel/1", async (page) => {
    await counts(page, ".roofline .done", 4);
    await counts(page, ".roofline .roof", 4);
    await counts(page, ".roofline .ceiling path", 1);
    await counts(page, ".roofline .reachable", 2); // of L1 and L2: the others reach all
    await counts(page, ".roofline .predicted", 0);
    const titles = await page.locator(".roofline .done title").allTextContents();
    assert.match(titles[2], /^L2: 2\.50 operations a byte, 2\.33\sT operations a second predicted$/);
    const roofs = await page.locator(".roofline .roof title").allTextContents();
    assert.ok(roofs.some((t) => /^device memory: at most 4\sTB\/s, measured of the device$/.test(t)), `${roofs}`);
    const marks = [];
    for (let i = 0; i < 4; i++) marks.push(await middleOf(page, `.roofline .done >> nth=${i}`));
    const [shared, l1, l2, dram] = marks;
    for (const [, y] of marks) assert.ok(Math.abs(y - l2[1]) < 2, `${marks}`); // one launch
    assert.ok(l1[0] < shared[0] && shared[0] < l2[0] && l2[0] < dram[0], `${marks}`);
    const bar = await middleOf(page, ".roofline .reachable >> nth=1");
    assert.ok(Math.abs(bar[0] - l2[0]) < 2 && bar[1] < l2[1], `${bar} above ${l2}`);
    const chart = await placeOf(page, ".roofline svg");
    for (const [x, y] of marks) assert.ok(x > chart.x && x < chart.x + chart.width && y > chart.y && y < chart.y + chart.height);
    await sees(page, ".roofline tr.on", /L1 requests\s+66\.8 MiB\s+0\.40\s+10\sT\s+23\s%/);
  }));

test("marks at one place do not hide each other", async () => {
  const same = await report(folder, "same", ({ payload, parts }) => {
    const [l1, l2] = ["l1", "l2"].map((name) => payload.kernels.find((k) => k.id === 1).model.roofline.levels.find((l) => l.name === name));
    l1.bytes = l2.bytes;
    return { payload, parts };
  });
  await visit("#kernel/1", async (page) => {
    const below = await placeOf(page, ".roofline .done >> nth=1");
    const above = await placeOf(page, ".roofline .done >> nth=2");
    assert.ok(below.width > above.width + 4 && below.height > above.height + 4, JSON.stringify([below, above]));
  }, same);
});

test("occupancy as a bar: resident warps, and those that the next step lets in", () =>
  visit("#kernel/1", async (page) => {
    await sees(page, ".occupancy", /^40 of 64 warps \(63\s%\).* limited by registers\.$/);
    const all = await placeOf(page, ".warps");
    const now = await placeOf(page, ".warps .now");
    const next = await placeOf(page, ".warps .next");
    assert.ok(Math.abs(now.width / all.width - 40 / 64) < 0.01, `${now.width} of ${all.width}`);
    assert.ok(Math.abs(next.width / all.width - 8 / 64) < 0.01 && next.x >= now.x + now.width - 1);
    await has(page, ".warps", "aria-label", "40 of 64 warps");
  }));

test("in a narrow window the charts take its width, and no more", () =>
  visit("#kernel/1", async (page) => {
    for (const width of [800, 420]) {
      await page.setViewportSize({ width, height: 900 });
      for (const chart of [".roofline svg", ".benefits svg", ".warps", ".roofline table"]) {
        const place = await placeOf(page, chart);
        assert.ok(place.x >= 0 && place.x + place.width <= width, `${chart}: ${JSON.stringify(place)} in ${width}`);
      }
    }
  }));

test("a finding of a small run tells its gain at full size; none is below zero", async () => {
  const small = await report(folder, "small", smallRun);
  await visit("#finding/1", async (page) => {
    await sees(page, ".figures", /1\.00 µs\s+predicted to be saved[^]*31\s%\s+of the kernel's time where the grid fills the device/);
    await sees(page, ".card >> nth=1", /saves nothing/);
    await visits(page, "#finding/2");
    await sees(page, ".figures", /nothing\s+predicted to be saved/);
    for (const hash of ["#finding/2", "#overview", "#kernel/1", "#kernel/3"]) {
      await visits(page, hash);
      assert.doesNotMatch(await page.locator("main").innerText(), /[-−]\d[\d.]*\s?(%|µs|ms)/, hash);
    }
    await visits(page, "#overview");
    await sees(page, ".fixfirst", /31\s% of the kernel's where the grid fills the device/);
  }, small);
});

test("the remedy before and after, what it is worth and how sure we are", () =>
  visit("#finding/1", async (page) => {
    await sees(page, ".worth", /Worth fixing[^]*Counted, not estimated/);
    await counts(page, ".remedy .half svg", 2);
    await sees(page, ".remedy .half >> nth=0", /Before[^]*a sector moves once for every warp/);
    await sees(page, ".remedy .half >> nth=1", /After[^]*a sector moves once/);
    await sees(page, ".figures", /%\s+of the program's traffic[^]*%\s+of the kernel's sectors/);
    await sees(page, ".detail", /Why these blocks[^]*\(0, 0, 0\) stands for all 64 blocks/);
    await page.click(".more >> text=Heat map");
    await page.waitForSelector(".heatbox canvas");
    await page.goto(page.url().replace(/#.*/, "#finding/5"));
    await page.click(".more >> text=Heat map");
    await sees(page, ".detail", /launch 1 of transpose_naive/);
  }));

test("what gains little says so", async () => {
  const little = await report(folder, "little", ({ payload, parts }) => ({
    payload: {
      ...payload,
      findings: payload.findings.map((f) => ({ ...f, gain: "tiny", gain_note: "It gains little." })),
      groups: payload.groups.map((g, i) => ({ ...g, gain_reason: i < 4 ? "It is tiny." : "It waits." })),
      launches: payload.launches.map((l) => ({ ...l, blocks_observed: 1 })),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /! It gains little\.[^]*Counted in part/);
      await sees(page, ".list", /Of little gain: not worth working on\. These patterns are there[^]*It is tiny\.[^]*It waits\./);
      await counts(page, ".list li .listhead", 2); // once for all of one reason
      await page.keyboard.press("4");
      await sees(page, ".verdict", /All 6 findings are of little gain/);
      await sees(page, "main", /Of little gain: not worth working on/);
    },
    little,
  );
});

test("findings that one change fixes are one, with its places", async () => {
  const grouped = await report(folder, "grouped", ({ payload, parts }) => {
    const [first, second, ...others] = payload.groups;
    const both = {
      ...first,
      count: 2,
      kernels: [...first.kernels, ...second.kernels],
      objects: [...first.objects, ...second.objects],
      advice: "Swap the indices of d_A and d_out.",
    };
    const number = (f, i) => ({ ...f, number: Math.max(1, i) });
    return { payload: { ...payload, findings: payload.findings.map(number), groups: [both, ...others] }, parts };
  });
  await visit(
    "",
    async (page) => {
      await counts(page, ".list .card", 5);
      await sees(page, ".card", /and 1 more place/);
      await sees(page, ".crumbs", /Finding 1 of 5/);
      await counts(page, ".places tbody tr", 2);
      await sees(page, ".places tr.on", /demo\.cu:35\s+gemm<float>/);
      await sees(page, ".remedy", /Swap the indices of d_A and d_out/);
      await page.click(".places a.mono >> text=d_B"); // its object
      await page.waitForURL(/#object\/4/);
      await page.goBack();
      await page.click(".places tbody tr >> nth=1 >> a >> nth=0");
      await page.waitForURL(/#finding\/1\?place=2$/);
      await sees(page, ".places tr.on", /d_B/);
      await sees(page, ".summary", /All 32 warps read/);
      await sees(page, ".remedy", /Swap the indices of d_A and d_out/);
      await page.keyboard.press("j");
      await sees(page, ".crumbs", /Finding 2 of 5/);
      await page.keyboard.press("2");
      await page.click(".links a >> text=1. ");
      await sees(page, ".crumbs", /Finding 1 of 5/);
    },
    grouped,
  );
});

test("very many objects are listed in part, until the reader asks for all", async () => {
  const many = await report(folder, "many", ({ payload, parts }) => {
    const extra = Array.from({ length: 400 }, (_, i) => ({
      ...payload.objects[0],
      id: 1000 + i,
      name: `buffer_${i}`,
    }));
    return { payload: { ...payload, objects: [...payload.objects, ...extra] }, parts };
  });
  await visit(
    "#object/1399",
    async (page) => {
      await sees(page, "h1", /buffer_399/);
      await counts(page, ".list .card", 201); // 200, and the one that is shown
      await sees(page, ".card.on", /buffer_399/);
      await sees(page, ".list", /and 207 more: search finds them/);
      await page.keyboard.press("4");
      await page.click("text=Show all 408 rows");
      await counts(page, "tr >> text=buffer_", 400);
    },
    many,
  );
});

test("a finding about no accesses is counted, and has no table of them", async () => {
  const few = await report(folder, "few", ({ payload, parts }) => ({
    payload: {
      ...payload,
      findings: payload.findings.map((f) => ({
        ...f,
        access: undefined,
        lines: f.lines.map((l) => ({ ...l, requests: 0 })),
      })),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /Counted, not estimated/);
      await sees(page, ".detail", /How sure[^]*counted in all observed launches/);
      await counts(page, ".detail th >> text=times the needed", 0);
    },
    few,
  );
});

test("what is estimated is not called counted", async () => {
  const estimated = await report(folder, "estimated", ({ payload, parts }) => ({
    payload: { ...payload, launches: payload.launches.map((l) => ({ ...l, estimated: true })) },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /Counted in part/);
      await sees(page, ".detail", /estimated in some launches, from some of the blocks/);
    },
    estimated,
  );
});

test("the overview says what to fix first and ranks the kernels", () =>
  visit("#overview", async (page) => {
    await sees(page, ".detail", /NVIDIA H200 · compute capability 9\.0 · 132 SMs · emulated/);
    await sees(page, ".fixfirst li >> nth=0", /sum \+= A\[row \* n \+ k\][^]*demo\.cu:35/);
    await sees(page, ".sortable tbody tr >> nth=0", /gemm<float>/);
    await page.click(".fixfirst a >> nth=1");
    await sees(page, ".crumbs", /Finding 2 of 6/);
  }));

test("sums that lack accesses are marked", async () => {
  const lacking = await report(folder, "lacking", ({ payload, parts }) => {
    for (const k of payload.kernels) if (k.id === 1) k.lacks = true;
    return { payload, parts };
  });
  await visit("#overview", (page) => sees(page, ".sortable tbody", /> \d[^]*> \d/), lacking);
  await visit("#kernel/1", (page) => sees(page, ".who", /> [^]* requests · > [^]* sectors/), lacking);
});

test("module variables that no kernel touched are a line", async () => {
  const idle = await report(folder, "idle", ({ payload, parts }) => {
    const variable = { kind: "symbol", space: "global", bytes: 4 };
    payload.objects.push({ ...variable, id: 91, name: "lonely" }, { ...variable, id: 92, name: "lonelier" });
    return { payload, parts };
  });
  await visit("#overview", async (page) => {
    await sees(page, ".idle summary", /^2 module variables that no kernel touched, as far as is known$/);
    await counts(page, ".sortable tbody tr:has-text('lonely')", 0);
    await page.click(".idle summary");
    await sees(page, ".idle", /lonely, lonelier/);
  }, idle);
});

test("search finds findings, kernels, objects and files", () =>
  visit("", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("particles");
    await sees(page, "#hits", /object\s+particles \(demo\.cu:64\)/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/#object\/6$/);
    await page.keyboard.press("/");
    await page.keyboard.type("demo.cu");
    await page.click("[role=option] >> text=file");
    await page.waitForURL(/#file\/1$/);
    await sees(page, "h1", /demo\.cu/);
    await page.keyboard.press("/");
    await page.keyboard.press("g"); // replaces what stood there; no view changes
    await page.keyboard.type("emm");
    await page.keyboard.press("ArrowDown");
    await has(page, "[role=combobox]", "aria-activedescendant", "hit1");
    await page.keyboard.press("Escape");
    await becomes(() => page.locator("#hits").isHidden(), true);
  }));

test("findings and kernels are filtered by name, pattern and gain", async () => {
  const mixed = await report(folder, "mixed", ({ payload, parts }) => {
    payload.groups.slice(4).forEach((g) => {
      g.gain_reason = "It is tiny.";
    });
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    const cards = () => page.locator(".list .card").count();
    const select = (n, value) => page.selectOption(`.filter select >> nth=${n}`, value);
    await page.fill(".filter input", "GEMM d_");
    await sees(page, ".filter", /\d of 6 show all/);
    for (const text of await page.locator(".list .card").allInnerTexts()) assert.match(text, /gemm/);
    const gemm = await cards();
    assert.ok(gemm > 0 && gemm < 6);
    await page.keyboard.press("Escape");
    await page.fill(".filter input", "");
    await select(1, "little");
    await becomes(cards, 2);
    await sees(page, ".list .card .rank", /^5$/);
    await page.focus("body");
    await page.locator(".detail h1").click();
    await page.keyboard.press("j"); // from finding 1, which is not in the list: to its first
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await select(1, "worth");
    await becomes(cards, 4);
    await select(0, "bank-conflict");
    await becomes(cards, 1);
    await page.locator(".detail h1").click();
    await page.keyboard.press("2");
    await becomes(cards, 1);
    await sees(page, ".list .card", /transpose_shared/);
    await page.fill(".filter input", "nowhere");
    await sees(page, ".list", /Nothing matches the filter/);
    await page.click("text=show all");
    await becomes(cards, 5);
  }, mixed);
});

test("search finds any line and place; Esc empties it", () =>
  visit("", async (page) => {
    const field = "[role=combobox]";
    await page.fill(field, "T sum =");
    await sees(page, "#hits", /line\s+T sum = 0/);
    await page.click("[role=option] >> text=T sum");
    await page.waitForURL(/#file\/1\?line=\d+$/);
    await sees(page, ".line.shown", /T sum/);
    await page.fill(field, "demo.cu:23");
    await sees(page, "[role=option]", /line[^]*demo\.cu:23/);
    await page.keyboard.press("Enter");
    await has(page, ".line.shown", "data-line", "23");
    await page.fill(field, "gemm");
    await page.focus(field);
    await page.keyboard.press("Escape");
    await becomes(() => page.inputValue(field), "");
    await becomes(() => page.locator("#hits").isHidden(), true);
  }));

test("a glossary tells what the words mean; the page links it, and search finds its words", () =>
  visit("#finding/1", async (page) => {
    await page.click(".coverage a >> text=Glossary");
    await sees(page, "h1", /^Glossary$/);
    await sees(page, ".glossary", /avoidable\s+sectors or wavefronts that a remedy would save/);
    await page.fill("[role=combobox]", "wavefront");
    await page.click("[role=option] >> text=word");
    await sees(page, ".glossary tr.on", /^wavefront\s+a step in which shared memory serves/);
    await becomes(() => inSight(page, ".glossary tr.on"), true);
  }));

test("in a narrow window the page alone scrolls up and down; the list opens at a button", () =>
  visit("", async (page) => {
    await page.setViewportSize({ width: 600, height: 700 });
    for (const hash of VIEWS) {
      await visits(page, hash);
      const inner = () => page.evaluate(() =>
        [...document.querySelectorAll("main *")]
          .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY))
          .filter((e) => e.scrollHeight > e.clientHeight + 1)
          .map((e) => e.className),
      );
      await becomes(inner, []);
    }
    await visits(page, "#finding/2");
    await becomes(() => page.isVisible(".list .card"), false);
    await page.click(".chooser button");
    await page.click(".card >> nth=4");
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await becomes(() => page.isVisible(".list .card"), false);
    await becomes(() => page.evaluate(() => scrollY), 0);
    await page.click(".chooser >> text=next");
    await sees(page, ".crumbs", /Finding 6 of 6/);
  }));

test("on paper: light, without what only works on a screen", async () => {
  const { page, problems } = await open(context, path, "#object/1");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForSelector(".heatbox canvas");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await becomes(
    () => page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    "rgb(255, 255, 255)",
  );
  for (const hidden of [".top", ".list", ".goto"]) {
    await becomes(() => page.locator(hidden).first().isHidden(), true);
  }
  const corner = () => page.evaluate(() => {
    const canvas = document.querySelector(".heatbox canvas");
    const copy = new OffscreenCanvas(1, 1).getContext("2d");
    copy.drawImage(canvas, canvas.width - 1, canvas.height - 1, 1, 1, 0, 0, 1, 1);
    return copy.getImageData(0, 0, 1, 1).data.join();
  });
  await becomes(corner, "255,255,255,255");
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000);
  assert.deepEqual(problems, []);
  await page.close();
});

test("nothing can be loaded from anywhere", async () => {
  const { page } = await open(context, path);
  const answers = [];
  page.on("response", (r) => answers.push(r.url()));
  await shows(page, "");
  await page.evaluate(() => {
    window.refused = [];
    addEventListener("securitypolicyviolation", (e) => window.refused.push(e.effectiveDirective));
    void fetch("https://example.invalid/").catch(() => undefined);
    const image = new Image();
    image.src = "https://example.invalid/x.png";
    document.body.append(image);
  });
  await becomes(() => page.evaluate(() => window.refused.sort()), ["connect-src", "img-src"]);
  assert.deepEqual(answers, []);
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`all text stands out, ${colorScheme}`, () =>
    visit("", async (page) => {
      await page.emulateMedia({ colorScheme });
      for (const hash of VIEWS) {
        await visits(page, hash);
        await becomes(() => page.evaluate(faint), []);
      }
    }));
}

test("what can be used has a name, and keys reach it in the order that it is read", () =>
  visit("", async (page) => {
    for (const hash of VIEWS) {
      await visits(page, hash);
      const nameless = () => page.evaluate(() =>
        [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0'], [role=img]")]
          .filter((e) => e.checkVisibility())
          .filter((e) => {
            const label = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? "";
            return !(label || e.textContent).trim();
          })
          .map((e) => e.outerHTML.slice(0, 80)),
      );
      await becomes(nameless, []);
    }
    await page.goto(page.url().replace(/#.*/, "#object/1"));
    await page.reload(); // else keys go on from where they were on the page before
    await page.waitForSelector(".heatbox canvas");
    const seen = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const what = await page.evaluate(() => {
        const e = document.activeElement;
        const order = [".jump", ".brand", "nav[aria-label=Views] a", ".search", ".list a", ".blocks", ".switch", ".zoom, .goto", ".heatbox", ".gridtable"];
        return order.findIndex((s) => e?.matches(s) || e?.closest(s));
      });
      if (what >= 0) seen.push(what);
    }
    const firsts = [...new Set(seen)];
    assert.deepEqual(firsts, [...firsts].sort((a, b) => a - b));
    assert.equal(firsts.length, 10);
  }));

test("a profile without findings says so", async () => {
  const bare = await report(folder, "bare", ({ payload, parts }) => ({
    payload: { ...payload, failures: [], findings: [], groups: [], maps: [] },
    parts,
  }));
  await visit("", async (page) => sees(page, "h1", /^Overview$/), bare);
  await visit("#finding/1", async (page) => sees(page, "h1", /No findings/), bare);
  await visit("#object/1", async (page) => sees(page, ".detail", /No heat map/), bare);
});

test("much that fits no pattern is not called nothing", async () => {
  const text = "1,234 sectors beyond those needed (25 % of all) belong to no pattern.";
  const left = await report(folder, "left", ({ payload, parts }) => ({
    payload: {
      ...payload,
      failures: [],
      findings: [],
      groups: [],
      maps: [],
      left_out: { text, patterns: 0, sectors: 1234, share_of_sectors: 0.25, much: true },
    },
    parts,
  }));
  const said = /1,234 sectors beyond those needed/;
  await visit("#overview", async (page) => sees(page, ".summary", said), left);
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, "h1", /^Unexplained sectors$/);
      await sees(page, ".empty", said);
      assert.doesNotMatch(await page.locator("main").innerText(), /[Nn]o (findings|memory access pattern)/);
    },
    left,
  );
});

test("a run that failed says so before all else, and never that there are no findings", async () => {
  await visit("#overview", async (page) => {
    await sees(page, ".failures", /launch 6 \(shift\) failed: access outside of any allocation at demo\.cu:7/);
    const above = await page.evaluate(() => {
      const [failures, first] = [".failures", ".fixfirst"].map((s) => document.querySelector(s).getBoundingClientRect().top);
      return failures < first;
    });
    assert.ok(above);
  });
  const bare = await report(folder, "failed", ({ payload, parts }) => ({
    payload: { ...payload, findings: [], groups: [], maps: [] },
    parts,
  }));
  await visit("#finding/1", async (page) => sees(page, "h1", /did not run to its end/), bare);
});

test("a damaged file says so", async () => {
  const broken = join(folder, "broken.html");
  writeFileSync(broken, readFileSync(path, "utf8").replace(/(id="payload">.{200})[^<]*/, "$1"));
  const { page } = await open(context, broken);
  await page.waitForSelector("[role=alert]");
  await sees(page, "h1", /cannot be shown/);
  await page.close();
});

test("the report that the C side writes", { skip: !existsSync(sample) }, () =>
  visit(
    "",
    async (page) => {
      await sees(page, "h1", /Lanes of a warp collide/);
      await sees(page, ".line.marked.first", /tile\[threadIdx\.x\]\[threadIdx\.y \+ i\]/);
      await sees(page, ".coverage", /cudaGraphInstantiate/);
      await page.goto(page.url().replace(/#.*|$/, "#object/2"));
      await page.waitForSelector(".heatbox canvas");
      await pointed(page, [0], /offset\s+0 bytes, first of 4 sectors; 32 times, every 2 KiB/);
      await sees(page, ".cellinfo", /8 writes/);
    },
    sample,
  ),
);

test("what is about how often data is accessed has no picture of one request", async () => {
  const often = await report(folder, "often", ({ payload, parts }) => {
    payload.findings[payload.groups[0].first].pattern = "promote";
    return { payload, parts };
  });
  const headings = (page) => page.locator("main h2").allInnerTexts();
  await visit("#finding/1", async (page) => assert.ok((await headings(page)).includes("One request of a warp")));
  await visit("#finding/1", async (page) => assert.ok(!(await headings(page)).includes("One request of a warp")), often);
});
