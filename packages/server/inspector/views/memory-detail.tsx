import type { ComponentChildren } from "preact";
import { ApiProblem } from "../api.js";
import type { HistoryEntry, Memory, Source, Trailed } from "../api-types.js";
import { Card, Facts, MemoryLink, Page, Rows, SourceLink, ThreadLink } from "../parts/layout.js";
import { type Ask, QueryResult, useAnswer, useQuery } from "../parts/query.js";
import { count, jsonOf, Tag, titleOf, When, Words } from "../parts/texts.js";
import { hrefOf, useHere } from "../place.js";
import { AuditTrail } from "./audit-trail.js";
import { type SlotValue, SlotValues } from "./memories.js";
import { MemoryActions, readHistory } from "./memory-actions.js";

/** Turns that are listed. */
const maxTurns = 30;
/** Memories that are linked with it. */
const maxLinked = 100;

/** One memory: what it says, what it rests on, what it was, and what can be done about it. */
export function MemoryDetail() {
  const { params, owner, isOperator } = useHere();
  const { id = "" } = params;
  const found = useQuery((ask) => readMemory(id, ask), [id]);
  if (found.error instanceof ApiProblem && found.error.status === 404) {
    return (
      <Page title="There is no such memory here">
        <p class="note">
          It was deleted for good, or is another's.{" "}
          <a href={hrefOf("memories", owner)}>All memories</a>
        </p>
      </Page>
    );
  }
  return (
    <section aria-label="Memory">
      <QueryResult query={found}>
        {({ memory, events, links, values }) => (
          <>
            <h1 class="statement" dir="auto">
              <Words text={memory.text} />
            </h1>
            <MemoryActions memory={memory} events={events} />
            {values.length > 1 && (
              <Card title={`${titleOf(memory.key ?? "")} over time`}>
                <SlotValues values={values} current={id} />
              </Card>
            )}
            <div class="split">
              <div>
                <RestsOn memory={memory} events={events} links={links} />
                <AuditTrail memory={memory} events={events} />
              </div>
              <div>
                <FactsOf memory={memory} />
                {isOperator && <ShownTo id={id} />}
              </div>
            </div>
          </>
        )}
      </QueryResult>
    </section>
  );
}

const states = ["active", "superseded", "merged", "soft_deleted"];

/** A memory, its history, what is linked with it, and the values that its slot had. */
async function readMemory(id: string, ask: Ask) {
  const call = { ids: { id } };
  const [memory, events, linked] = await Promise.all([
    ask("/memories/:id", call),
    readHistory(ask, call),
    ask("/memories", { query: { linkedTo: id, states, limit: maxLinked } }),
  ]);
  const links = linked.memories.map((other) => linkOf({ memory, events }, other));
  for (const { new: now } of events)
    if (now?.refused)
      links.push({ as: against, text: now.refused, says: `not believed: ${now.reason}` });
  const { key, category } = memory;
  if (key === null) return { memory, events, links, values: [] };
  const { memories } = await ask("/memories", {
    query: { categories: category, keys: key, states, limit: 100 },
  });
  const values = [...refutedValues({ memory, events }), ...memories].sort((one, two) =>
    one.validFrom.localeCompare(two.validFrom),
  );
  return { memory, events, links, values };
}

const [ground, drawn] = ["Memories that it rests on", "Insights that rest on it"];
const [against, near] = ["What contradicts it", "Near it, and kept beside it"];

/** Another memory, or a statement that became none, and how it is linked with the one that is looked at. */
interface MemoryLinked extends Pick<Memory, "text"> {
  readonly as: string | undefined;
  readonly id?: string;
  readonly state?: Memory["state"];
  readonly says: string;
}

/** Whether a memory names another as its evidence. */
const restsOn = ({ metadata }: Memory, id: string) =>
  JSON.stringify(metadata.evidence ?? []).includes(id);

/** How two memories are linked, as both and the audit trail have it. */
function linkOf({ memory, events }: Trailed, other: Memory): MemoryLinked {
  const { id, text, state } = other;
  const entry = events.find(({ new: now }) => now?.links?.some(({ to }) => to === id));
  const { verdict, reason = "", left } = entry?.new ?? {};
  const link = { id, text, state, says: reason };
  if (restsOn(memory, id)) return { ...link, as: ground };
  if (restsOn(other, memory.id)) return { ...link, as: drawn };
  if (id === memory.supersededBy) return { ...link, as: against, says: "took its place" };
  if (left) return { ...link, as: against, says: `${verdict}, both kept (${left}): ${reason}` };
  return { ...link, as: other.supersededBy === memory.id ? against : near };
}

/** Values that an edit took back, as the slot would show them. */
function refutedValues({ memory, events }: Trailed): SlotValue[] {
  const refuted: SlotValue[] = [];
  for (const { event, old: was, new: is } of events)
    if (event === "UPDATE" && was?.value && is?.value && was.value !== is.value)
      refuted.unshift({ ...memory, value: was.value, state: "refuted" });
  return refuted;
}

