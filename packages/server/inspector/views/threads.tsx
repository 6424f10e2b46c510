import type { Thread } from "../api-types.js";
import { Choice, Field, Filters, Pages } from "../parts/filters.js";
import { Page, Rows, ThreadLink } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { counted, Marked, Tag, titleFrom, When, wordsOf } from "../parts/texts.js";
import { nameOf, type Params, useHere } from "../place.js";

/** Hits of a search in what was said. */
const maxHits = 30;

/** Conversations, newest first; or what was said in them that fits a search. */
export function Threads() {
  const { params, isOperator } = useHere();
  const { said = "" } = params;
  return (
    <Page title="Conversations">
      <Filters name="said" label="Search what was said">
        <Field label="From" name="since" type="date" />
        <Field label="To" name="until" type="date" />
        {isOperator && <Field label="App" name="appId" />}
        {said === "" && (
          <Choice name="state" label="State" words={["", "open", "ended", "failed"]} />
        )}
      </Filters>
      {said === "" ? <ThreadList /> : <Found said={said} />}
    </Page>
  );
}

/**
 * The days that are looked at, as times: from the beginning of the first to the end of the last.
 */
function timesOf({ since, until }: Params) {
  const midnight = (day: string, later = 0) => {
    const date = new Date(`${day}T00:00`);
    date.setDate(date.getDate() + later);
    return date.toISOString();
  };
  return { since: since && midnight(since), until: until && midnight(until, 1) };
}

function ThreadList() {
  const { params } = useHere();
  const { after, state } = params;
  const page = useAnswer("/threads", { query: { limit: 50, after, state, ...timesOf(params) } });
  return (
    <QueryResult query={page}>
      {({ threads, nextCursor }) => (
        <>
          <ThreadRows threads={threads} kind="rows card" none="No conversation is like that." />
          <Pages next={nextCursor} />
        </>
      )}
    </QueryResult>
  );
}

/**
 * A row for each conversation: how it began, how it goes on, whose it is, and whether something
 * failed.
 */
export function ThreadRows({
  threads,
  kind = "rows",
  none,
}: {
  threads: readonly Thread[];
  kind?: string;
  none: string;
}) {
  return (
    <Rows kind={kind} rows={threads} none={none}>
      {({ threadId, scope, title, last, failed, messages, lastActivityAt, endedAt }) => (
        <li key={JSON.stringify([scope, threadId])} class="thread">
          <ThreadLink owner={scope} thread={threadId} kind="row">
            <bdi>{title === null ? threadId : titleFrom(title)}</bdi>
          </ThreadLink>
          <p class="last faint">
            {last?.role === "assistant" && "↳ "}
            <bdi>{last?.text}</bdi>
          </p>
          <p class="faint who">
            {failed && <Tag of="failed" />} {endedAt && <Tag of="ended" />}{" "}
            <bdi>{nameOf(scope)}</bdi> · {counted(messages, "message")}
          </p>
          <p class="faint when">
            <When at={lastActivityAt} />
          </p>
        </li>
      )}
    </Rows>
  );
}

/** What was said, each as a link to its turn. */
function Found({ said }: { said: string }) {
  const found = useAnswer("/transcript/search", {
    method: "post",
    body: { query: said, topK: maxHits },
  });
  const { since = "", until = "" } = timesOf(useHere().params);
  const words = wordsOf(said);
  return (
    <QueryResult query={found}>
      {({ hits }) => {
        const fitting = hits.filter(
          ({ saidAt }) => saidAt >= since && (until === "" || saidAt < until),
        );
        return (
          <>
            <p class="note">
              {hits.length === 0
                ? "Nothing that was said fits."
                : counted(fitting.length, "message")}
              {hits.length === maxHits && ` of the ${maxHits} that fit best`}
            </p>
            <Rows kind="rows card" rows={fitting}>
              {({ threadId, scope, seq, role, text, saidAt }) => (
                <li key={`${threadId} ${seq}`} class="thread">
                  <ThreadLink owner={scope} thread={threadId} seq={seq} kind="row plain">
                    <Marked text={excerptOf(text, words.question)} words={words} />
                  </ThreadLink>
                  <p class="faint who">
                    {role} · <bdi>{nameOf(scope)}</bdi> · <bdi>{threadId}</bdi>
                  </p>
                  <p class="faint when">
                    <When at={saidAt} />
                  </p>
                </li>
              )}
            </Rows>
          </>
        );
      }}
    </QueryResult>
  );
}

/** Some of a text, around the first of the words. */
function excerptOf(text: string, beginnings: readonly string[]): string {
  const places = beginnings
    .map((beginning) => text.toLowerCase().indexOf(beginning))
    .filter((at) => at >= 0);
  if (places.length === 0) return text.slice(0, 240);
  const from = Math.max(0, Math.min(...places) - 80);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + 240)}`;
}
