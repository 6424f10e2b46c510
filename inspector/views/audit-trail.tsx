import { ask, path } from "../api.js";
import type { HistoryEntry, Memory } from "../api-types.js";
import { useAskFirst } from "../parts/ask-first.js";
import { ForgetRequests } from "../parts/forget-requests.js";
import { count, Difference, Tag, When, Words } from "../parts/texts.js";
import type { Params } from "../place.js";

type Fields = Readonly<Record<string, unknown>>;

/** Who changed what in a memory, newest first, with what became different. */
export function AuditTrail({
  memory,
  events,
  whose,
  again,
}: Readonly<{
  memory: Memory;
  events: readonly HistoryEntry[];
  whose: Params;
  again: () => void;
}>) {
  const { ask: askFirst, dialog } = useAskFirst(again);
  const revert = ({ id: to, at }: HistoryEntry) =>
    askFirst({
      ...{ title: "Revert to what it was then", does: "Revert" },
      about: (
        <>
          <p>
            It gets the content that it had after the entry of <When at={at} />, and becomes active.
          </p>
          <ForgetRequests memories={[memory]} />
        </>
      ),
      act: (reason) =>
        ask(path`memories/${memory.id}/revert`, {
          ...{ method: "POST", whose, revision: memory.revision, body: { to, reason } },
        }),
    });
  return (
    <section class="card">
      <h2>Audit trail</h2>
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
            {place > 0 &&
              typeof (entry.new as Fields | null)?.text === "string" &&
              memory.state !== "quarantined" && (
                <button type="button" class="plain" onClick={() => revert(entry)}>
                  Revert to this
                </button>
              )}
          </li>
        ))}
      </ol>
      {dialog}
    </section>
  );
}

/** Whether a field became different, and is not just empty. */
function isTold(before: unknown, after: unknown): boolean {
  if (JSON.stringify(before) === JSON.stringify(after) || after === null) return false;
  return before !== undefined || !(after === false || ["[]", "{}"].includes(JSON.stringify(after)));
}

function Entry({ entry }: Readonly<{ entry: HistoryEntry }>) {
  const was = (entry.old ?? {}) as Fields;
  const { reason, evidence, ...now } = (entry.new ?? {}) as Fields;
  const changed = Object.keys(now).filter((name) => isTold(was[name], now[name]));
  const { quote } = (evidence ?? {}) as { readonly quote?: string };
  return (
    <>
      {typeof reason === "string" && <p dir="auto">{reason}</p>}
      {quote !== undefined && <blockquote dir="auto">{quote}</blockquote>}
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

function Became({ before, after }: Readonly<{ before: unknown; after: unknown }>) {
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
