import { useEffect, useState } from "preact/hooks";
import { ask, path } from "../api.js";
import type { CallCosts, Job, Message, ShownTurn, Summary, ThreadCost } from "../api-types.js";
import { type InView, inViewOf, missingFrom } from "../in-view.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Beside } from "../parts/beside.js";
import { titleFrom } from "../parts/spoken.js";
import { SummaryStrip, stripVersions } from "../parts/summary-strip.js";
import { mostCharacters, TurnOfTalk, turnsOf } from "../parts/talk.js";
import { count, Head } from "../parts/texts.js";
import { hrefOf, type Params, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { JobList } from "./jobs.js";

/** Messages of a page, and turns before it that say what its first turn had in view. */
const [pageMessages, pageTurns] = [30, 60];
/** How many messages before the one that is looked for. */
const messagesBefore = 8;
const titleCharacters = 200;

type ThreadPage = Awaited<ReturnType<typeof readPage>>;

/** A conversation: the talk, and beside the selected turn what the model was shown. */
export function ThreadView({ place, isOperator }: ViewProps) {
  const { thread = "", before, after, around } = place.params;
  const asked = useAsked(
    (signal) => readPage(place, isOperator, signal),
    [whoseOf(place.params), thread, before, after, around],
  );
  return (
    <section class="conversation" aria-label={`Conversation ${thread}`}>
      <Answer asked={asked}>
        {(page) =>
          page.messages.length === 0 ? (
            <>
              <Head title={thread} />
              <p class="note">
                There is no such conversation here: it was deleted, is another's, or nothing was
                said in it.{" "}
                <a href={hrefOf({ view: "threads", params: whoseOf(place.params) })}>
                  All conversations
                </a>
              </p>
            </>
          ) : (
            <Talk page={page} place={place} again={asked.again} />
          )
        }
      </Answer>
    </section>
  );
}

async function readPage({ params }: Place, isOperator: boolean, signal: AbortSignal) {
  const { thread = "", before, after, around } = params;
  const from = around === undefined ? after : String(Math.max(-1, Number(around) - messagesBefore));
  const whose = whoseOf(params);
  const get = <Value,>(of: string, query: Readonly<Record<string, string | number | undefined>>) =>
    ask<Value>(path`threads/${thread}/` + of, { whose, signal, query });
  const said = (query: Readonly<Record<string, string | number | undefined>>) =>
    get<{ readonly messages: readonly Message[] }>("messages", query);
  const [{ messages }, begun, { summaries }, { jobs }] = await Promise.all([
    said({
      limit: pageMessages,
      mostCharacters,
      ...(from === undefined ? { before } : { after: from }),
    }),
    said({ limit: 3, mostCharacters: titleCharacters, after: -1 }),
    get<{ readonly summaries: readonly Summary[] }>("summaries", { limit: stripVersions }),
    isOperator
      ? ask<{ readonly jobs: readonly Job[] }>("jobs", {
          ...{ whose, signal },
          query: { state: "failed", limit: 100 },
        })
      : { jobs: [] as readonly Job[] },
  ]);
  const end = (messages.at(-1)?.seq ?? -1) + 1;
  const [{ turns }, cost] = await Promise.all([
    get<{ readonly turns: readonly ShownTurn[] }>("shown", { limit: pageTurns, before: end }),
    get<ThreadCost>("cost", { limit: pageMessages, before: end }),
  ]);
  const firstWords = begun.messages.find(({ role }) => role === "user")?.text;
  const title = firstWords === undefined ? thread : titleFrom(firstWords);
  return {
    title,
    messages,
    turns,
    cost,
    summaries,
    failed: jobs.filter(({ threadId }) => threadId === thread),
  };
}

function Talk({
  page,
  place,
  again,
}: Readonly<{ page: ThreadPage; place: Place; again: () => void }>) {
  const { title, messages, turns: shown, cost, summaries, failed } = page;
  const { at, thread = "" } = place.params;
  const isWide = useIsWide();
  const turns = turnsOf(messages);
  const views = inViewOf(shown);
  const selected = turns.findLast(({ seq }) => at === undefined || seq <= Number(at)) ?? turns[0];
  const markOf = (view: InView | undefined) => {
    const added = missingFrom(view?.lines.values() ?? [], view?.before?.lines).length;
    return added > 0 ? `+${added} shown` : "";
  };
  const view = selected && views.get(selected.seq);
  const beside = selected && (
    <Beside
      view={view}
      question={selected.messages.find(({ role }) => role === "user")}
      cost={cost.turns.find(({ seq }) => seq === selected.seq)}
      summary={summaries.find(({ id }) => id === view?.turn.summaryId)}
      params={place.params}
    />
  );
  return (
    <>
      <Head title={title}>
        <p class="faint">
          <bdi>{thread}</bdi> · {costOf(cost.total)}
          {cost.background.length > 0 && " · in the background, tokens in: "}
          {cost.background
            .map(({ kind, inputTokens }) => `${kind} ${count(inputTokens)}`)
            .join(", ")}
        </p>
      </Head>
      <JobList jobs={failed} canRetry again={again} />
      <SummaryStrip summaries={summaries} messages={(messages.at(-1)?.seq ?? 0) + 1} />
      <div class="panes">
        <div class="talk">
          <ThreadPages place={place} messages={messages} />
          {turns.map((turn) => (
            <TurnOfTalk
              key={turn.seq}
              turn={turn}
              place={place}
              mark={markOf(views.get(turn.seq))}
              isSelected={turn === selected}
              again={again}
            >
              {turn === selected && (isWide ? false : beside)}
            </TurnOfTalk>
          ))}
        </div>
        {isWide && beside}
      </div>
    </>
  );
}

const wide = matchMedia("(min-width: 900px)");

/** Whether there is room for something beside the talk. */
function useIsWide(): boolean {
  const [isWide, setWide] = useState(wide.matches);
  useEffect(() => {
    const changed = () => setWide(wide.matches);
    wide.addEventListener("change", changed);
    return () => wide.removeEventListener("change", changed);
  }, []);
  return isWide;
}

function costOf({ promptTokens, cachedTokens, sharedTokens, outputTokens }: CallCosts): string {
  if (promptTokens === null) return "no tokens were reported";
  const cache =
    cachedTokens === null
      ? `${count(sharedTokens ?? 0)} sent before`
      : `${count(cachedTokens)} from a cache`;
  return `${count(promptTokens)} prompt tokens in all, ${cache}, ${count(outputTokens)} out`;
}

function ThreadPages({
  place,
  messages,
}: Readonly<{ place: Place; messages: readonly Message[] }>) {
  const [first, last] = [messages[0]?.seq ?? 0, messages.at(-1)?.seq ?? 0];
  const { before: _, after, at: __, around, ...params } = place.params;
  const to = (where: Params) => hrefOf({ ...place, params: { ...params, ...where } });
  const isLatest = after === undefined && around === undefined && place.params.before === undefined;
  if (first === 0 && (isLatest || messages.length < pageMessages)) return null;
  return (
    <nav class="pages" aria-label="Pages of the conversation">
      {first > 0 && <a href={to({ after: "-1" })}>Beginning</a>}
      {first > 0 && <a href={to({ before: String(first) })}>← Earlier</a>}
      <span class="faint">
        messages {count(first)} to {count(last)}
      </span>
      {messages.length === pageMessages && !isLatest && (
        <a href={to({ after: String(last) })}>Later →</a>
      )}
      {!isLatest && <a href={to({})}>Latest</a>}
    </nav>
  );
}
