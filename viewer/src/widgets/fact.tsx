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

/** A row of a table of facts: what it is, and the value. */
export function FactRow({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <tr>
      <th scope="row" class="text">
        {label}
      </th>
      <td class="text">{children}</td>
    </tr>
  );
}
