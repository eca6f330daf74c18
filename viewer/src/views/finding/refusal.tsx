import type { Held, Refusal } from "../../data/payload";
import { bytes, percent } from "../../widgets/format";
import { Bar } from "../../widgets/table";

function Row({ name, size, total }: { name: string; size: number; total: number }) {
  return (
    <tr>
      <td class="text">{name}</td>
      <td class="num">{bytes(size)}</td>
      <td class="text">
        <Bar share={size / total} label={percent(size / total)} />
      </td>
    </tr>
  );
}

/** Who held the device's memory when an allocation failed, and what would have made room. */
export function RefusalTable({ refusal }: { refusal: Refusal }) {
  const { total, held, room } = refusal;
  const others = Math.max(0, total - refusal.free - refusal.in_use);
  const heldName = ({ name, count, rest }: Held) => {
    const more =
      count > 1 ? ` and ${count - 1} more ${rest ? "of its pool" : "allocated there"}` : "";
    return `${rest ? "what is not handed out of " : ""}${name}${more}`;
  };
  return (
    <section>
      <h3>Who held the device's memory then</h3>
      <div class="tablebox">
        <table class="plain">
          <thead>
            <tr>
              <th class="text">object</th>
              <th class="num">size</th>
              <th class="text">of the device</th>
            </tr>
          </thead>
          <tbody>
            {held.map((h) => (
              <Row key={h.object} name={heldName(h)} size={h.bytes} total={total} />
            ))}
            <Row name="CUDA itself and other processes" size={others} total={total} />
            <Row name="free" size={refusal.free} total={total} />
            <Row name="asked for" size={refusal.requested} total={total} />
          </tbody>
        </table>
      </div>
      {room.length > 0 && (
        <>
          <h3>What would have made room</h3>
          <div class="tablebox">
            <table class="plain">
              <thead>
                <tr>
                  <th class="text">finding</th>
                  <th class="text">object</th>
                  <th class="num">room</th>
                </tr>
              </thead>
              <tbody>
                {room.map((r) => (
                  <tr key={r.object}>
                    <td class="text">{r.pattern}</td>
                    <td class="text">{r.name}</td>
                    <td class="num">{bytes(r.bytes)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
