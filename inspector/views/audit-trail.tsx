import { ask } from "../api.js";
import type { HistoryEntry, Memory } from "../api-types.js";
import { type Change, ChangeButtons } from "../parts/ask-first.js";
import { ForgetRequests } from "../parts/forget-requests.js";
import { Card } from "../parts/layout.js";
import { count, Difference, Tag, When, Words } from "../parts/texts.js";
import { useHere } from "../place.js";

/** Who changed what in a memory, newest first, with what became different. */
export function AuditTrail({
  memory,
  events,
}: {
  memory: Memory;
  events: readonly HistoryEntry[];
}) {
  const { owner } = useHere();
  const revertTo = ({ id: to, at }: HistoryEntry): Change => ({
    title: "Revert to what it was then",
    opens: "Revert to this",
    does: "Revert",
    about: (
      <>
        <p>
          It gets the content that it had after the entry of <When at={at} />, and becomes active.
        </p>
        <ForgetRequests memories={[memory]} />
      </>
    ),
    act: (reason) =>
      ask("/memories/:id/revert", {
        method: "post",
        ids: { id: memory.id },
        owner,
        revision: memory.revision,
        body: { to, reason },
      }),
  });
  const hasText = (entry: HistoryEntry) => typeof fieldsOf(entry.new).text === "string";
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
            <Entry entry={entry} />
            {place > 0 && hasText(entry) && memory.state !== "quarantined" && (
              <ChangeButtons kind="plain" changes={[revertTo(entry)]} />
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** The fields of a memory that an entry of its history has. */
const fieldsOf = (state: unknown) => (state ?? {}) as Readonly<Record<string, unknown>>;

/** Whether a field became different, and is not just empty. */
function isReported(before: unknown, after: unknown): boolean {
  if (JSON.stringify(before) === JSON.stringify(after) || after === null) return false;
  return before !== undefined || !["false", "[]", "{}"].includes(JSON.stringify(after));
}

function Entry({ entry }: { entry: HistoryEntry }) {
  const was = fieldsOf(entry.old);
  const { reason, evidence, ...now } = fieldsOf(entry.new);
  const changed = Object.keys(now).filter((name) => isReported(was[name], now[name]));
  const { quote } = fieldsOf(evidence);
  return (
    <>
      {typeof reason === "string" && <p dir="auto">{reason}</p>}
      {typeof quote === "string" && <blockquote dir="auto">{quote}</blockquote>}
      <ul class="lines">
        {changed.map((name) => (
          <li key={name}>
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
      {before === undefined || before === null ? "" : `${JSON.stringify(before)} → `}
      {JSON.stringify(after)}
    </code>
  );
}
