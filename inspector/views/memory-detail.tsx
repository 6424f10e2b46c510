import type { ComponentChildren } from "preact";
import { ApiProblem, ask, askOrNull, path } from "../api.js";
import type { HistoryEntry, Memory, MemoryPage, Message, TurnShown } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { count, Head, MemoryLink, Tag, titleOf, toneOf, When, Words } from "../parts/texts.js";
import { hrefOf, type Params, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { AuditTrail } from "./audit-trail.js";
import { MemoryActions } from "./memory-actions.js";
import { SlotValues } from "./slot-values.js";

/** Turns that are listed. */
const mostTurns = 30;

/** One memory: what it says, what it rests on, what it was, and what can be done about it. */
export function MemoryDetail({ place, isOperator }: ViewProps) {
  const { id = "" } = place.params;
  const whose = whoseOf(place.params);
  const asked = useAsked((signal) => readMemory(id, whose, signal), [id, whose]);
  if (asked.error instanceof ApiProblem && asked.error.status === 404) {
    return (
      <section aria-label="Memory">
        <Head title="There is no such memory here" />
        <p class="note">
          It was deleted for good, or is another's.{" "}
          <a href={hrefOf({ view: "memories", params: whose })}>All memories</a>
        </p>
      </section>
    );
  }
  return (
    <section aria-label="Memory">
      <Answer asked={asked}>
        {(known) => (
          <>
            <h1 class="statement" dir="auto">
              <Words text={known.memory.text} />
            </h1>
            <MemoryActions
              memory={known.memory}
              isOperator={isOperator}
              whose={whose}
              again={asked.again}
            />
            {known.former.length > 1 && (
              <section class="card" aria-label="Values over time">
                <h2>{titleOf(known.memory.key ?? "")} over time</h2>
                <SlotValues values={known.former} current={id} />
              </section>
            )}
            <div class="split">
              <div>
                <RestsOn memory={known.memory} events={known.events} whose={whose} />
                <AuditTrail
                  memory={known.memory}
                  events={known.events}
                  whose={whose}
                  again={asked.again}
                />
              </div>
              <div>
                <Facts memory={known.memory} whose={whose} />
                {isOperator && <ShownTo id={id} whose={whose} />}
              </div>
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}

async function readMemory(id: string, whose: Params, signal: AbortSignal) {
  const call = { whose, signal };
  // One that came without an audit trail has none.
  const history = askOrNull<{ readonly events: readonly HistoryEntry[] }>(
    path`memory/${id}/history`,
    call,
  );
  const memory = await ask<Memory>(path`memories/${id}`, call);
  const events = (await history)?.events ?? [];
  const { key, category } = memory;
  if (key === null) return { memory, events, former: [] };
  const query = {
    categories: category,
    keys: key,
    states: ["active", "superseded", "merged", "soft_deleted"],
    limit: 100,
  };
  const { memories } = await ask<MemoryPage>("memories", { ...call, query });
  const former = [...refutedValues(memory, events), ...memories].sort((one, two) =>
    one.validFrom.localeCompare(two.validFrom),
  );
  return { memory, events, former };
}

/** Values that an edit took back, as the slot would show them. */
function refutedValues(memory: Memory, events: readonly HistoryEntry[]): Memory[] {
  const refuted = [];
  for (const entry of events) {
    const [was, is] = [entry.old, entry.new] as (Partial<Memory> | null)[];
    if (entry.event !== "UPDATE" || !was?.value || !is?.value || was.value === is.value) continue;
    refuted.push({ ...memory, value: was.value, state: "refuted", supersededBy: memory.id });
  }
  return refuted.reverse();
}

/** The change that gave a memory its words on somebody's word alone, without a quote. */
function editOf(memory: Memory, events: readonly HistoryEntry[]): HistoryEntry | undefined {
  const latest = events.find(({ old: was, new: is }) => {
    const [before, after] = [was, is] as (Partial<Memory> | null)[];
    return before?.text !== undefined && after?.text !== undefined && before.text !== after.text;
  });
  const now = latest?.new as (Partial<Memory> & { readonly evidence?: unknown }) | undefined;
  const isByHand = latest?.event === "UPDATE" && now?.source === undefined && !now?.evidence;
  return isByHand && now?.text === memory.text ? latest : undefined;
}

function Facts({ memory, whose }: Readonly<{ memory: Memory; whose: Params }>) {
  const { key, state, expiresAt, purgeAt, validTo, supersededBy, metadata } = memory;
  const rows: Readonly<Record<string, ComponentChildren>> = {
    State: <Tag of={state} tone={toneOf(state)} />,
    Kind: memory.kind,
    Category: key === null ? memory.category : `${memory.category} · ${key}`,
    Value: memory.value !== null && <Words text={memory.value} />,
    Importance: `${memory.importance}${memory.pinned ? ", pinned" : ""}`,
    Confidence: memory.confidence.toFixed(2),
    Source: `${memory.origin}, trust: ${memory.trust}`,
    Mentions: count(memory.seenCount),
    "Valid since": <When at={memory.validFrom} />,
    "Valid until": validTo !== null && <When at={validTo} />,
    Learned: <When at={memory.createdAt} />,
    "Last used": <When at={memory.lastAccessedAt} />,
    Expires: expiresAt !== null && <When at={expiresAt} />,
    "Deleted for good": purgeAt !== null && <When at={purgeAt} />,
    Agent: memory.agentId,
    "Said by": memory.actorId !== null && <Words text={memory.actorId} />,
    Tags: memory.tags.length > 0 && <Words text={memory.tags.join(", ")} />,
    Metadata: Object.keys(metadata).length > 0 && <code>{JSON.stringify(metadata)}</code>,
    "Replaced by": supersededBy !== null && <MemoryLink id={supersededBy} whose={whose} />,
    Id: <code>{memory.id}</code>,
  };
  return (
    <dl class="facts card">
      {Object.entries(rows).map(
        ([name, what]) =>
          what && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{what}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** The turns whose prompts it came into. */
function ShownTo({ id, whose }: Readonly<{ id: string; whose: Params }>) {
  const asked = useAsked(
    (signal) =>
      ask<{ readonly turns: readonly TurnShown[] }>(path`memories/${id}/shown`, {
        ...{ whose, signal, query: { limit: mostTurns } },
      }),
    [id, whose],
  );
  return (
    <section class="card" aria-label="Shown in">
      <h2>Shown in</h2>
      <Answer asked={asked}>
        {({ turns }) => (
          <>
            {turns.length === 0 && <p class="note">No turn was shown it.</p>}
            <ul class="lines">
              {turns.map(({ scope, threadId, turn, seq, at, question, part, score }) => {
                const params = { ...paramsOf(scope), thread: threadId, at: String(seq) };
                return (
                  <li key={`${threadId} ${seq}`}>
                    <a href={hrefOf({ view: "thread", params: { ...params, around: params.at } })}>
                      <bdi>{question || threadId}</bdi>
                    </a>
                    <p class="faint">
                      turn {turn} of <bdi>{threadId}</bdi> · <When at={at} withTime /> · {part}
                      {score !== null && ` · score ${score.toFixed(2)}`}
                    </p>
                  </li>
                );
              })}
            </ul>
            {turns.length > 0 && (
              <p class="faint">
                {turns.length === mostTurns && `The latest ${mostTurns}. `}It stayed in the prompts
                of later turns until their epoch ended.
              </p>
            )}
          </>
        )}
      </Answer>
    </section>
  );
}

/** What a memory rests on, and what was concluded from it. */
function RestsOn({
  memory,
  events,
  whose,
}: Readonly<{ memory: Memory; events: readonly HistoryEntry[]; whose: Params }>) {
  const edit = editOf(memory, events);
  const { evidence } = memory.metadata;
  const ids = Array.isArray(evidence) ? evidence.filter((id) => typeof id === "string") : [];
  const asked = useAsked(
    async (signal) => {
      const call = { whose, signal };
      const known = ids.map((id) => askOrNull<Memory>(path`memories/${id}`, call));
      const insights = await ask<MemoryPage>("memories", {
        ...call,
        query: { kinds: "insight", limit: 200 },
      });
      const drawn = insights.memories.filter(({ metadata }) =>
        JSON.stringify(metadata.evidence ?? []).includes(memory.id),
      );
      return { ground: (await Promise.all(known)).flatMap((found) => found ?? []), drawn };
    },
    [memory.id, whose],
  );
  return (
    <section class="card" aria-label="What it rests on">
      <h2>Rests on</h2>
      {edit && (
        <p>
          The word of <bdi>{edit.actor ?? "somebody"}</bdi>, <When at={edit.at} />
        </p>
      )}
      {edit && memory.source && <h3>Before, refuted</h3>}
      {memory.source && <Source memory={memory} whose={whose} />}
      <Answer asked={asked}>
        {({ ground, drawn }) => (
          <>
            <Links memories={ground} whose={whose} />
            {!memory.source && !edit && ground.length === 0 && (
              <p class="note">No links: it was written by itself.</p>
            )}
            {drawn.length > 0 && <h3>Insights that rest on it</h3>}
            <Links memories={drawn} whose={whose} />
          </>
        )}
      </Answer>
    </section>
  );
}

function Links({ memories, whose }: Readonly<{ memories: readonly Memory[]; whose: Params }>) {
  return (
    <ul class="lines">
      {memories.map(({ id, text }) => (
        <li key={id}>
          <MemoryLink id={id} whose={whose} text={text} />
        </li>
      ))}
    </ul>
  );
}

/** The words a memory rests on, in the messages they were said in. */
function Source({ memory, whose }: Readonly<{ memory: Memory; whose: Params }>) {
  const { threadId = "", seqs = [], quote } = memory.source ?? {};
  const first = seqs[0];
  const asked = useAsked(
    async (signal) => {
      if (first === undefined) return { messages: [] };
      // A thread stays within its app, and so may be named from a memory that holds in all.
      const call = { whose, signal, query: { after: first - 1, limit: 1, mostCharacters: 4_000 } };
      return ask<{ readonly messages: readonly Message[] }>(
        path`threads/${threadId}/messages`,
        call,
      );
    },
    [threadId, first, whose],
  );
  const at = String(first ?? "");
  const params = { ...whose, thread: threadId, around: at, at };
  return (
    <>
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
      <p>
        <a href={hrefOf({ view: "thread", params })}>
          <bdi>{threadId}</bdi>, message {seqs.join(", ")}
        </a>
      </p>
    </>
  );
}

function Quoted({ text, quote }: Readonly<{ text: string; quote: string }>) {
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