/** The entry that gave a memory its words on somebody's word alone, without a quote. */
function wordOf({ memory, events }: Trailed): HistoryEntry | undefined {
  const latest = events.find(({ event, old: was, new: is }) => {
    if (event === "ADD") return is?.reason !== undefined;
    return was?.text !== undefined && is?.text !== undefined && was.text !== is.text;
  });
  const { source, evidence, text } = latest?.new ?? {};
  const isByHand = ["ADD", "UPDATE"].includes(latest?.event ?? "");
  return isByHand && !source && !evidence && text === memory.text ? latest : undefined;
}

function FactsOf({ memory }: { memory: Memory }) {
  const { key, state, metadata } = memory;
  const when = (at: string | null) => at !== null && <When at={at} />;
  const words = (text: string | null) => text && <Words text={text} />;
  const rows: Readonly<Record<string, ComponentChildren>> = {
    State: <Tag of={state} />,
    Kind: memory.kind,
    Category: key === null ? memory.category : `${memory.category} · ${key}`,
    Value: words(memory.value),
    Importance: `${memory.importance}${memory.pinned ? ", pinned" : ""}`,
    Confidence: memory.confidence.toFixed(2),
    Source: `${memory.origin}, trust: ${memory.trust}`,
    Mentions: count(memory.seenCount),
    "Valid since": when(memory.validFrom),
    "Valid until": when(memory.validTo),
    "In doubt since": when(memory.doubtedAt),
    Learned: when(memory.createdAt),
    "Last used": when(memory.lastAccessedAt),
    Expires: when(memory.expiresAt),
    "Deleted for good": when(memory.purgeAt),
    Agent: memory.agentId,
    "Said by": words(memory.actorId),
    Tags: words(memory.tags.join(", ")),
    Metadata: jsonOf(metadata) !== "{}" && <code>{jsonOf(metadata)}</code>,
    Id: <code>{memory.id}</code>,
  };
  return <Facts kind="facts card" rows={Object.entries(rows)} />;
}

/** The turns whose prompts it came into. */
function ShownTo({ id }: { id: string }) {
  const shown = useAnswer("/memories/:id/shown", { ids: { id }, query: { limit: maxTurns } });
  return (
    <Card title="Shown in">
      <QueryResult query={shown}>
        {({ turns }) => (
          <>
            <Rows kind="lines" rows={turns} none="No turn was shown it.">
              {({ scope, threadId, turn, seq, at, question, part, score }) => (
                <li key={`${threadId} ${seq}`}>
                  <ThreadLink owner={scope} thread={threadId} seq={seq}>
                    <bdi>{question || threadId}</bdi>
                  </ThreadLink>
                  <p class="faint">
                    turn {turn} of <bdi>{threadId}</bdi> · <When at={at} withTime /> · {part}
                    {score !== null && ` · score ${score.toFixed(2)}`}
                  </p>
                </li>
              )}
            </Rows>
            {turns.length > 0 && (
              <p class="faint">
                {turns.length === maxTurns && `The latest ${maxTurns}. `}It stayed in the prompts of
                later turns until their epoch ended.
              </p>
            )}
          </>
        )}
      </QueryResult>
    </Card>
  );
}

/** The words that a memory rests on, and what is linked with it. */
function RestsOn({ memory, events, links }: Trailed & { links: readonly MemoryLinked[] }) {
  const { source } = memory;
  const word = wordOf({ memory, events });
  return (
    <Card title="Rests on">
      {word && (
        <p>
          The word of <bdi>{word.actor ?? "somebody"}</bdi>, <When at={word.at} />
        </p>
      )}
      {word && source && <h3>Before, refuted</h3>}
      {source && <Quotation source={source} />}
      {!source && !word && links.every(({ as }) => as !== ground) && (
        <p class="note">No message and no memory: it was written by itself.</p>
      )}
      {[...Map.groupBy(links, ({ as }) => as)].map(([title = "", rows]) => (
        <Card title={title} kind="">
          <Rows kind="lines" rows={rows}>
            {({ id = "", text, state = "active", says }) => (
              <li key={id + says}>
                {id ? <MemoryLink id={id}>{text.slice(0, 300)}</MemoryLink> : <Words text={text} />}{" "}
                {state !== "active" && <Tag of={state} />} <span class="faint">{says}</span>
              </li>
            )}
          </Rows>
        </Card>
      ))}
    </Card>
  );
}

/** The words a memory rests on, in the messages they were said in. */
function Quotation({ source }: { source: Source }) {
  const { threadId, quote } = source;
  const [first] = source.seqs;
  const said = useQuery(
    async (ask) => {
      if (first === undefined) return undefined;
      // A thread stays within its app, and so may be named from a memory that holds in all.
      const { messages } = await ask("/threads/:threadId/messages", {
        ids: { threadId },
        query: { after: first - 1, limit: 1, maxCharacters: 4_000 },
      });
      return messages[0];
    },
    [threadId, first],
  );
  return (
    <>
      <QueryResult query={said}>
        {(message) => (
          <blockquote dir="auto">
            {message ? (
              <Quoted text={message.text} quote={quote ?? ""} />
            ) : (
              <Words text={quote ?? "The message is of another app's thread."} />
            )}
          </blockquote>
        )}
      </QueryResult>
      <p>
        <SourceLink source={source} />
      </p>
    </>
  );
}

function Quoted({ text, quote }: { text: string; quote: string }) {
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
