import type { ComponentChildren } from "preact";
import { ApiProblem, orNull } from "../api.js";
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
        {({ memory, events, values }) => (
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
                <RestsOn memory={memory} events={events} />
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

/** A memory, its history, and the values that its slot had. */
async function readMemory(id: string, ask: Ask) {
  const call = { ids: { id } };
  const [memory, events] = await Promise.all([ask("/memories/:id", call), readHistory(ask, call)]);
  const { key, category } = memory;
  if (key === null) return { memory, events, values: [] };
  const { memories } = await ask("/memories", {
    query: {
      categories: category,
      keys: key,
      states: ["active", "superseded", "merged", "soft_deleted"],
      limit: 100,
    },
  });
  const values = [...refutedValues({ memory, events }), ...memories].sort((one, two) =>
    one.validFrom.localeCompare(two.validFrom),
  );
  return { memory, events, values };
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
  const { key, state, supersededBy, metadata } = memory;
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
    "Replaced by": supersededBy !== null && (
      <MemoryLink id={supersededBy}>{supersededBy.slice(0, 8)}</MemoryLink>
    ),
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

/** The memories that `memory` names as its evidence, and the insights that name it. */
async function readLinks(memory: Memory, ask: Ask) {
  const { evidence } = memory.metadata;
  const ids = Array.isArray(evidence) ? evidence.filter((id) => typeof id === "string") : [];
  const [insights, ...ground] = await Promise.all([
    ask("/memories", { query: { kinds: "insight", limit: 200 } }),
    ...ids.map((id) => orNull(ask("/memories/:id", { ids: { id } }))),
  ]);
  return {
    ground: ground.filter((found) => found !== null),
    drawn: insights.memories.filter(({ metadata }) =>
      JSON.stringify(metadata.evidence ?? []).includes(memory.id),
    ),
  };
}

/** What a memory rests on, and what was concluded from it. */
function RestsOn({ memory, events }: Trailed) {
  const { id, source } = memory;
  const word = wordOf({ memory, events });
  const links = useQuery((ask) => readLinks(memory, ask), [id]);
  return (
    <Card title="Rests on">
      {word && (
        <p>
          The word of <bdi>{word.actor ?? "somebody"}</bdi>, <When at={word.at} />
        </p>
      )}
      {word && source && <h3>Before, refuted</h3>}
      {source && <Quotation source={source} />}
      <QueryResult query={links}>
        {({ ground, drawn }) => (
          <>
            <Links memories={ground} />
            {!source && !word && ground.length === 0 && (
              <p class="note">No links: it was written by itself.</p>
            )}
            {drawn.length > 0 && <h3>Insights that rest on it</h3>}
            <Links memories={drawn} />
          </>
        )}
      </QueryResult>
    </Card>
  );
}

function Links({ memories }: { memories: readonly Memory[] }) {
  return (
    <Rows kind="lines" rows={memories}>
      {({ id, text }) => (
        <li key={id}>
          <MemoryLink id={id}>{text}</MemoryLink>
        </li>
      )}
    </Rows>
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
