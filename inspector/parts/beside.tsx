import { useState } from "preact/hooks";
import { ask, askOrNull, path } from "../api.js";
import type { Explained, Memory, ShownMemory } from "../api-types.js";
import { type InView, type LookedAt, missingFrom } from "../in-view.js";
import { hrefOf, type Params, whoseOf } from "../place.js";
import { Answer, Trouble, useAsked } from "./asked.js";
import { foundParts, ShownLine } from "./delta.js";
import { Prompt } from "./prompt.js";
import { counted, MemoryLink, When } from "./texts.js";

/**
 * What the model was shown in a turn: what is different from the turn before, the whole prompt, and
 * what it would be now.
 */
export function Beside(turn: LookedAt) {
  const { view, question, params } = turn;
  return (
    <aside class="beside" aria-label="What the model was shown" tabIndex={0}>
      {view ? (
        <div key={view.turn.seq}>
          <Changed view={view} question={question?.text ?? ""} whose={whoseOf(params)} />
          <Prompt {...turn} view={view} />
        </div>
      ) : (
        <p class="note">What the model was shown is not kept for this turn.</p>
      )}
      {question && question.text !== "" && (
        <Again key={question.seq} question={question.text} view={view} params={params} />
      )}
    </aside>
  );
}

/** What came, what took another's place, and what went, since the turn before. */
function Changed({
  view,
  question,
  whose,
}: Readonly<{ view: InView; question: string; whose: Params }>) {
  const { turn, before } = view;
  const added = missingFrom(view.lines.values(), before?.lines);
  const gone = missingFrom(before?.lines.values() ?? [], view.lines);
  const isFound = added.some(({ part }) => foundParts.has(part));
  const lexemes = useAsked(
    async (signal) => {
      if (!isFound) return [];
      const body = { query: question, explain: true, topK: 1 };
      return (await ask<Explained>("query", { method: "POST", whose, signal, body })).question
        .lexemes;
    },
    [question, isFound],
  );
  const fate = useAsked((signal) => readMemories(gone, whose, signal), [gone.map(({ id }) => id)]);
  const kept = view.lines.size - added.length;
  const successor = (id: string) => fate.value?.get(id)?.supersededBy ?? null;
  const updated = gone.filter(({ id }) => added.some((line) => line.id === successor(id)));
  const line = (each: ShownMemory) => ({ line: each, whose, lexemes: lexemes.value ?? [] });
  const opens = view.opening === turn && before !== undefined;
  return (
    <section aria-label="Changes since the turn before">
      <h2>
        {before ? "What changed since the turn before" : "What the model was shown first"}
        <span class="faint">
          turn {turn.turn}, <When at={turn.at} />
        </span>
      </h2>
      {lexemes.error && <Trouble error={lexemes.error} again={lexemes.again} />}
      {added.length + gone.length === 0 && (
        <p class="note">
          {kept === 0
            ? "Nothing of memory was shown."
            : `Nothing: the same ${counted(kept, "line")} as before.`}
        </p>
      )}
      <ul class="delta">
        {added.map((each) => {
          const former = updated.find(({ id }) => successor(id) === each.id);
          return (
            <ShownLine key={each.id} sign={former ? "updated" : "added"} {...line(each)}>
              {former && (
                <>
                  <strong>updated</strong>, it was:{" "}
                  <MemoryLink id={former.id} whose={whose} text={former.text ?? former.id} />
                </>
              )}
            </ShownLine>
          );
        })}
        {missingFrom(gone, new Set(updated.map(({ id }) => id))).map((each) => (
          <ShownLine key={each.id} sign="gone" {...line(each)}>
            <strong>gone</strong>: {fateOf(fate.value?.get(each.id))}
          </ShownLine>
        ))}
      </ul>
      {added.length + gone.length > 0 && kept > 0 && (
        <p class="faint">{counted(kept, "other line")} as before.</p>
      )}
      {opens && <p class="faint">An epoch begins here: the block was made anew.</p>}
      {turn.omitted > 0 && (
        <p class="faint">
          {counted(turn.omitted, "memory was", "memories were")} known and not shown.
        </p>
      )}
    </section>
  );
}

