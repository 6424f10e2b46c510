import { useState } from "preact/hooks";
import type { Answer, Message, Summary } from "../api-types.js";
import { addedIn, type InView, inViewOf } from "../in-view.js";
import { DownloadButton } from "../parts/do-button.js";
import { Page } from "../parts/layout.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { maxCharacters, TurnOfTalk, turnsOf } from "../parts/talk.js";
import { count, Difference, Tag, titleFrom, When, Words } from "../parts/texts.js";
import { TurnPanel } from "../parts/turn-panel.js";
import { hrefOf, type Params, useHere, useThread } from "../place.js";
import { JobList } from "./jobs.js";

/** Messages of a page, and turns before it that say what its first turn had in view. */
const [pageMessages, pageTurns] = [30, 60];
/** How many messages before the one that is looked for. */
const messagesBefore = 8;
const titleCharacters = 200;

type ThreadPage = Awaited<ReturnType<typeof readPage>>;

/** A conversation: the talk, and beside the selected turn what the model was shown. */
export function ThreadView() {
  const { params, owner, isOperator } = useHere();
  const { thread = "", before, after, around } = params;
  const found = useQuery(
    (ask) => readPage(params, isOperator, ask),
    [thread, before, after, around],
  );
  return (
    <QueryResult query={found}>
      {(page) =>
        page.messages.length === 0 ? (
          <Page title={thread}>
            <p class="note">
              There is no such conversation here: it was deleted, is another's, or nothing was said
              in it. <a href={hrefOf("threads", owner)}>All conversations</a>
            </p>
          </Page>
        ) : (
          <Talk page={page} />
        )
      }
    </QueryResult>
  );
}

async function readPage(params: Params, isOperator: boolean, ask: Ask) {
  const { thread = "", before, after, around } = params;
  const from = around === undefined ? after : String(Math.max(-1, Number(around) - messagesBefore));
  const ids = { threadId: thread };
  const part = from === undefined ? { before } : { after: from };
  const [{ messages }, begun, { summaries }, jobs] = await Promise.all([
    ask("/threads/:threadId/messages", {
      ids,
      query: { limit: pageMessages, maxCharacters, ...part },
    }),
    ask("/threads/:threadId/messages", {
      ids,
      query: { limit: 3, maxCharacters: titleCharacters, after: -1 },
    }),
    ask("/threads/:threadId/summaries", { ids, query: { limit: stripVersions } }),
    isOperator ? ask("/jobs", { query: { state: "failed", limit: 100 } }) : undefined,
  ]);
  const end = (messages.at(-1)?.seq ?? -1) + 1;
  const [{ turns }, cost] = await Promise.all([
    ask("/threads/:threadId/shown", { ids, query: { limit: pageTurns, before: end } }),
    ask("/threads/:threadId/cost", { ids, query: { limit: pageMessages, before: end } }),
  ]);
  const firstWords = begun.messages.find(({ role }) => role === "user")?.text;
  const title = firstWords === undefined ? thread : titleFrom(firstWords);
  const failed = jobs?.jobs.filter(({ threadId }) => threadId === thread) ?? [];
  return { title, messages, turns, cost, summaries, failed };
}

function Talk({ page }: { page: ThreadPage }) {
  const { title, messages, turns: shown, cost, summaries, failed } = page;
  const { at, thread } = useHere().params;
  const turns = turnsOf(messages);
  const views = inViewOf(shown);
  const selected = turns.findLast(({ seq }) => at === undefined || seq <= Number(at)) ?? turns[0];
  const markOf = (view: InView | undefined) => {
    const added = addedIn(view).length;
    return added > 0 ? `+${added} shown` : "";
  };
  const view = selected && views.get(selected.seq);
  return (
    <Page
      title={title}
      kind="conversation"
      beside={
        <div class="faint">
          <bdi>{thread}</bdi> · {costOf(cost.total)}
          {cost.background.length > 0 && " · in the background, tokens in: "}
          {cost.background
            .map(({ kind, inputTokens }) => `${kind} ${count(inputTokens)}`)
            .join(", ")}{" "}
          <DownloadButton
            does="Export as a test case"
            running="Reading…"
            path="/threads/:threadId/case"
            call={useThread()}
            fileName="case.yaml"
            fileOf={caseIn}
            sayOf={() =>
              "case.yaml is in your downloads: names are replaced, and you write what is expected."
            }
          />
        </div>
      }
    >
      <JobList jobs={failed} />
      <SummaryStrip summaries={summaries} messages={(messages.at(-1)?.seq ?? 0) + 1} />
      <div class="panes">
        <div class="talk">
          <ThreadPages messages={messages} />
          {turns.map((turn) => (
            <TurnOfTalk
              key={turn.seq}
              turn={turn}
              mark={markOf(views.get(turn.seq))}
              isSelected={turn === selected}
            >
              {turn === selected && (
                <TurnPanel
                  view={view}
                  question={turn.messages.find(({ role }) => role === "user")}
                  cost={cost.turns.find(({ seq }) => seq === turn.seq)}
                  summary={summaries.find(({ id }) => id === view?.turn.summaryId)}
                />
              )}
            </TurnOfTalk>
          ))}
        </div>
      </div>
    </Page>
  );
}

