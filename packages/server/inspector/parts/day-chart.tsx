import { count } from "./texts.js";

/** A day's two values: one within the other, which is null where nothing happened. */
export interface DayBar {
  readonly day: string;
  readonly inner: number;
  readonly outer: number | null;
}

/** The least round number that is not below `most`: 1, 2 or 5 of its power of ten. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return power * ([1, 2, 5].find((step) => step * power >= most) ?? 10);
}

/** Bars by day from zero up, with lines to read them by; a day without anything has a dot. */
export function DayChart({
  title,
  rows,
  names,
}: {
  title: string;
  rows: readonly DayBar[];
  names: readonly [string, string];
}) {
  const most = roundUp(Math.max(...rows.map(({ outer }) => outer ?? 0)));
  const share = (value: number) => `${(100 * value) / most}%`;
  const labelOf = ({ day, inner, outer }: DayBar) =>
    `${dayName(day)}: ${outer === null ? "none" : `${names[0]} ${count(inner)}, ${names[1]} ${count(outer)}`}`;
  return (
    <figure>
      <h3>{title}</h3>
      <div class="chart" role="img" aria-label={rows.map(labelOf).join("; ")}>
        {[0, most / 2, most].filter(Number.isInteger).map((value) => (
          <div class="level" style={{ bottom: share(value) }}>
            {count(value)}
          </div>
        ))}
        {rows.map((row, place) => {
          const left = rows.length - 1 - place;
          return (
            <div class={row.outer === null ? "day none" : "day"} title={labelOf(row)}>
              <div class="outer" style={{ height: share(row.outer ?? 0) }} />
              <div class="inner" style={{ height: share(row.inner) }} />
              {left === 0 && <span class="today">today</span>}
              {left > 0 && left % 6 === 0 && <span>{dayName(row.day)}</span>}
            </div>
          );
        })}
      </div>
      <figcaption aria-hidden="true">
        <span class="key inner" /> {names[0]} <span class="key outer" /> {names[1]}
      </figcaption>
    </figure>
  );
}

function dayName(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}
