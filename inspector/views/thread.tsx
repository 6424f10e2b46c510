import { useState } from "preact/hooks";
import { ask, path } from "../api.js";
import type { CallCosts, Message, ShownTurn, ThreadCost } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { count, When, Words } from "../parts/texts.js";
import { hrefOf, type Params, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { ShownBeside } from "./shown-beside.js";

/** Messages of a page. */
const pageMessages = 30;
/** Longest text of a message that comes with its page. */
const mostCharacters = 2_000;

interface ThreadPage {
  readonly messages: readonly Message[];
  readonly turns: readonly ShownTurn[];
  readonly cost: ThreadCost;
}

/** A conversation turn by turn, with what the model was shown beside each. */
export function ThreadView({ place }: ViewProps) {
  const { params } = place;
  const { thread = "", before, after, at } = params;
  const asked = useAsked((signal) => readPage(place, signal), [whoseOf(params), thread, before, after, at]);
  return (
    <section aria-label={`Thread ${thread}`}>
      <h2>
        <bdi>{thread}</bdi>
      </h2>
      <p class="links">
        <a href={hrefOf({ view: "summaries", params: { ...whoseOf(params), thread } })}>How it became summaries</a>
      </p>
      <Answer asked={asked}>
        {(page) =>
          page.messages.length === 0 ? (
            <p class="note">There is no such thread here, or nothing was said in it.</p>
          ) : (
            <>
              <p class="faint">
                In all: {costOf(page.cost.total)}
                {page.cost.background.map(({ kind, inputTokens }) => ` · ${kind} ${count(inputTokens)}`)}
              </p>
              <ThreadPages place={place} messages={page.messages} />
              {turnsOf(page.messages).map((turn) => (
                <Turn key={turn[0]?.seq} messages={turn} page={page} params={params} />
              ))}
              <ThreadPages place={place} messages={page.messages} />
            </>
          )
        }
      </Answer>
    </section>
  );
}

async function readPage({ params }: Place, signal: AbortSignal): Promise<ThreadPage> {
  const { thread = "", before, after, at } = params;
  const from = at === undefined ? after : String(Math.max(-1, Number(at) - 6));
  const whose = whoseOf(params);
  const { messages } = await ask<{ readonly messages: readonly Message[] }>(path`threads/${thread}/messages`, {
    ...{ whose, signal },
    query: { limit: pageMessages, mostCharacters, ...(from === undefined ? { before } : { after: from }) },
  });
  const end = (messages.at(-1)?.seq ?? -1) + 1;
  const call = { whose, signal, query: { limit: pageMessages, cursor: end } };
  const [{ turns }, cost] = await Promise.all([
    ask<{ readonly turns: readonly ShownTurn[] }>(path`threads/${thread}/shown`, call),
    ask<ThreadCost>(path`threads/${thread}/cost`, call),
  ]);
  return { messages, turns, cost };
}

function costOf({ promptTokens, sharedTokens, cachedTokens }: CallCosts): string {
  const told = (tokens: number | null) => (tokens === null ? "?" : count(tokens));
  return `prompt ${told(promptTokens)} tokens, ${told(sharedTokens)} shared, ${told(cachedTokens)} cached`;
}

/** A user's message and everything that answers it. */
function turnsOf(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    if (message.role === "user" || turn === undefined) turns.push([message]);
    else turn.push(message);
  }
  return turns;
}

function ThreadPages({ place, messages }: { readonly place: Place; readonly messages: readonly Message[] }) {
  const [first, last] = [messages[0]?.seq ?? 0, messages.at(-1)?.seq ?? 0];
  const { before: _, after: __, at: ___, ...params } = place.params;
  const to = (where: Params) => hrefOf({ ...place, params: { ...params, ...where } });
  return (
    <nav class="pages" aria-label="Pages of the thread">
      {first > 0 && <a href={to({ before: String(first) })}>← Earlier</a>}
      {first > 0 && <a href={to({ after: "-1" })}>Beginning</a>}
      <span class="faint">
        messages {count(first)}–{count(last)}
      </span>
      {messages.length === pageMessages && <a href={to({ after: String(last) })}>Later →</a>}
      <a href={to({})}>Latest</a>
    </nav>
  );
}

function Turn({
  messages,
  page,
  params,
}: {
  readonly messages: readonly Message[];
  readonly page: ThreadPage;
  readonly params: Params;
}) {
  const seqs = new Set(messages.map(({ seq }) => seq));
  const turn = page.turns.find(({ seq }) => seqs.has(seq));
  const cost = page.cost.turns.find(({ seq }) => seqs.has(seq));
  const said = messages.find(({ role }) => role === "user");
  return (
    <article class="turn">
      <div class="said">
        {messages.map((message) => (
          <Said key={message.seq} message={message} params={params} />
        ))}
        {cost && <p class="faint">{costOf(cost)}</p>}
      </div>
      {said && <ShownBeside turn={turn} question={said.text} params={params} />}
    </article>
  );
}

function Said({ message, params }: { readonly message: Message; readonly params: Params }) {
  const { seq, role, actor, text, characters, saidAt } = message;
  const [whole, setWhole] = useState<string | null>(null);
  const readAll = async () => {
    const call = { whose: whoseOf(params), query: { limit: 1, after: seq - 1 } };
    const { messages } = await ask<{ readonly messages: readonly Message[] }>(
      path`threads/${params.thread ?? ""}/messages`,
      call,
    );
    setWhole(messages[0]?.text ?? "");
  };
  return (
    <div class={`message ${role}${params.at === String(seq) ? " pointed" : ""}`} id={`message-${seq}`}>
      <p class="faint">
        {count(seq)} · {role}
        {actor !== null && (
          <>
            {" "}
            · <bdi>{actor}</bdi>
          </>
        )}{" "}
        · <When at={saidAt} />
      </p>
      <div class="text" dir="auto" tabIndex={whole === null ? undefined : 0}>
        <Words text={whole ?? text} most={whole === null ? mostCharacters : whole.length} />
      </div>
      {whole === null && characters > text.length && (
        <button type="button" class="plain" onClick={readAll}>
          Show all {count(characters)} characters
        </button>
      )}
    </div>
  );
}