function fateOf(memory: Memory | null | undefined): string {
  if (memory === null) return "removed since";
  if (memory?.state === "superseded") return "a newer value took its place";
  return memory && memory.state !== "active"
    ? memory.state.replaceAll("_", " ")
    : "it did not fit any more";
}

/** Memories as they are now, by id; null for what is no more. */
async function readMemories(lines: readonly ShownMemory[], whose: Params, signal: AbortSignal) {
  const read = ({ id }: ShownMemory) => askOrNull<Memory>(path`memories/${id}`, { whose, signal });
  return new Map(
    await Promise.all(lines.slice(0, 20).map(async (line) => [line.id, await read(line)] as const)),
  );
}

interface Recalled {
  readonly memories: Readonly<Record<"profile" | "related" | "rest" | "notes", readonly Memory[]>> &
    Readonly<
      Record<
        "relevant" | "episodes",
        readonly { readonly memory: Memory; readonly score: number }[]
      >
    >;
}

/** The lines of a recall. */
function linesOf({ memories }: Recalled): ShownMemory[] {
  const { profile, related, rest, notes, relevant, episodes } = memories;
  const line = (
    part: string,
    { id, text, createdAt, origin }: Memory,
    score: number | null = null,
  ) => ({
    id,
    part,
    text,
    score,
    createdAt,
    origin,
  });
  return [
    ...Object.entries({ profile, related, rest, notes }).flatMap(([part, found]) =>
      found.map((memory) => line(part, memory)),
    ),
    ...Object.entries({ relevant, episodes }).flatMap(([part, found]) =>
      found.map(({ memory, score }) => line(part, memory, score)),
    ),
  ];
}

/** The same turn with today's memory, as a difference to what was shown. */
function Again({
  question,
  view,
  params,
}: Readonly<{ question: string; view: InView | undefined; params: Params }>) {
  const [times, setTimes] = useState(0);
  const whose = whoseOf(params);
  const thread = params.thread ?? "";
  const asked = useAsked(
    async (signal) => {
      if (times === 0) return null;
      const call = { method: "POST" as const, whose, signal };
      const recalled = ask<Recalled>("recall", {
        ...call,
        body: { threadId: thread, query: question, mode: "active" },
      });
      const explained = ask<Explained>("query", {
        ...call,
        body: { query: question, explain: true, topK: 1 },
      });
      return { lines: linesOf(await recalled), lexemes: (await explained).question.lexemes };
    },
    [times],
  );
  return (
    <section aria-label="Today">
      <div class="buttons">
        <button type="button" onClick={() => setTimes(times + 1)}>
          Try this turn again with today's memory
        </button>
        <a
          href={hrefOf({
            view: "question",
            params: { ...whose, question: question.slice(0, 500), thread },
          })}
        >
          Test retrieval
        </a>
      </div>
      <Answer asked={asked}>
        {(found) => found && todayOf(found, view?.lines ?? new Map(), whose)}
      </Answer>
    </section>
  );
}

type Found = Readonly<{ lines: readonly ShownMemory[]; lexemes: readonly string[] }>;

function todayOf({ lines, lexemes }: Found, shown: InView["lines"], whose: Params) {
  const added = missingFrom(lines, shown);
  const gone = missingFrom(shown.values(), new Set(lines.map(({ id }) => id)));
  const of = (line: ShownMemory) => ({ key: line.id, line, whose, lexemes });
  return (
    <div role="status">
      <h3>Today, beside what was shown</h3>
      <ul class="delta">
        {added.map((line) => (
          <ShownLine {...of(line)} sign="added" />
        ))}
        {gone.map((line) => (
          <ShownLine {...of(line)} sign="gone">
            would not be shown today
          </ShownLine>
        ))}
      </ul>
      <p class="faint">{counted(lines.length - added.length, "line")} in both.</p>
    </div>
  );
}
