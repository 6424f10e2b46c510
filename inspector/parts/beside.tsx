import { useEffect, useRef, useState } from "preact/hooks";
import { ask, askOrNull, path } from "../api.js";
import type { Explained, Memory, SharedWords, ShownMemory } from "../api-types.js";
import { type InView, type LookedAt, missingFrom } from "../in-view.js";
import { hrefOf, type Params, whoseOf } from "../place.js";
import { Answer, Trouble, useAsked } from "./asked.js";
import { Compared } from "./compared.js";
import { noWords, ShownLine } from "./delta.js";
import { Prompt } from "./prompt.js";
import { count, counted, MemoryLink, When } from "./texts.js";

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
          <Compared {...turn} />
          <Changed view={view} params={params} />
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

/** So many lines are read without a filter. */
const fewLines = 12;

/** The words that each line shares with the turn's question and answer, by the memory's id. */
function useShownWords({ turn, lines }: InView, params: Params) {
  return useAsked(
    async (signal) => {
      if (lines.size === 0) return new Map<string, SharedWords>();
      const to = path`threads/${params.thread ?? ""}/shown/words`;
      const call = { whose: whoseOf(params), signal, query: { seq: turn.seq } };
      const { memories } = await ask<{
        readonly memories: readonly (SharedWords & { readonly id: string })[];
      }>(to, call);
      return new Map(memories.map((each) => [each.id, each]));
    },
    [params.thread, turn.seq],
  );
}

/** What came, what took another's place, and what went, since the turn before. */
function Changed({ view, params }: Readonly<{ view: InView; params: Params }>) {
  const whose = whoseOf(params);
  const { turn, before } = view;
  const added = missingFrom(view.lines.values(), before?.lines);
  const gone = missingFrom(before?.lines.values() ?? [], view.lines);
  const [wanted, setWanted] = useState("");
  const [isAnswered, setAnswered] = useState(false);
  const words = useShownWords(view, params);
  const wordsOf = ({ id }: ShownMemory) => words.value?.get(id) ?? noWords;
  const fate = useAsked((signal) => readMemories(gone, whose, signal), [gone.map(({ id }) => id)]);
  const kept = view.lines.size - added.length;
  const successor = (id: string) => fate.value?.get(id)?.supersededBy ?? null;
  const updated = gone.filter(({ id }) => added.some((line) => line.id === successor(id)));
  const line = (each: ShownMemory) => ({ line: each, whose, words: wordsOf(each) });
  const answered = added.filter((each) => wordsOf(each).answer.length > 0);
  const listed = (isAnswered ? answered : added).filter(({ text }) =>
    (text ?? "").toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  const opens = view.opening === turn && before !== undefined;
  return (
    <section aria-label="Changes since the turn before">
      <h2>
        {before ? "What changed since the turn before" : "What the model was shown first"}
        <span class="faint">
          turn {turn.turn}, <When at={turn.at} />
        </span>
      </h2>
      {words.error && <Trouble error={words.error} again={words.again} />}
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
        {listed.map((each) => {
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
        readonly {
          readonly memory: Memory;
          readonly score: number;
          readonly parts: Readonly<Record<string, number>>;
        }[]
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
    scoreParts: ShownMemory["scoreParts"] = null,
  ) => ({
    id,
    part,
    text,
    score,
    scoreParts,
    createdAt,
    origin,
  });
  return [
    ...Object.entries({ profile, related, rest, notes }).flatMap(([part, found]) =>
      found.map((memory) => line(part, memory)),
    ),
    ...Object.entries({ relevant, episodes }).flatMap(([part, found]) =>
      found.map(({ memory, score, parts }) => line(part, memory, score, parts)),
    ),
  ];
}

/** The same question with today's memory, as a difference to what the turn added. */
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
        // Of a conversation of its own: this one's prompt has most of it already.
        body: { threadId: `inspector-${crypto.randomUUID()}`, query: question, mode: "active" },
      });
      const explained = ask<Explained>("query", {
        ...call,
        body: { query: question, explain: true, topK: 50 },
      });
      const matched = new Map(
        (await explained).hits.map(({ memory, matched }) => [memory.id, matched]),
      );
      return { lines: linesOf(await recalled), matched };
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
        {(found) => found && <Today key={times} found={found} view={view} whose={whose} />}
      </Answer>
    </section>
  );
}

type Found = Readonly<{
  lines: readonly ShownMemory[];
  /** Words that match the question, by the memory's id. */
  matched: ReadonlyMap<string, readonly string[]>;
}>;

/** Parts that a question finds; the others are shown whatever is asked. */
const foundParts: ReadonlySet<string> = new Set(["relevant", "episodes", "related"]);

/** What the turn added, beside what it would add today. */
function Today({
  found: { lines, matched },
  view,
  whose,
}: Readonly<{ found: Found; view: InView | undefined; whose: Params }>) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.scrollIntoView({ block: "nearest" }), []);
  const { before } = view ?? {};
  const then = missingFrom(view?.lines.values() ?? [], before?.lines);
  const today = missingFrom(lines, before?.lines).filter(
    ({ part }) => before === undefined || foundParts.has(part),
  );
  const added = missingFrom(today, view?.lines);
  const gone = missingFrom(then, new Set(lines.map(({ id }) => id)));
  const of = (line: ShownMemory) => ({
    ...{ key: line.id, line, whose },
    words: { ...noWords, question: matched.get(line.id) ?? [] },
  });
  return (
    <div role="status" ref={top}>
      <h3>Today, beside what this turn added</h3>
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
      <p class="faint">
        {counted(then.length - gone.length, "line")} of the {count(then.length)} that it added would
        be shown today as well.
      </p>
    </div>
  );
}