async function caseIn(answer: Response): Promise<Blob> {
  const { yaml }: Answer<"/threads/:threadId/case"> = await answer.json();
  return new Blob([yaml], { type: "application/yaml" });
}

function costOf(total: ThreadPage["cost"]["total"]): string {
  const { promptTokens, cachedTokens, sharedTokens, outputTokens } = total;
  if (promptTokens === null) return "no tokens were reported";
  const cache =
    cachedTokens === null
      ? `${count(sharedTokens ?? 0)} sent before`
      : `${count(cachedTokens)} from a cache`;
  return `${count(promptTokens)} prompt tokens in all, ${cache}, ${count(outputTokens)} out`;
}

function ThreadPages({ messages }: { messages: readonly Message[] }) {
  const [first, last] = [messages[0]?.seq ?? 0, messages.at(-1)?.seq ?? 0];
  const { before, after, at: _, around, ...params } = useHere().params;
  const to = (where: Params) => hrefOf("thread", { ...params, ...where });
  const isLatest = after === undefined && around === undefined && before === undefined;
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

/** Versions that the strip draws; older ones are reached from the oldest of them. */
const stripVersions = 40;

/**
 * The versions of a conversation's summary as steps over its messages; one opens its text, and what
 * changed in it.
 */
function SummaryStrip({
  summaries,
  messages,
}: {
  summaries: readonly Summary[];
  messages: number;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  const inUse = summaries.findLast(({ status }) => status === "completed");
  if (summaries.length === 0) return null;
  const tail = messages - 1 - (summaries.at(-1)?.endSeq ?? 0);
  const opened = summaries.find(({ id }) => id === chosen);
  return (
    <section aria-label="Summary history">
      <h2>Summary history</h2>
      <div class="strip">
        {summaries.map(({ id, startSeq, endSeq, status }, place) => (
          <button
            key={id}
            type="button"
            class={`${status} ${id === inUse?.id ? "in-use" : ""}`}
            style={{ flexGrow: endSeq - (summaries[place - 1]?.endSeq ?? startSeq - 1) }}
            aria-expanded={id === chosen}
            onClick={() => setChosen(id === chosen ? null : id)}
          >
            Version {id}, to message {count(endSeq)}
            {id === inUse?.id && ", in use"}
          </button>
        ))}
        {tail > 0 && (
          <span class="faint" style={{ flexGrow: tail }}>
            {tail > 3 && `${count(tail)} word for word`}
          </span>
        )}
      </div>
      {opened && (
        <Version
          summary={opened}
          base={summaries.find(({ id }) => id === opened.baseId)}
          isInUse={opened === inUse}
        />
      )}
    </section>
  );
}

function Version({
  summary,
  base,
  isInUse,
}: {
  summary: Summary;
  base: Summary | undefined;
  isInUse: boolean;
}) {
  const { id, status, startSeq, endSeq, text, error, generationTimeMs, createdAt } = summary;
  return (
    <div class="card version" tabIndex={0} role="region" aria-label={`Version ${id}`}>
      <h3>
        Version {id} <Tag of={isInUse ? "in use" : status} />{" "}
        <span class="faint">
          messages {count(startSeq)} to {count(endSeq)} · <When at={createdAt} />
          {generationTimeMs !== null && ` in ${count(generationTimeMs)} ms`}
        </span>
      </h3>
      {error && (
        <p class="trouble">
          <Words text={error} />
        </p>
      )}
      {text !== null && base?.text != null && (
        <details open>
          <summary>What changed since version {base.id}</summary>
          <Difference before={base.text} after={text} />
        </details>
      )}
      {text && (
        <details open={base?.text == null}>
          <summary>The whole text</summary>
          <p class="text" dir="auto">
            <Words text={text} most={20_000} />
          </p>
        </details>
      )}
    </div>
  );
}
