/** A number that stands out, and what it is. */
export function Figure({ value, label, title }: { value: string; label: string; title?: string }) {
  return (
    <div class="figure" title={title}>
      <b class="num">{value}</b>
      <span>{label}</span>
    </div>
  );
}
