import { useEffect, useRef, useState } from "preact/hooks";
import { type Call, orNull } from "../api.js";
import type { Answer, Explained, Memory, ShownMemory } from "../api-types.js";
import {
  addedIn,
  type InView,
  type LookedAt,
  missingFrom,
  type PromptPart,
  promptOf,
} from "../in-view.js";
import { hrefOf, useHere, useThread } from "../place.js";
import { Compared, ShownLine } from "./delta.js";
import { Bar, Card, MemoryLink, Rows } from "./layout.js";
import { type Ask, ErrorNotice, QueryResult, useAnswer, useQuery } from "./query.js";
import { count, counted, When, Words } from "./texts.js";
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
        <div>
          <Compared view={view} question={question} />
          <Changed view={view} />
          <Prompt {...turn} view={view} />
          <WhatIf turn={view.turn} />
        </div>
      ) : (
        <p class="note">What the model was shown is not kept for this turn.</p>
      )}
      {question && question.text !== "" && <Again question={question.text} view={view} />}
    </aside>
  );
}

/** So many lines are read without a filter. */
const fewLines = 12;

/** The words that each line shares with the turn's question and answer, by the memory's id. */
async function readWords({ turn }: InView, thread: Call, ask: Ask) {
  const { memories } = await ask("/threads/:threadId/shown/words", {
    ...thread,
    query: { seq: turn.seq },
  });
  return new Map(memories.map((each) => [each.id, each]));
}

/** Memories as they are now, by id; null for what is no more. */
async function readMemories(lines: readonly ShownMemory[], ask: Ask) {
  const found = lines.slice(0, 20).map(async ({ id }) => {
    return [id, await orNull(ask("/memories/:id", { ids: { id } }))] as const;
  });
  return new Map(await Promise.all(found));
}

