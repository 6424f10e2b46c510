import { useEffect, useRef, useState } from "preact/hooks";
import { orNull } from "../api.js";
import type { Answer, Memory, SharedWords, ShownMemory } from "../api-types.js";
import { type InView, type LookedAt, missingFrom } from "../in-view.js";
import { hrefOf, useHere } from "../place.js";
import { Compared } from "./compared.js";
import { ShownLine } from "./delta.js";
import { Card, MemoryLink } from "./layout.js";
import { Prompt } from "./prompt.js";
import { type Ask, ErrorNotice, QueryResult, useQuery } from "./query.js";
import { count, counted, noWords, When } from "./texts.js";
import { WhatIf } from "./what-if.js";

/**
 * What the model was shown in a turn: what is different from the turn before, the whole prompt, and
 * what it would be now.
 */
export function TurnPanel(turn: LookedAt) {
  const { view, question } = turn;
  return (
    <aside class="beside" aria-label="What the model was shown" tabIndex={0}>
      {view ? (
        <div key={view.turn.seq}>
          <Compared view={view} question={question} />
          <Changed view={view} />
          <Prompt {...turn} view={view} />
          <WhatIf turn={view.turn} />
        </div>
      ) : (
        <p class="note">What the model was shown is not kept for this turn.</p>
      )}
      {question && question.text !== "" && (
        <Again key={question.seq} question={question.text} view={view} />
      )}
    </aside>
  );
}

/** So many lines are read without a filter. */
const fewLines = 12;

/** The words that each line shares with the turn's question and answer, by the memory's id. */
async function readWords({ turn, lines }: InView, thread: string, ask: Ask) {
  if (lines.size === 0) return new Map<string, SharedWords>();
  const { memories } = await ask("/threads/:threadId/shown/words", {
    ids: { threadId: thread },
    query: { seq: turn.seq },
  });
  return new Map(memories.map((each) => [each.id, each]));
}

/** Memories as they are now, by id; null for what is no more. */
async function readMemories(lines: readonly ShownMemory[], ask: Ask) {
  const found = lines.slice(0, 20).map(async ({ id }) => {
    const memory = await orNull(ask("/memories/:id", { ids: { id } }));
    return [id, memory] as const;
  });
  return new Map(await Promise.all(found));
}

