import { ask } from "../api.js";
import { type Explained, type ExplainedHit, lostParts, scoreParts } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Head, MemoryLink, Tag } from "../parts/texts.js";
import { go, type Params, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** A question asked of memory: what is found and why, and what is left out and why. */
export function TestRetrieval({ place }: ViewProps) {
  const { params } = place;
  const { question = "" } = params;
  return (
    <section aria-label="Test retrieval">
      <Head title="Test retrieval" />
      <QuestionForm place={place} />
      {question !== "" && <Result params={params} />}
    </section>
  );
}

function QuestionForm({ place }: Readonly<{ place: Place }>) {
  const { question = "", agent = "", thread = "", categories = "", topK = "" } = place.params;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [
      name,
      String(value),
    ]);
    go({ ...place, params: { ...whoseOf(place.params), ...Object.fromEntries(given) } });
  };
  return (
    <form class="ask" onSubmit={submit} key={question}>
      <input
        class="search"
        type="search"
        name="question"
        aria-label="Question"
        placeholder="What would the agent ask?   ( / )"
        defaultValue={question}
        required
        dir="auto"
      />
      <label>
        Agent
        <input name="agent" defaultValue={agent} size={12} />
      </label>
      <label>
        Conversation
        <input name="thread" defaultValue={thread} size={14} />
      </label>
      <label>
        Categories
        <input name="categories" defaultValue={categories} size={14} placeholder="all" />
      </label>
      <label>
        At most
        <input name="topK" type="number" min={1} max={100} defaultValue={topK} />
      </label>
      <button type="submit" class="primary">
        Ask
      </button>
    </form>
  );
}

function askIt(params: Params, signal: AbortSignal): Promise<Explained> {
  const { question = "", agent, thread, categories, topK } = params;
  const names = categories?.split(/[\s,]+/).filter((name) => name !== "") ?? [];
  const body = {
    ...{ query: question, explain: true },
    ...(agent && { agent }),
    ...(thread && { threadId: thread }),
    ...(names.length > 0 && { categories: names }),
    ...(topK && { topK: Number(topK) }),
  };
  return ask<Explained>("query", { method: "POST", whose: whoseOf(params), signal, body });
}

function Result({ params }: Readonly<{ params: Params }>) {
  const asked = useAsked((signal) => askIt(params, signal), [params]);
  const whose = whoseOf(params);
  return (
    <Answer asked={asked}>
      {(explained) => (
        <>
          <p class="faint">{searchedBy(explained)}</p>
          <h2>Found</h2>
          {explained.hits.length === 0 ? (
            <p class="note">Nothing fits.</p>
          ) : (
            <Hits hits={explained.hits} whose={whose} />
          )}
          <Omitted explained={explained} whose={whose} />
        </>
      )}
    </Answer>
  );
}

function searchedBy({ question, floor, budgetTokens }: Explained): string {
  const words = question.lexemes.length > 0 ? question.lexemes.join(", ") : "no words";
  const least =
    typeof floor === "number" ? `least similarity ${floor}` : `least evidence ${floor.each}, of the best ${floor.best}`;
  const how = question.broad ? "Asks for all there is" : `Searched by ${words}`;
  return `${how}${question.embedded ? " and by meaning" : ""} · ${least} · budget ${budgetTokens ?? "no"} tokens`;
}

function Hits({ hits, whose }: Readonly<{ hits: readonly ExplainedHit[]; whose: Params }>) {
  const most = Math.max(...hits.map(({ parts, score }) => Math.max(score, sum(parts))), 1e-9);
  return (
    <>
      <p class="key-line faint">
        {scoreParts.map((part) => (
          <span key={part}>
            <span class={`key part-${part}`} /> {partNames[part]}
          </span>
        ))}
      </p>
      <ol class="hits">
        {hits.map((hit) => (
          <li key={hit.memory.id}>
            <p>
              <MemoryLink id={hit.memory.id} whose={whose} text={hit.memory.text.slice(0, 300)} />{" "}
              <span class="faint">
                {hit.memory.category}
                {hit.memory.key !== null && ` · ${hit.memory.key}`} · score {hit.score.toFixed(3)}
                {` · similarity ${hit.similarity.toFixed(3)}`}
              </span>
            </p>
            <ScoreBar hit={hit} most={most} />
            <p class="faint">{hit.reason}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

const partNames: Readonly<Record<(typeof scoreParts)[number], string>> = {
  ...{ words: "words", vector: "meaning", sourceMessage: "source message", identifier: "identifier" },
  ...{ relation: "relation", date: "date", speaker: "speaker", importance: "importance" },
  ...{ recency: "recency", pinned: "pinned" },
};

function sum(parts: ExplainedHit["parts"]): number {
  return scoreParts.reduce((total, part) => total + Math.max(0, parts[part]), 0);
}

function ScoreBar({ hit, most }: Readonly<{ hit: ExplainedHit; most: number }>) {
  let at = 0;
  const drawn = scoreParts.flatMap((part) => {
    const value = Math.max(0, hit.parts[part]);
    const from = at;
    at += value;
    return value === 0 ? [] : [{ part, value, from }];
  });
  const lost = lostParts.flatMap((part) => (hit.parts[part] < 0 ? [`${part} ${hit.parts[part].toFixed(3)}`] : []));
  const gained = drawn.map(({ part, value }) => `${partNames[part]} ${value.toFixed(3)}`);
  const label = [...gained, ...lost].join(", ");
  return (
    <>
      <svg class="score" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={label || "no part"}>
        {drawn.map(({ part, value, from }) => (
          <rect
            key={part}
            class={`part-${part}`}
            x={(from / most) * 100}
            width={(value / most) * 100}
            y={0}
            height={4}
          />
        ))}
      </svg>
      <p class="faint">{label}</p>
    </>
  );
}

function Omitted({ explained, whose }: Readonly<{ explained: Explained; whose: Params }>) {
  const { omitted } = explained;
  return (
    <>
      <h2>Left out</h2>
      {omitted.length === 0 ? (
        <p class="note">Nothing that was looked at was left out.</p>
      ) : (
        <ul class="hits">
          {omitted.map(({ memory, reason, detail, score }) => (
            <li key={memory.id + reason}>
              <Tag of={reason} tone="bad" />{" "}
              <MemoryLink id={memory.id} whose={whose} text={memory.text.slice(0, 300)} />
              <p class="faint">
                {detail}
                {score !== null && ` · score ${score.toFixed(3)}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
