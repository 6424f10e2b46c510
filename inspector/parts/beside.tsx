import { useState } from "preact/hooks";
import { ApiProblem, ask, path } from "../api.js";
import type { Explained, Memory, Message, ShownMemory, Summary, TurnCost } from "../api-types.js";
import { type InView, missingFrom } from "../in-view.js";
import { hrefOf, type Params, whoseOf } from "../place.js";
import { Answer, Trouble, useAsked } from "./asked.js";
import { foundParts, ShownLine } from "./delta.js";
import { Prompt } from "./prompt.js";
import { counted, MemoryLink, When } from "./texts.js";

/** What the model was shown in a turn: what is different from the turn before, the whole prompt, and what it would be now. */
export function Beside({
  view,
  question,
  cost,
  summaries,
  params,
}: Readonly<{
  view: InView | undefined;
  question: Message | undefined;
  cost: TurnCost | undefined;
  summaries: readonly Summary[];
  params: Params;
}>) {
  return (
    <aside class="beside" aria-label="What the model was shown" tabIndex={0}>
      {view ? (
        <>
          <Changed key={view.turn.seq} view={view} question={question?.text ?? ""} whose={whoseOf(params)} />
          <Prompt key={`prompt-${view.turn.seq}`} view={view} cost={cost} summaries={summaries} params={params} />
        </>
      ) : (
        <>
          <h2>What the model was shown</h2>
          <p class="note">It is not kept for this turn.</p>
        </>
      )}
      {question && question.text !== "" && (
        <Again key={question.seq} question={question.text} view={view} params={params} />
      )}
    </aside>
  );
}

/** What came, what took another's place, and what went, since the turn before. */
function Changed({ view, question, whose }: Readonly<{ view: InView; question: string; whose: Params }>) {
  const { turn, before } = view;
  const added = missingFrom(view.lines.values(), before?.lines);
  const gone = missingFrom(before?.lines.values() ?? [], view.lines);
  const isFound = added.some(({ part }) => foundParts.has(part));
  const lexemes = useAsked(
    async (signal) => {
      if (!isFound) return [];
      const body = { query: question, explain: true, topK: 1 };
      return (await ask<Explained>("query", { method: "POST", whose, signal, body })).question.lexemes;
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
          {kept === 0 ? "Nothing of memory was shown." : `Nothing: the same ${counted(kept, "line")} as before.`}
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
      {added.length + gone.length > 0 && kept > 0 && <p class="faint">{counted(kept, "other line")} as before.</p>}
      {opens && <p class="faint">An epoch begins here: the block was made anew.</p>}
      {turn.omitted > 0 && (
        <p class="faint">{counted(turn.omitted, "memory was", "memories were")} known and not shown.</p>
      )}
    </section>
  );
}

function fateOf(memory: Memory | null | undefined): string {
  if (memory === null) return "removed since";
  if (memory?.state === "superseded") return "a newer value took its place";
  return memory && memory.state !== "active" ? memory.state.replaceAll("_", " ") : "it did not fit any more";
}

/** Memories as they are now, by id; null for what is no more. */
async function readMemories(lines: readonly ShownMemory[], whose: Params, signal: AbortSignal) {
  const read = ({ id }: ShownMemory) =>
    ask<Memory>(path`memories/${id}`, { whose, signal }).catch((error: unknown) => {
      if (error instanceof ApiProblem && error.status === 404) return null;
      throw error;
    });
  return new Map(await Promise.all(lines.slice(0, 20).map(async (line) => [line.id, await read(line)] as const)));
}

interface Recalled {
  readonly memories: Readonly<Record<"profile" | "related" | "rest" | "notes", readonly Memory[]>> &
    Readonly<Record<"relevant" | "episodes", readonly { readonly memory: Memory; readonly score: number }[]>>;
}

/** The lines of a recall. */
function linesOf({ memories }: Recalled): ShownMemory[] {
  const { profile, related, rest, notes, relevant, episodes } = memories;
  const line = (part: string, { id, text, createdAt, origin }: Memory, score: number | null = null) => ({
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
function Again({ question, view, params }: Readonly<{ question: string; view: InView | undefined; params: Params }>) {
  const [now, setNow] = useState<number | null>(null);
  const whose = whoseOf(params);
  return (
    <section aria-label="Today">
      <div class="buttons">
        <button type="button" onClick={() => setNow((now ?? 0) + 1)}>
          Try this turn again with today's memory
        </button>
        <a
          href={hrefOf({
            view: "question",
            params: { ...whose, question: question.slice(0, 500), thread: params.thread ?? "" },
          })}
        >
          Test retrieval
        </a>
      </div>
      {now !== null && <Today key={now} question={question} view={view} params={params} />}
    </section>
  );
}

function Today({ question, view, params }: Readonly<{ question: string; view: InView | undefined; params: Params }>) {
  const whose = whoseOf(params);
  const asked = useAsked(async (signal) => {
    const call = { method: "POST" as const, whose, signal };
    const [
      recalled,
      {
        question: { lexemes },
      },
    ] = await Promise.all([
      ask<Recalled>("recall", { ...call, body: { threadId: params.thread ?? "", query: question, mode: "active" } }),
      ask<Explained>("query", { ...call, body: { query: question, explain: true, topK: 1 } }),
    ]);
    return { lines: linesOf(recalled), lexemes };
  }, []);
  return (
    <Answer asked={asked}>
      {({ lines, lexemes }) => {
        const added = missingFrom(lines, view?.lines);
        const gone = missingFrom(view?.lines.values() ?? [], new Set(lines.map(({ id }) => id)));
        const rows = [...added.map((line) => [line, "added"] as const), ...gone.map((line) => [line, "gone"] as const)];
        return (
          <div role="status">
            <h3>Today, beside what was shown</h3>
            {rows.length === 0 && <p class="note">The same {counted(lines.length, "line")}.</p>}
            <ul class="delta">
              {rows.map(([line, sign]) => (
                <ShownLine key={line.id} line={line} sign={sign} whose={whose} lexemes={lexemes}>
                  {sign === "gone" ? "would not be shown today" : undefined}
                </ShownLine>
              ))}
            </ul>
            {rows.length > 0 && <p class="faint">{counted(lines.length - added.length, "line")} in both.</p>}
          </div>
        );
      }}
    </Answer>
  );
}