/** What came, what took another's place, and what went, since the turn before. */
function Changed({ view }: { view: InView }) {
  const { thread = "" } = useHere().params;
  const { turn, before } = view;
  const added = missingFrom(view.lines.values(), before?.lines);
  const gone = missingFrom(before?.lines.values() ?? [], view.lines);
  const [wanted, setWanted] = useState("");
  const [isAnswered, setAnswered] = useState(false);
  const words = useQuery((ask) => readWords(view, thread, ask), [thread, turn.seq]);
  const wordsOf = ({ id }: ShownMemory) => words.value?.get(id) ?? noWords;
  const fate = useQuery((ask) => readMemories(gone, ask), [gone.map(({ id }) => id)]);
  const kept = view.lines.size - added.length;
  const successor = (id: string) => fate.value?.get(id)?.supersededBy ?? null;
  const updated = gone.filter(({ id }) => added.some((line) => line.id === successor(id)));
  const answered = added.filter((each) => wordsOf(each).answer.length > 0);
  const listed = (isAnswered ? answered : added).filter(({ text }) =>
    (text ?? "").toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  const opens = view.opening === turn && before !== undefined;
  return (
    <Card
      title={before ? "What changed since the turn before" : "What the model was shown first"}
      kind=""
      beside={
        <span class="faint">
          turn {turn.turn}, <When at={turn.at} />
        </span>
      }
    >
      {words.error && <ErrorNotice error={words.error} again={words.again} />}
      {added.length > fewLines && (
        <p class="narrowing">
          <input
            type="search"
            aria-label="Filter these lines"
            placeholder={`Filter ${counted(added.length, "line")}   ( / )`}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
          <label>
            <input
              type="checkbox"
              disabled={answered.length === 0}
              onChange={({ currentTarget }) => setAnswered(currentTarget.checked)}
            />{" "}
            {count(answered.length)} with words of the answer
          </label>
        </p>
      )}
      {added.length + gone.length === 0 && (
        <p class="note">
          {kept === 0
            ? "Nothing of memory was shown."
            : `Nothing: the same ${counted(kept, "line")} as before.`}
        </p>
      )}
      <ul class="delta">
        {listed.map((line) => {
          const former = updated.find(({ id }) => successor(id) === line.id);
          const sign = former ? "updated" : "added";
          return (
            <ShownLine key={line.id} sign={sign} line={line} words={wordsOf(line)}>
              {former && (
                <>
                  <strong>updated</strong>, it was:{" "}
                  <MemoryLink id={former.id}>{former.text ?? former.id}</MemoryLink>
                </>
              )}
            </ShownLine>
          );
        })}
        {missingFrom(gone, new Set(updated.map(({ id }) => id))).map((line) => (
          <ShownLine key={line.id} sign="gone" line={line} words={wordsOf(line)}>
            <strong>gone</strong>: {fateOf(fate.value?.get(line.id))}
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
    </Card>
  );
}

function fateOf(memory: Memory | null | undefined): string {
  if (memory === null) return "removed since";
  if (memory?.state === "superseded") return "a newer value took its place";
  return memory && memory.state !== "active"
    ? memory.state.replaceAll("_", " ")
    : "it did not fit any more";
}

/** Parts that a question finds; the others are shown whatever is asked. */
const foundParts: ReadonlySet<string> = new Set(["relevant", "episodes", "related"]);

/** The lines of a recall. */
function linesOf({ memories }: Answer<"/recall", "post">): ShownMemory[] {
  const { profile, related, rest, notes, relevant, episodes } = memories;
  const always = Object.entries({ profile, related, rest, notes }).flatMap(([part, found]) =>
    found.map((memory) => ({ ...memory, part, score: null, scoreParts: null })),
  );
  const hits = Object.entries({ relevant, episodes }).flatMap(([part, found]) =>
    found.map(({ memory, score, parts }) => ({ ...memory, part, score, scoreParts: parts })),
  );
  return [...always, ...hits];
}

/** What a question finds today: the lines of a recall, and by which of its words. */
async function recallToday(question: string, ask: Ask) {
  const [recalled, explained] = await Promise.all([
    ask("/recall", {
      method: "post",
      // Of a conversation of its own: this one's prompt has most of it already.
      body: { threadId: `inspector-${crypto.randomUUID()}`, query: question, mode: "active" },
    }),
    ask("/query", { method: "post", body: { query: question, explain: true, topK: 50 } }),
  ]);
  const matched = new Map<string, readonly string[]>();
  if ("question" in explained)
    for (const hit of explained.hits) matched.set(hit.memory.id, hit.matched);
  return { lines: linesOf(recalled), matched };
}

/** The same question with today's memory, as a difference to what the turn added. */
function Again({ question, view }: { question: string; view: InView | undefined }) {
  const { owner, params } = useHere();
  const [times, setTimes] = useState(0);
  const today = useQuery(async (ask) => (times === 0 ? null : recallToday(question, ask)), [times]);
  const test = { ...owner, question: question.slice(0, 500), thread: params.thread ?? "" };
  return (
    <section aria-label="Today">
      <div class="buttons">
        <button type="button" onClick={() => setTimes(times + 1)}>
          Try this turn again with today's memory
        </button>
        <a href={hrefOf("question", test)}>Test retrieval</a>
      </div>
      <QueryResult query={today}>
        {(found) => found && <Today key={times} {...found} view={view} />}
      </QueryResult>
    </section>
  );
}

/** What the turn added, beside what it would add today. */
function Today({
  lines,
  matched,
  view,
}: Awaited<ReturnType<typeof recallToday>> & { view: InView | undefined }) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.scrollIntoView({ block: "nearest" }), []);
  const { before } = view ?? {};
  const then = missingFrom(view?.lines.values() ?? [], before?.lines);
  const today = missingFrom(lines, before?.lines).filter(
    ({ part }) => before === undefined || foundParts.has(part),
  );
  const added = missingFrom(today, view?.lines);
  const gone = missingFrom(then, new Set(lines.map(({ id }) => id)));
  const wordsOf = ({ id }: ShownMemory) => ({ ...noWords, question: matched.get(id) ?? [] });
  return (
    <div role="status" ref={top}>
      <h3>Today, beside what this turn added</h3>
      <ul class="delta">
        {added.map((line) => (
          <ShownLine key={line.id} line={line} words={wordsOf(line)} sign="added" />
        ))}
        {gone.map((line) => (
          <ShownLine key={line.id} line={line} words={wordsOf(line)} sign="gone">
            would not be shown today
          </ShownLine>
        ))}
      </ul>
      <p class="faint">
        {counted(then.length - gone.length, "line")} of the {count(then.length)} that it added would
        be shown today as well.
      </p>
    </div>
  );
}
