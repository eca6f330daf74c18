import type { Model } from "../../data/model";

/** A sentence for a program in which nothing is worth much. */
export function Verdict({ m }: { m: Model }) {
  const { groups } = m.payload;
  if (groups.length === 0 || groups[0]?.gain_reason === undefined) return null;
  return (
    <p class="verdict warntext">
      {groups.length === 1
        ? "The only finding is of little gain: fixing it would hardly make the program faster."
        : `All ${groups.length} findings are of little gain: fixing them would hardly make the program faster.`}
    </p>
  );
}
