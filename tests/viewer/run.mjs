// Runs one of the suites: node run.mjs unit|warps|explore|schema|browser|maps|source|memory|levels|onewarp|controls|served|demo|large|replay. Status 77: skipped.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBrowser } from "../../viewer/test/tools.mjs";

const suite = process.argv[2];
if (["browser", "maps", "source", "memory", "levels", "onewarp", "controls", "served", "large"].includes(suite) && !findBrowser()) {
  console.log("skipped: no Chromium here (WARPLENS_BROWSER may name one)");
  process.exit(77);
}
if (["demo", "served"].includes(suite) && !existsSync(process.env.WARPLENS_DEMO ?? "")) {
  console.log("skipped: the demo is not built");
  process.exit(77);
}
if (suite === "replay" && !existsSync(process.env.WARPLENS_NVCC ?? "")) {
  console.log("skipped: there is no nvcc here");
  process.exit(77);
}
if (suite === "large" && !existsSync(process.env.WARPLENS_BENCH_REPORT ?? "")) {
  console.log("skipped: bench_report is not built");
  process.exit(77);
}
const file = join(dirname(fileURLToPath(import.meta.url)), `${suite}.test.mjs`);
const result = spawnSync(process.execPath, ["--test", file], { stdio: "inherit" });
process.exit(result.status ?? 1);
