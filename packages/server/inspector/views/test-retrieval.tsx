import type { Explained, ExplainedHit } from "../api-types.js";
import { signalNames } from "../parts/delta.js";
import { AsOfField, Field, Filters, PastNotice, pastTime } from "../parts/filters.js";
import { Bar, Card, MemoryLink, Page, Rows } from "../parts/layout.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { Marked, Tag } from "../parts/texts.js";
import { type Params, useHere } from "../place.js";

/** A question asked of memory: what is found and why, and what is omitted and why. */
export function TestRetrieval() {
  const { params } = useHere();
  const explained = useQuery((ask) => explain(params, ask), [params]);
  return (
    <Page title="Test retrieval">
      <Filters name="question" label="Question" does="Ask">
        <Field label="Agent" name="agent" />
        <Field label="Conversation" name="thread" />
        <Field label="Categories" name="categories" />
        <Field label="At most" name="topK" type="number" />
        <AsOfField />
      </Filters>
      <QueryResult query={explained}>
        {(found) =>
          found ? (
            <Found {...found} />
          ) : (
            <p class="note">
              Ask what an agent would ask: what is found, why, and what is omitted.
            </p>
          )
        }
      </QueryResult>
    </Page>
  );
}

async function explain(params: Params, ask: Ask) {
  const { question, agent, thread, categories, topK } = params;
  if (!question) return null;
  const names = categories?.split(/[\s,]+/).filter((name) => name !== "") ?? [];
  const body = {
    query: question,
    explain: true,
    agent,
    threadId: thread,
    categories: names.length > 0 ? names : undefined,
    topK: topK && Number(topK),
    asOf: pastTime(params),
  };
  return (await ask("/query", { method: "post", body })) as Explained;
}

function Found(found: Explained) {
  const { hits, omitted, question } = found;
  const most = Math.max(...hits.map(({ parts }) => sum(parts)));
  return (
    <>
      {found.past && <PastNotice {...found.past} />}
      <p class="note">{searchedBy(found)}</p>
      {question.lacksEmbeddings && (
        <p class="note">
          Meaning is not searched here, although memories have vectors: start{" "}
          <code>mnemograph inspect</code> with <code>--embeddings MODULE</code>, or give{" "}
          <code>createMemory</code> its <code>embeddings</code>.
        </p>
      )}
      <div class="split">
        <Card title="Found">
          <Rows rows={hits} none="Nothing fits.">
            {(hit) => <Hit key={hit.memory.id} hit={hit} most={most} />}
          </Rows>
        </Card>
        <Card title="Omitted">
          <Rows rows={omitted} none="Nothing that was looked at was omitted.">
            {({ memory, reason, detail, score }) => (
              <li key={memory.id + reason}>
                <MemoryLink id={memory.id}>{memory.text.slice(0, 300)}</MemoryLink>
                <p class="faint">
                  <Tag of={reason} tone="bad" /> {detail}{" "}
                  {score !== null && `Score ${score.toFixed(3)}.`}
                </p>
              </li>
            )}
          </Rows>
        </Card>
      </div>
    </>
  );
}

function searchedBy({ question, floor, budgetTokens }: Explained): string {
  const words = question.lexemes.length > 0 ? question.lexemes.join(", ") : "no words";
  const least =
    typeof floor === "number"
      ? `least similarity ${floor}`
      : `least evidence ${floor.each}, or ${floor.best} of the best`;
  const how = question.broad ? "Asks for all there is" : `Searched by ${words}`;
  return `${how}${question.embedded ? " and by meaning" : ""} · ${least} · ${budgetTokens === null ? "no budget of tokens" : `budget ${budgetTokens} tokens`}`;
}

function sum(parts: ExplainedHit["parts"]): number {
  return Object.values(parts).reduce((total, part) => total + Math.max(0, part), 0);
}

function Hit({ hit, most }: { hit: ExplainedHit; most: number }) {
  const { memory, score, similarity, reason, parts } = hit;
  const drawn = Object.entries(parts)
    .map(([part, value], place) => {
      return { name: signalNames[part] ?? part, value, shade: Math.min(place + 1, 4) };
    })
    .filter(({ value }) => value !== 0);
  const label = drawn.map(({ name, value }) => `${name} ${value.toFixed(3)}`).join(", ");
  return (
    <li>
      <MemoryLink id={memory.id}>
        <Marked text={memory.text.slice(0, 300)} words={{ question: hit.matched }} />
      </MemoryLink>
      <Bar parts={drawn} most={most} label={label || "no part"} />
      <p class="faint">
        <strong>{reason}</strong> · score {score.toFixed(3)}: {label} · similarity{" "}
        {similarity.toFixed(3)} · {memory.category}
      </p>
    </li>
  );
}
