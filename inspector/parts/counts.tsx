import { count } from "./texts.js";

/** How many of each there are. */
export function Counts({
  removed,
  total,
}: {
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
}) {
  const some = Object.entries(removed).filter(([, number]) => number > 0);
  return (
    <table class="counts">
      <tbody>
        {some.map(([name, number]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{count(number)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">together</th>
          <td class="number">{count(total)}</td>
        </tr>
      </tbody>
    </table>
  );
}
