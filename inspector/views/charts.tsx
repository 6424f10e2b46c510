import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { ask } from "../api.js";
import type { StatsDay, StatsHistory } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { go, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** How it went over the last days. */
export function Charts({ place }: ViewProps) {
  const { days = "30" } = place.params;
  const whose = whoseOf(place.params);
  const asked = useAsked(
    (signal) => ask<StatsHistory>("stats", { whose, signal, query: { by: "day", days } }),
    [whose, days],
  );
  return (
    <section aria-label="Charts">
      <Days place={place} days={days} />
      <Answer asked={asked}>
        {(history) => (
          <div class="charts">
            {chartsOf(history.days).map((chart) => (
              <ChartFigure key={chart.title} chart={chart} days={history.days} />
            ))}
          </div>
        )}
      </Answer>
    </section>
  );
}

function Days({ place, days }: { readonly place: Place; readonly days: string }) {
  return (
    <div class="buttons" role="group" aria-label="Days">
      {["7", "30", "90"].map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === days}
          onClick={() => go({ ...place, params: { ...place.params, days: each } })}
        >
          {each} days
        </button>
      ))}
    </div>
  );
}

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

function chartsOf(days: readonly StatsDay[]): Chart[] {
  const of = (pick: (day: StatsDay) => Readonly<Record<string, number>>) => {
    const names = [...new Set(days.flatMap((day) => Object.keys(pick(day))))];
    return names.map((name) => ({ name, values: days.map((day) => pick(day)[name] ?? 0) }));
  };
  const share = days.map(({ recalls, recallsWithMemory }) =>
    recalls === 0 ? null : (100 * recallsWithMemory) / recalls,
  );
  const latency = (["p50", "p95"] as const).map((name) => ({
    ...{ name, values: days.map(({ recallLatencyMs }) => recallLatencyMs?.[name] ?? null) },
  }));
  const energy = days.map(({ energyUnits }) => energyUnits);
  const charts: Chart[] = [
    { title: "Memories by kind", unit: "", series: of(({ memoriesByKind }) => memoriesByKind) },
    { title: "Writes by outcome", unit: "", series: of(({ writesByOutcome }) => writesByOutcome) },
    { title: "Recall latency", unit: "ms", series: latency },
    { title: "Turns with memory", unit: "%", series: [{ name: "share", values: share }] },
    { title: "Tokens by kind of work", unit: "", series: of(({ tokens }) => tokens) },
    { title: "Energy", unit: "units", series: [{ name: "energy", values: energy }] },
  ];
  return charts.map((chart) => ({
    ...chart,
    series: chart.series.filter(({ values }) => values.some((value) => value !== null)),
  }));
}

function ChartFigure({ chart, days }: { readonly chart: Chart; readonly days: readonly StatsDay[] }) {
  const unit = chart.unit === "" ? "" : ` (${chart.unit})`;
  return (
    <figure>
      <figcaption>
        {chart.title}
        {unit}
      </figcaption>
      {chart.series.length === 0 ? (
        <p class="note">Nothing was counted.</p>
      ) : (
        <Plot chart={chart} days={days} />
      )}
      {chart.series.length > 0 && <AsTable chart={chart} days={days} />}
    </figure>
  );
}

/** A colour by its name, as a canvas takes it: that knows neither variables nor `light-dark()`. */
function colorIn(element: HTMLElement, name: string): string {
  const probe = element.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function monthAndDay(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(5, 10);
}

function Plot({ chart, days }: { readonly chart: Chart; readonly days: readonly StatsDay[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    if (!current) return;
    const color = (name: string) => colorIn(current, name);
    const axis = {
      stroke: color("--faint"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
      size: 44,
    };
    const plot = new uPlot(
      {
        ...{ width: current.clientWidth || 400, height: 180, legend: { live: false } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "UTC"),
        cursor: { show: false },
        scales: chart.unit === "%" ? { y: { range: [0, 100] } } : {},
        axes: [{ ...axis, size: 28, values: (_, at) => at.map(monthAndDay) }, axis],
        series: [
          {},
          ...chart.series.map(({ name }, index) => ({
            ...{
              label: name,
              stroke: color(`--series-${index % 7}`),
              width: 2,
              points: { show: true, size: 4, fill: color(`--series-${index % 7}`) },
            },
          })),
        ],
      },
      [days.map(({ day }) => Date.parse(day) / 1_000), ...chart.series.map(({ values }) => [...values])],
      current,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: 180 }));
    resized.observe(current);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [chart, days]);
  return <div class="plot" ref={place} aria-hidden="true" />;
}

/** The same numbers for who does not see the picture. */
function AsTable({ chart, days }: { readonly chart: Chart; readonly days: readonly StatsDay[] }) {
  const digits = (value: number | null | undefined) =>
    value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 1 });
  return (
    <details>
      <summary>{chart.title} as a table</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Day</th>
              {chart.series.map(({ name }) => (
                <th key={name} class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map(({ day }, row) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {chart.series.map(({ name, values }) => (
                  <td key={name} class="number">
                    {digits(values[row])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
