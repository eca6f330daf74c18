// Holds the page's replay of allocations to what src/analysis/objects found: for tests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { load } from "../../viewer/test/tools.mjs";

/** The data of a report, decoded, as the page has them. */
export async function modelOf(html, folder) {
  const { decode } = await load("src/data/decode.ts", folder);
  const { buildModel } = await load("src/data/model.ts", folder);
  return buildModel(await decode(/id="payload">([^<]*)</.exec(readFileSync(html, "utf8"))[1]));
}

/** Replays each course as it is, with the plan, and with each change by itself; gives the number of changes, and the highest peak with
 * the plan. */
export async function assertReplays(html, folder) {
  const { loadCourse } = await load("src/data/course.ts", folder);
  const { replay, nothing, planned, toggled } = await load("src/data/whatif.ts", folder);
  const m = await modelOf(html, folder);
  const found = { changes: 0, peak: 0, after: 0 };
  for (const row of m.payload.memory.courses) {
    const d = await loadCourse(m, row);
    row.devices.forEach((device, i) => {
      const now = replay(d, i, nothing(d));
      const plan = replay(d, i, planned(d));
      assert.equal(now.peak, device.peak);
      assert.equal(now.moment, device.moment ?? 0xffffffff);
      assert.equal(plan.peak, device.peak_after);
      found.peak = Math.max(found.peak, now.peak);
      found.after = Math.max(found.after, plan.peak);
    });
    row.changes.forEach((change, i) => {
      const device = d.lives.device[d.hits.object[change.first]];
      const alone = replay(d, device, toggled(d, i, nothing(d)));
      const before = row.devices[device].peak;
      assert.equal(before - alone.peak, change.saves, `${change.pattern}, change ${i}`);
      found.changes++;
    });
  }
  return found;
}
