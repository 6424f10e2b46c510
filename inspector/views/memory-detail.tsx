import { ApiProblem, ask, type Call, path } from "../api.js";
import type { HistoryEntry, Memory, MemoryPage, Message } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { count, MemoryLink, Tag, toneOf, When, Words } from "../parts/texts.js";
import { hrefOf, type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { AuditTrail } from "./audit-trail.js";
import { MemoryActions } from "./memory-actions.js";

/** What is known of one memory. */
interface Known {
  readonly memory: Memory;
  readonly events: readonly HistoryEntry[];
  readonly former: readonly Memory[];
}

/** One memory: what it says, what it rests on, what it was, and what can be done about it. */
export function MemoryDetail({ place }: ViewProps) {
  const { id = "" } = place.params;
  const whose = whoseOf(place.params);
  const asked = useAsked((signal) => readMemory(id, whose, signal), [id, whose]);
  return (
    <section aria-label="Memory">
      <Answer asked={asked}>
        {(known) => (
          <>
            <h2 class="statement" dir="auto">
              <Words text={known.memory.text} />
            </h2>
            <MemoryActions memory={known.memory} whose={whose} again={asked.again} />
            <div class="columns">
              <div>
                <Facts memory={known.memory} whose={whose} />
                {known.memory.source && <Source memory={known.memory} whose={whose} />}
                {known.former.length > 1 && <Slot memory={known.memory} values={known.former} whose={whose} />}
              </div>
              <AuditTrail memory={known.memory} events={known.events} whose={whose} again={asked.again} />
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}

async function readMemory(id: string, whose: Params, signal: AbortSignal): Promise<Known> {
  const call = { whose, signal };
  const [memory, { events }] = await Promise.all([ask<Memory>(path`memories/${id}`, call), readHistory(id, call)]);
  const { key, category } = memory;
  if (key === null) return { memory, events, former: [] };
  const query = {
    categories: category,
    keys: key,
    states: ["active", "superseded", "merged", "soft_deleted"],
    limit: 100,
  };
  const { memories } = await ask<MemoryPage>("memories", { ...call, query });
  const former = [...memories].sort((one, two) => two.validFrom.localeCompare(one.validFrom));
  return { memory, events, former };
}

/** Who changed it; nobody of a memory that came without an audit trail. */
async function readHistory(id: string, call: Call): Promise<{ readonly events: readonly HistoryEntry[] }> {
  try {
    return await ask(path`memory/${id}/history`, call);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { events: [] };
    throw error;
  }
}

function Facts({ memory, whose }: { readonly memory: Memory; readonly whose: Params }) {
  const { kind, category, key, value, state, importance, confidence, origin, trust, tags, metadata } = memory;
  const rows: readonly (readonly [string, preact.ComponentChildren])[] = [
    ["State", <Tag key="state" of={state} tone={toneOf(state)} />],
    ["Kind", kind],
    ["Category", key === null ? category : `${category} · ${key}`],
    ...(value === null ? [] : [["Value", <Words key="value" text={value} />] as const]),
    ["Importance", `${importance}${memory.pinned ? ", pinned" : ""}`],
    ["Confidence", confidence.toFixed(2)],
    ["Whose words", `${origin}, trust: ${trust}`],
    ["Said", `${count(memory.seenCount)} ×`],
    ["Holds", <Span key="holds" from={memory.validFrom} to={memory.validTo} />],
    ["Learned", <When key="learned" at={memory.createdAt} />],
    ["Last used", <When key="used" at={memory.lastAccessedAt} />],
    ...(memory.expiresAt === null ? [] : [["Expires", <When key="expires" at={memory.expiresAt} />] as const]),
    ...(memory.purgeAt === null ? [] : [["Deleted for good", <When key="purged" at={memory.purgeAt} />] as const]),
    ...(memory.agentId === null ? [] : [["Agent", memory.agentId] as const]),
    ...(memory.actorId === null ? [] : [["Said by", <Words key="actor" text={memory.actorId} />] as const]),
    ...(tags.length === 0 ? [] : [["Tags", <Words key="tags" text={tags.join(", ")} />] as const]),
    ...(Object.keys(metadata).length === 0
      ? []
      : [["Noted", <code key="noted">{JSON.stringify(metadata)}</code>] as const]),
    ...(memory.supersededBy === null
      ? []
      : [["Gave way to", <MemoryLink key="by" id={memory.supersededBy} whose={whose} />] as const]),
    ["Id", <code key="id">{memory.id}</code>],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

function Span({ from, to }: { readonly from: string; readonly to: string | null }) {
  return (
    <>
      since <When at={from} />
      {to !== null && (
        <>
          {" "}
          until <When at={to} />
        </>
      )}
    </>
  );
}

/** The words a memory rests on, in the messages they were said in. */
function Source({ memory, whose }: { readonly memory: Memory; readonly whose: Params }) {
  const { threadId = "", seqs = [], quote } = memory.source ?? {};
  const first = seqs[0];
  const asked = useAsked(
    async (signal) => {
      if (first === undefined) return { messages: [] };
      const query = { after: first - 1, limit: 1, mostCharacters: 4_000 };
      // A thread stays within its app, and so may be named from a memory that holds in all.
      return ask<{ readonly messages: readonly Message[] }>(path`threads/${threadId}/messages`, {
        whose,
        query,
        signal,
      });
    },
    [threadId, first, whose],
  );
  const params = { ...whose, thread: threadId, ...(first !== undefined && { at: String(first) }) };
  return (
    <section>
      <h3>Source</h3>
      <p>
        <a href={hrefOf({ view: "thread", params })}>
          <bdi>{threadId}</bdi>, message {seqs.join(", ")}
        </a>
      </p>
      <Answer asked={asked}>
        {({ messages: [message] }) => (
          <blockquote dir="auto">
            {message ? (
              <Quoted text={message.text} quote={quote ?? ""} />
            ) : (
              <Words text={quote ?? "The message is of another app's thread."} />
            )}
          </blockquote>
        )}
      </Answer>
    </section>
  );
}

function Quoted({ text, quote }: { readonly text: string; readonly quote: string }) {
  const at = quote === "" ? -1 : text.indexOf(quote);
  if (at < 0) return <Words text={text} />;
  return (
    <>
      <Words text={text.slice(Math.max(0, at - 500), at)} />
      <mark>{quote}</mark>
      <Words text={text.slice(at + quote.length)} most={500} />
    </>
  );
}

/** The values that a slot had, latest first. */
function Slot({
  memory,
  values,
  whose,
}: {
  readonly memory: Memory;
  readonly values: readonly Memory[];
  readonly whose: Params;
}) {
  return (
    <section>
      <h3>Values of {memory.key}</h3>
      <ol class="lines">
        {values.map((each) => (
          <li key={each.id}>
            {each.id === memory.id ? (
              <strong dir="auto">{each.value ?? each.text}</strong>
            ) : (
              <MemoryLink id={each.id} whose={whose} text={each.value ?? each.text} />
            )}{" "}
            <Tag of={each.state} tone={toneOf(each.state)} />{" "}
            <span class="faint">
              <Span from={each.validFrom} to={each.validTo} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
