import type { Summary } from "../api-types.js";
import { hrefOf, type Place } from "../place.js";

const [width, rowHeight, top, left, right] = [1_000, 18, 26, 46, 12];

/** The version that is in use: the last that is complete. */
export function inUse(summaries: readonly Summary[]): Summary | undefined {
  return summaries.findLast(({ status }) => status === "completed");
}

/**
 * The windows of summaries: messages along the axis, a bar for each version below the one before, an arrow to what it was
 * made from, and the messages that the summary in use does not cover yet.
 */
export function SummaryPicture({
  place,
  summaries,
  messages,
}: {
  readonly place: Place;
  readonly summaries: readonly Summary[];
  readonly messages: number;
}) {
  // Windows of a long thread would be slivers: what is drawn begins where the first of them does.
  const first = Math.min(...summaries.map(({ startSeq }) => startSeq));
  const end = Math.max(messages, ...summaries.map(({ endSeq }) => endSeq + 1));
  const x = (seq: number) => left + ((seq - first) / Math.max(1, end - first)) * (width - left - right);
  const rows = new Map(summaries.map(({ id }, row) => [id, row]));
  const y = (row: number) => top + row * rowHeight;
  const height = top + summaries.length * rowHeight + 8;
  const current = inUse(summaries);
  const gap = current ? current.endSeq + 1 : first;
  return (
    <figure class="picture">
      <div class="scroll" tabIndex={0} role="group" aria-label="Picture of the summaries">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          role="group"
          aria-label="Windows of the versions, oldest first"
        >
          <defs>
            <marker
              id="tip"
              viewBox="0 0 6 6"
              refX="5"
              refY="3"
              markerWidth="6"
              markerHeight="6"
              orient="auto"
            >
              <path d="M0 0L6 3L0 6z" class="tip" />
            </marker>
          </defs>
          <Axis first={first} end={end} x={x} height={height} />
          {gap < end && (
            <rect class="gap" x={x(gap)} y={top - 4} width={x(end) - x(gap)} height={height - top}>
              <title>{`Messages ${gap} to ${end - 1} are in no summary yet: they are shown word for word.`}</title>
            </rect>
          )}
          {summaries.map((summary, row) => (
            <Bar
              key={summary.id}
              summary={summary}
              isCurrent={summary === current}
              place={place}
              x={x}
              y={y(row)}
            />
          ))}
          {summaries.map((summary, row) => {
            const base = summary.baseId === null ? undefined : rows.get(summary.baseId);
            if (base === undefined) return null;
            const at = x(summary.startSeq) - 4 - ((row - base) % 4) * 4;
            const path = `M${x(summary.startSeq)} ${y(row) + 7}H${at}V${y(base) + 7}H${x(summary.startSeq)}`;
            return row - base <= 1 ? (
              <path key={summary.id} class="arrow" d={path} marker-end="url(#tip)" />
            ) : (
              <path key={summary.id} class="arrow far" d={path} marker-end="url(#tip)" />
            );
          })}
        </svg>
      </div>
      <figcaption class="faint">
        <span class="key completed" /> completed <span class="key current" /> in use{" "}
        <span class="key processing" /> in the making <span class="key failed" /> failed{" "}
        <span class="key gap" /> gap: not covered yet
      </figcaption>
    </figure>
  );
}

interface Scaled {
  readonly x: (seq: number) => number;
}

function Axis({
  first,
  end,
  x,
  height,
}: Scaled & { readonly first: number; readonly end: number; readonly height: number }) {
  const rough = (end - first) / 10;
  const step =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].find((each) => each >= rough) ?? 10_000;
  const ticks = Array.from(
    { length: Math.floor((end - first) / step) + 1 },
    (_, tick) => first + tick * step,
  );
  return (
    <g class="axis">
      {ticks.map((seq) => (
        <g key={seq}>
          <line x1={x(seq)} x2={x(seq)} y1={top - 8} y2={height} />
          <text x={x(seq)} y={12}>
            {seq}
          </text>
        </g>
      ))}
    </g>
  );
}

function Bar({
  summary,
  isCurrent,
  place,
  x,
  y,
}: Scaled & {
  readonly summary: Summary;
  readonly isCurrent: boolean;
  readonly place: Place;
  readonly y: number;
}) {
  const { id, startSeq, endSeq, status } = summary;
  const state = isCurrent ? "current" : status;
  const label = `Version ${id}, ${status}${isCurrent ? ", in use" : ""}: messages ${startSeq} to ${endSeq}`;
  return (
    <a href={hrefOf({ ...place, params: { ...place.params, version: String(id) } })} aria-label={label}>
      <title>{label}</title>
      <rect
        class={`bar ${state}${place.params.version === String(id) ? " chosen" : ""}`}
        {...{ x: x(startSeq), y, width: Math.max(3, x(endSeq + 1) - x(startSeq)), height: 14, rx: 2 }}
      />
      <text class="id" x={2} y={y + 11}>
        {id}
      </text>
    </a>
  );
}
