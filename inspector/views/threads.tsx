import { ask } from "../api.js";
import type { Said, Thread } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Choice, Field, Filters } from "../parts/filters.js";
import { useList } from "../parts/lists.js";
import { Pages } from "../parts/pages.js";
import { titleFrom } from "../parts/spoken.js";
import { counted, Head, Marked, Tag, When, wordsOf } from "../parts/texts.js";
import { hrefOf, nameOf, type Params, type Place, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Hits of a search in what was said. */
const mostHits = 30;

/** Conversations, newest first; or what was said in them that fits a search. */
export function Threads({ place, isOperator }: ViewProps) {
  const { said = "", since = "", until = "", state = "", app = "" } = place.params;
  return (
    <section aria-label="Conversations">
      <Head title="Conversations" />
      <Filters place={place} search={{ name: "said", value: said, label: "Search what was said" }}>
        <Field label="From" name="since" value={since} type="date" />
        <Field label="To" name="until" value={until} type="date" />
        {isOperator && <Field label="App" name="app" value={app} />}
        {said === "" && (
          <Choice
            name="state"
            label="State"
            value={state}
            words={["", "open", "ended", "failed"]}
          />
        )}
      </Filters>
      {said === "" ? <ThreadList place={place} /> : <Found place={place} />}
    </section>
  );
}

/**
 * The days that are looked at, as times: from the beginning of the first to the end of the last.
 */
function timesOf({ since, until }: Params) {
  const midnight = (day: string, later = 0) => {
    const date = new Date(`${day}T00:00`);
    date.setDate(date.getDate() + later);
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  };
  return { since: since && midnight(since), until: until && midnight(until, 1) };
}

function ThreadList({ place }: Readonly<{ place: Place }>) {
  const { after, state } = place.params;
  const asked = useList<Thread>("threads", place.params, {
    limit: 50,
    after,
    state,
    ...timesOf(place.params),
  });
  return (
    <Answer asked={asked}>
      {({ rows, next }) => (
        <>
          {rows.length === 0 && <p class="note">No conversation is like that.</p>}
          {rows.length > 0 && (
            <div class="card">
              <ThreadRows threads={rows} />
            </div>
          )}
          <Pages place={place} next={next} />
        </>
      )}
    </Answer>
  );
}

/**
 * A row for each conversation: how it began, how it goes on, whose it is, and whether something
 * failed.
 */
export function ThreadRows({ threads }: Readonly<{ threads: readonly Thread[] }>) {
  if (threads.length === 0) return <p class="note">None yet.</p>;
  return (
    <ul class="rows">
      {threads.map(
        ({ threadId, scope, title, last, failed, messages, lastActivityAt, endedAt }) => (
          <li key={JSON.stringify([scope, threadId])} class="thread">
            <a
              class="row"
              href={hrefOf({ view: "thread", params: { ...paramsOf(scope), thread: threadId } })}
            >
              <bdi>{title === null ? threadId : titleFrom(title)}</bdi>
            </a>
            <p class="last faint">
              {last && (
                <>
                  {last.role === "assistant" && "↳ "}
                  <bdi>{last.text}</bdi>
                </>
              )}
            </p>
            <p class="faint who">
              {failed && <Tag of="failed" tone="bad" />} {endedAt !== null && <Tag of="ended" />}{" "}
              <bdi>{nameOf(paramsOf(scope))}</bdi> · {counted(messages, "message")}
            </p>
            <p class="faint when">
              <When at={lastActivityAt} />
            </p>
          </li>
        ),
      )}
    </ul>
  );
}

/** What was said, each as a link to its turn. */
function Found({ place }: Readonly<{ place: Place }>) {
  const { said = "" } = place.params;
  const asked = useAsked(
    (signal) =>
      ask<{ readonly hits: readonly Said[] }>("transcript/search", {
        ...{
          method: "POST" as const,
          whose: whoseOf(place.params),
          signal,
          body: { query: said, topK: mostHits },
        },
      }),
    [whoseOf(place.params), said],
  );
  const { since = "", until = "" } = timesOf(place.params);
  const beginnings = wordsOf(said);
  return (
    <Answer asked={asked}>
      {({ hits }) => {
        const fitting = hits.filter(
          ({ saidAt }) => saidAt >= since && (until === "" || saidAt < until),
        );
        return (
          <>
            <p class="note">
              {fitting.length === 0
                ? "Nothing that was said fits."
                : counted(fitting.length, "message")}
            </p>
            <ul class="rows card">
              {fitting.map(({ threadId, scope, seq, role, text, saidAt }) => (
                <li key={`${threadId} ${seq}`} class="thread">
                  <a
                    class="row plain"
                    href={hrefOf({
                      view: "thread",
                      params: {
                        ...paramsOf(scope),
                        thread: threadId,
                        around: String(seq),
                        at: String(seq),
                      },
                    })}
                  >
                    <Marked text={excerptOf(text, beginnings)} beginnings={beginnings} />
                  </a>
                  <p class="faint who">
                    {role} · <bdi>{nameOf(paramsOf(scope))}</bdi> · <bdi>{threadId}</bdi>
                  </p>
                  <p class="faint when">
                    <When at={saidAt} />
                  </p>
                </li>
              ))}
            </ul>
          </>
        );
      }}
    </Answer>
  );
}

/** Some of a text, around the first of the words. */
function excerptOf(text: string, beginnings: readonly string[]): string {
  const places = beginnings
    .map((beginning) => text.toLowerCase().indexOf(beginning))
    .filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - 80);
  return places.length === 0
    ? text.slice(0, 240)
    : `${from > 0 ? "…" : ""}${text.slice(from, from + 240)}`;
}
