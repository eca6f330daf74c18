import type { ComponentChildren } from "preact";

/** A line of a list of facts: all is well, or something is to be known. */
export function Fact({ good, children }: { good: boolean; children: ComponentChildren }) {
  return (
    <li class={good ? "good" : "warn"}>
      <span class="mark" aria-hidden="true">
        {good ? "✓" : "!"}
      </span>
      <span>{children}</span>
    </li>
  );
}
