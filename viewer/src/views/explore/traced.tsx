import { exact, plural } from "../../widgets/format";
import { launchName, type Side } from "./side";

/** Of a launch whose requests probes traced on the GPU: what is known of it, and what is not. */
export function Traced({ side, beside }: { side: Side; beside: boolean }) {
  const { row, launch, data } = side;
  if (!row.traced) return null;
  const blocks = launch.grid.reduce((n, d) => n * d, 1);
  const others = blocks - data.blocks.length;
  return (
    <p class="muted known">
      {beside && `${launchName(side.m, side.row)}: `}
      Data decides what this kernel accesses: on the GPU the requests of {exact(data.blocks.length)}{" "}
      of its {plural(blocks, "block")} were traced, and are shown with their addresses.{" "}
      {!row.paths &&
        "Where branches that data decides lead, only requests are known: neither other instructions nor barriers. "}
      {others > 0 &&
        (row.hashed
          ? "Of the other blocks there are hashes and counts only: the grid shows them."
          : "Of the other blocks nothing is known; --probes trace,path would tell which paths they took.")}
    </p>
  );
}
