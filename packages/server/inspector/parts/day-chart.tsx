import { count } from "./texts.js";

/** A day's two values: one within the other, which is null where nothing happened. */
export interface DayBar {
  readonly day: string;
  readonly inner: number;
  readonly outer: number | null;
}

/** Height of the bars, and of what is above and below them, in px. */
const [height, above, below] = [130, 18, 22];
/** Room for the axis, in percent. */
const axis = 12;

/** The least round number that is not below `most`: 1, 2 or 5 of its power of ten. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return power * ([1, 2, 5].find((step) => step * power >= most) ?? 10);
}

/** Bars by day from zero up, with an axis that is whole; a day without anything has a dot. */
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
  const width = (100 - axis) / rows.length;
  const labelOf = ({ day, inner, outer }: DayBar) =>
    `${dayName(day)}: ${outer === null ? "none" : `${names[0]} ${count(inner)}, ${names[1]} ${count(outer)}`}`;
  const bar = (x: string, name: string, value: number | null) => {
    const tall = (height * (value ?? 0)) / most;
    return (
      <rect
        class={name}
        x={x}
        width={`${width * 0.7}%`}
        y={above + height - tall}
        height={tall}
        rx={2}
      />
    );
  };
  return (
    <figure>
      <h3>{title}</h3>
      <svg
        class="chart"
        height={above + height + below}
        role="img"
        aria-label={rows.map(labelOf).join("; ")}
      >
        {[0, most / 2, most].filter(Number.isInteger).map((value) => {
          const y = above + height * (1 - value / most);
          return (
            <g>
              <line x1="0" x2="100%" y1={y} y2={y} />
              <text y={y - 4}>{value.toLocaleString("en")}</text>
            </g>
          );
        })}
        {rows.map((row, place) => {
          const x = `${axis + width * place}%`;
          const isLast = place === rows.length - 1;
          return (
            <g>
              <title>{labelOf(row)}</title>
              {row.outer === null && (
                <circle cx={`${axis + width * (place + 0.35)}%`} cy={above + height - 5} r={1.5} />
              )}
              {bar(x, "outer", row.outer)}
              {bar(x, "inner", row.inner)}
              {(rows.length - 1 - place) % 6 === 0 && (
                <text
                  x={isLast ? "100%" : x}
                  y="100%"
                  dy={-4}
                  text-anchor={isLast ? "end" : "start"}
                >
                  {isLast ? "today" : dayName(row.day)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
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
