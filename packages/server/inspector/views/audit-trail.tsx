import type { HistoryEntry, Trailed } from "../api-types.js";
import { type Change, ChangeButtons } from "../parts/ask-first.js";
import { Card, MemoryLink, SourceLink } from "../parts/layout.js";
import { count, Difference, jsonOf, Tag, When, Words } from "../parts/texts.js";
import { ForgetRequest, revertTo } from "./memory-actions.js";

/** Who changed what in a memory, newest first, with what became different. */
export function AuditTrail({ memory, events }: Trailed) {
  const [latest] = events;
  const isActive = memory.state === "active";
  const revertOf = ({ id, at }: HistoryEntry): Change => ({
    title: "Revert to what it was then",
    opens: "Revert to this",
    does: "Revert",
    about: (
      <>
        <p>
          It gets the content that it had after the entry of <When at={at} />, and becomes active.
          {isActive || " To take that back, remove it."}
        </p>
        <ForgetRequest memory={memory} />
      </>
    ),
    async act(reason) {
      const reverted = await revertTo(memory, id, reason);
      return isActive && (() => revertTo(reverted, latest?.id));
    },
  });
  return (
    <Card title="Audit trail">
      <ol class="rows">
        {events.map((entry, place) => (
          <li key={entry.id}>
            <p>
              <Tag of={entry.event.toLowerCase()} /> <bdi>{entry.actor ?? "somebody"}</bdi>{" "}
              <span class="faint">
                <When at={entry.at} /> · revision {count(entry.revision)}
              </span>
            </p>
            <Entry entry={entry} events={events} />
            {place > 0 && entry.new?.text !== undefined && memory.state !== "quarantined" && (
              <ChangeButtons kind="plain" changes={[revertOf(entry)]} />
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** Whether a field became different, and is not just empty. */
function isReported(before: unknown, after: unknown): boolean {
  const now = jsonOf(after);
  if (jsonOf(before) === now || after === null) return false;
  return before !== undefined || !["false", "[]", "{}"].includes(now ?? "");
}

function Entry({ entry, events }: { entry: HistoryEntry; events: readonly HistoryEntry[] }) {
  const was = entry.old ?? {};
  const { reason, evidence, source, links, revertOf, ...now } = entry.new ?? {};
  const target = events.find(({ id }) => id === revertOf);
  const changed = Object.keys(now).filter((name) => isReported(was[name], now[name]));
  return (
    <>
      {reason && <p dir="auto">{reason}</p>}
      {evidence?.quote && <blockquote dir="auto">{evidence.quote}</blockquote>}
      {target && (
        <p>
          As it was after the entry of <When at={target.at} withTime />
        </p>
      )}
      {source && <SourceLink source={source} />}
      {links?.map(({ to }) => (
        <MemoryLink id={to}>{to.slice(0, 8)} </MemoryLink>
      ))}
      <ul class="lines">
        {changed.map((name) => (
          <li>
            <span class="faint">{name}</span> <Became before={was[name]} after={now[name]} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Became({ before, after }: { before: unknown; after: unknown }) {
  if (typeof before === "string" && typeof after === "string")
    return <Difference before={before} after={after} />;
  if (typeof after === "string") return <Words text={after} most={500} />;
  return (
    <code>
      {before == null ? "" : `${jsonOf(before)} → `}
      {jsonOf(after)}
    </code>
  );
}
