// What the page makes of ticked changes, on real programs: examples that waste memory are compiled, profiled and replayed.
// WARPLENS is the command, WARPLENS_NVCC the compiler.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import { test } from "node:test";
import { scratch, viewer } from "../../viewer/test/tools.mjs";
import { assertReplays } from "./replays.mjs";

const folder = scratch();
const run = (program, ...args) => execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], cwd: folder });
const EXAMPLES = ["stages/stages_kept", "turns/turns_leaking", "tensors/tensors_wide", "pool/pool_gaps", "gramschmidt/gramschmidt_rows"];

for (const example of EXAMPLES) {
  test(`the page's replay of ${example} is that of the findings`, async () => {
    const name = basename(example);
    const source = join(viewer, "../examples", `${example}.cu`);
    const include = join(viewer, "../include");
    run(process.env.WARPLENS_NVCC, "-arch=sm_90", "-std=c++17", "-g", "-lineinfo", "-I", include, "-o", name, source);
    run(process.env.WARPLENS, "profile", "--backend", "emulate", "-f", "-o", `${name}.wlprof`, "--", `./${name}`);
    run(process.env.WARPLENS, "report", "-f", "-o", `${name}.html`, `${name}.wlprof`);
    const { memory } = JSON.parse(run(process.env.WARPLENS, "stats", "--format", "json", `${name}.wlprof`));
    const { peak, after } = await assertReplays(join(folder, `${name}.html`), folder);
    assert.equal(peak, memory.peak_bytes);
    assert.equal(after, memory.peak_bytes_after);
  });
}
