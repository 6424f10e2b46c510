import { ask } from "../api.js";
import { type Explained, type ExplainedHit, lostParts, scoreParts } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Bar } from "../parts/bar.js";
import { noWords, signalNames } from "../parts/delta.js";
import { Field, Filters } from "../parts/filters.js";
import { Head, MarkedWords, MemoryLink, Tag } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** A question asked of memory: what is found and why, and what is omitted and why. */
export function TestRetrieval({ place }: ViewProps) {
  const { question = "", agent = "", thread = "", categories = "", topK = "" } = place.params;
  return (
    <section aria-label="Test retrieval">
      <Head title="Test retrieval" />
      <Filters
        place={place}
        search={{ name: "question", value: question, label: "Question" }}
        does="Ask"
      >
        <Field label="Agent" name="agent" value={agent} />
        <Field label="Conversation" name="thread" value={thread} />
        <Field label="Categories" name="categories" value={categories} />
        <Field label="At most" name="topK" value={topK} type="number" />
      </Filters>
      {question === "" ? (
        <p class="note">Ask what an agent would ask: what is found, why, and what is omitted.</p>
      ) : (
        <Result params={place.params} />
      )}
    </section>
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
      {(explained) => {
        const { hits, omitted, question } = explained;
        const most = Math.max(...hits.map(({ parts, score }) => Math.max(score, sum(parts))));
        return (
          <>
            <p class="note">{searchedBy(explained)}</p>
            {question.lacksEmbeddings && (
              <p class="note">
                Meaning is not searched here, although memories have vectors: start{" "}
                <code>mnemograph inspect</code> with <code>--embeddings MODULE</code>, or give{" "}
                <code>createMemory</code> its <code>embeddings</code>.
              </p>
            )}
            <div class="split">
              <section class="card">
                <h2>Found</h2>
                {hits.length === 0 && <p class="note">Nothing fits.</p>}
                <ol class="rows">
                  {hits.map((hit) => (
                    <Hit key={hit.memory.id} hit={hit} most={most} whose={whose} />
                  ))}
                </ol>
              </section>
              <section class="card">
                <h2>Omitted</h2>
                {omitted.length === 0 && (
                  <p class="note">Nothing that was looked at was omitted.</p>
                )}
                <ul class="rows">
                  {omitted.map(({ memory, reason, detail, score }) => (
                    <li key={memory.id + reason}>
                      <MemoryLink id={memory.id} whose={whose} text={memory.text.slice(0, 300)} />
                      <p class="faint">
                        <Tag of={reason} tone="bad" /> {detail}{" "}
                        {score !== null && `Score ${score.toFixed(3)}.`}
                      </p>
                    </li>
                  ))}
                </ul>
              </section>
            </div>
          </>
        );
      }}
    </Answer>
  );
}

function searchedBy({ question, floor, budgetTokens }: Explained): string {
  const words = question.lexemes.length > 0 ? question.lexemes.join(", ") : "no words";
  const least =
    typeof floor === "number"
      ? `least similarity ${floor}`
      : `least evidence ${floor.each}, of the best ${floor.best}`;
  const how = question.broad ? "Asks for all there is" : `Searched by ${words}`;
  return `${how}${question.embedded ? " and by meaning" : ""} · ${least} · budget ${budgetTokens ?? "no"} tokens`;
}

function sum(parts: ExplainedHit["parts"]): number {
  return scoreParts.reduce((total, part) => total + Math.max(0, parts[part]), 0);
}

function Hit({ hit, most, whose }: Readonly<{ hit: ExplainedHit; most: number; whose: Params }>) {
  const { memory, score, similarity, reason } = hit;
  const drawn = scoreParts.flatMap((part, place) => {
    const value = Math.max(0, hit.parts[part]);
    return value === 0
      ? []
      : [{ name: signalNames[part] ?? part, value, shade: Math.min(place + 1, 4) }];
  });
  const lost = lostParts.flatMap((part) =>
    hit.parts[part] < 0 ? [`${part} ${hit.parts[part].toFixed(3)}`] : [],
  );
  const label = [...drawn.map(({ name, value }) => `${name} ${value.toFixed(3)}`), ...lost].join(
    ", ",
  );
  return (
    <li>
      <MemoryLink id={memory.id} whose={whose}>
        <MarkedWords
          text={memory.text.slice(0, 300)}
          words={{ ...noWords, question: hit.matched }}
        />
      </MemoryLink>
      <Bar parts={drawn} most={most} label={label || "no part"} />
      <p class="faint">
        <strong>{reason}</strong> · score {score.toFixed(3)}: {label} · similarity{" "}
        {similarity.toFixed(3)} · {memory.category}
      </p>
    </li>
  );
}
