import type { Model } from "../data/model";

/** What did not go to its end, before all else: the rest may be of a part of the run only. */
export function Failures({ m }: { m: Model }) {
  const { failures } = m.payload;
  if (failures.length === 0) return null;
  return (
    <section class="failures" role="alert" aria-label="Failures">
      {failures.map((f) => (
        <p key={f.what}>
          <b>{f.what}</b>: {f.why}
        </p>
      ))}
      <p class="small">What follows is about what ran until then.</p>
    </section>
  );
}
