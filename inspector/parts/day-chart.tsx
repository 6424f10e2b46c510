/** A day's two values: one within the other. Null where there is nothing to tell. */
export interface DayBar {
  readonly day: string;
  readonly inner: number | null;
  readonly outer: number | null;
}

/** The least round number that is not below `most`: 1, 2 or 5 of its power of ten. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return power * ([1, 2, 5].find((step) => step * power >= most) ?? 10);
}

/** Bars by day from zero up, with an axis that is whole; a day without anything shows that it has none. */
export function DayChart({
  rows,
  names: [inner, outer],
  unit = "",
}: Readonly<{ rows: readonly DayBar[]; names: readonly [inner: string, outer: string]; unit?: string }>) {
  const most = roundUp(Math.max(...rows.map(({ outer }) => outer ?? 0)));
  const percent = (value: number) => `${(100 * value) / most}%`;
  const told = ({ day, ...bar }: DayBar) =>
    bar.outer === null
      ? `${dayName(day)}: none`
      : `${dayName(day)}: ${inner} ${label(bar.inner ?? 0)}, ${outer} ${label(bar.outer)}`;
  const label = (value: number) => `${Math.round(value * 10) / 10}${unit}`;
  return (
    <figure
      class="chart"
      role="img"
      aria-label={rows
        .filter((row) => row.outer !== null)
        .map(told)
        .join("; ")}
    >
      <div class="axis" aria-hidden="true">
        {[most, most / 2, 0].map((value) => (
          <span key={value}>{label(value)}</span>
        ))}
      </div>
      <div class="days" aria-hidden="true">
        {rows.map((row, place) => (
          <div key={row.day} title={told(row)} class={row.outer === null ? "day none" : "day"}>
            <div class="outer" style={{ height: percent(row.outer ?? 0) }} />
            <div class="inner" style={{ height: percent(row.inner ?? 0) }} />
            {(place === rows.length - 1 || place % 7 === (rows.length - 1) % 7) && (
              <span class="date">{place === rows.length - 1 ? "today" : dayName(row.day)}</span>
            )}
          </div>
        ))}
      </div>
      <figcaption aria-hidden="true">
        <span class="key inner" /> {inner} <span class="key outer" /> {outer}
      </figcaption>
    </figure>
  );
}

function dayName(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}