/** What came, what took another's place, and what went, since the turn before. */
function Changed({ view }: { view: InView }) {
  const thread = useThread();
  const { turn, before } = view;
  const added = addedIn(view);
  const gone = missingFrom(before?.lines.values() ?? [], view.lines);
  const [wanted, setWanted] = useState("");
  const [isAnswered, setAnswered] = useState(false);
  const words = useQuery((ask) => readWords(view, thread, ask), [thread, turn.seq]);
  const wordsOf = ({ id }: ShownMemory) => words.value?.get(id);
  const fate = useQuery((ask) => readMemories(gone, ask), [gone.map(({ id }) => id)]);
  const kept = view.lines.size - added.length;
  /** What a line took the place of, by the line's id. */
  const formerOf = new Map(gone.map((line) => [fate.value?.get(line.id)?.supersededBy, line]));
  const answered = added.filter((each) => wordsOf(each)?.answer.length);
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
            />
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
          const former = formerOf.get(line.id);
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
        {gone
          .filter((line) => !added.some(({ id }) => formerOf.get(id) === line))
          .map((line) => (
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

/** Parts of a recall with memories. */
const recalledParts = ["profile", "related", "rest", "notes", "relevant", "episodes"] as const;
/** Parts that a question finds; the others are shown whatever is asked. */
const foundParts: ReadonlySet<string> = new Set(["relevant", "episodes", "related"]);

/** The lines of a recall. */
function linesOf({ memories }: Answer<"/recall", "post">): ShownMemory[] {
  return recalledParts.flatMap((part) =>
    memories[part].map((line) =>
      "memory" in line
        ? { ...line.memory, part, score: line.score, scoreParts: line.parts }
        : { ...line, part, score: null, scoreParts: null },
    ),
  );
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
  const { hits } = explained as Explained;
  const words = hits.map(({ memory, matched }) => [memory.id, { question: matched }] as const);
  return { lines: linesOf(recalled), words: new Map(words) };
}

/** The same question with today's memory, as a difference to what the turn added. */
function Again({ question, view }: { question: string; view: InView | undefined }) {
  const { owner, params } = useHere();
  const [times, setTimes] = useState(0);
  const today = useQuery(async (ask) => (times === 0 ? null : recallToday(question, ask)), [times]);
  const test = { ...owner, question: question.slice(0, 500), thread: params.thread };
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
  words,
  view,
}: Awaited<ReturnType<typeof recallToday>> & { view: InView | undefined }) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.scrollIntoView({ block: "nearest" }), []);
  const before = view?.before;
  const then = addedIn(view);
  const today = missingFrom(lines, before?.lines).filter(
    ({ part }) => before === undefined || foundParts.has(part),
  );
  const added = missingFrom(today, view?.lines);
  const gone = missingFrom(then, new Set(lines.map(({ id }) => id)));
  return (
    <div role="status" ref={top}>
      <h3>Today, beside what this turn added</h3>
      <ul class="delta">
        {added.map((line) => (
          <ShownLine key={line.id} line={line} words={words.get(line.id)} sign="added" />
        ))}
        {gone.map((line) => (
          <ShownLine key={line.id} line={line} words={words.get(line.id)} sign="gone">
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

/** Messages whose sizes are added up. */
const maxMessages = 1_000;

/** The whole prompt in its order, with tokens by part, and how much of it a provider's cache had. */
function Prompt({ view, cost, summary }: LookedAt & { view: InView }) {
  const first = view.opening.firstSeq ?? 0;
  const limit = Math.min(maxMessages, view.turn.seq - first + 1);
  const said = useAnswer("/threads/:threadId/messages", {
    ...useThread(),
    query: { after: first - 1, limit, maxCharacters: 1 },
  });
  const cached = cost?.cachedTokens ?? cost?.sharedTokens ?? null;
  const share =
    cached === null || !cost?.promptTokens ? null : Math.min(1, cached / cost.promptTokens);
  return (
    <Card
      title="The whole prompt"
      kind=""
      beside={
        cost?.promptTokens != null && (
          <span class="faint">
            {cost.source === "estimate" && "about "}
            {count(cost.promptTokens)} tokens{cost.calls > 1 && ` in ${cost.calls} calls`},{" "}
            {count(cost.outputTokens)} out
          </span>
        )
      }
    >
      {share !== null && (
        <p class="faint">
          {cost?.cachedTokens === null
            ? `A cache could have had ${count(100 * share)}%: ${count(cached ?? 0)} tokens were sent before. The model does not say what it had.`
            : `A cache had ${count(100 * share)}% of it: ${counted(cached ?? 0, "token")}.`}
        </p>
      )}
      <QueryResult query={said}>
        {({ messages }) => (
          <Parts parts={promptOf(view, messages, summary, cost)} share={share ?? 0} />
        )}
      </QueryResult>
    </Card>
  );
}

/** The parts as a bar, of which a share is covered, and with what is in them. */
function Parts({ parts, share }: { parts: readonly PromptPart[]; share: number }) {
  const whole = parts.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) || 1;
  return (
    <>
      <Bar
        parts={parts.map(({ name, tokens }, shade) => ({ name, value: tokens ?? 0, shade }))}
        most={whole}
        covered={share * whole}
        label={parts.map(({ name, tokens }) => `${name}: ${tokens ?? "?"} tokens`).join(", ")}
      />
      <ol class="parts">
        {parts.map(({ name, tokens, about, lines = [], text = "" }, place) => (
          <li>
            <details>
              <summary>
                <span class={`key shade-${place}`} /> {name} <span class="faint">{about}</span>
                <span class="number">{tokens === null ? "?" : `≈ ${count(tokens)}`}</span>
              </summary>
              {text !== "" && (
                <p class="text" dir="auto">
                  <Words text={text} />
                </p>
              )}
              <Rows kind="delta" rows={lines}>
                {(line) => <ShownLine key={line.id} line={line} sign="kept" />}
              </Rows>
            </details>
          </li>
        ))}
      </ol>
    </>
  );
}
