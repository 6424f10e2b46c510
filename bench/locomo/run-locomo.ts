import { createMemory, type Memory } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { printTable } from "../report.js";
import { type CitedTurns, loadObservations, loadSummaries, loadTurns } from "./load-locomo.js";
import { type LocomoConversation, readLocomo } from "./locomo-data.js";
import {
  type Answered,
  askAll,
  type Recall,
  recallOf,
  type Search,
  timesOf,
  totalled,
} from "./measure-recall.js";
import { misspell } from "./misspell.js";

const topK = 50;
/** Every hit that there is, so that recall at 50 is what the ranking gives and not what the default floor leaves. */
const threshold = 0;

/** Each way of loading has users of its own: what one has learned helps no other. */
const loads = ["turns", "facts", "vectors", "summaries"] as const;
type Load = (typeof loads)[number];
const scopeOf = (load: Load, conversation: LocomoConversation) => ({
  tenantId: load,
  userId: conversation.id,
});

/**
 * Evidence recall of transcript and memory search on the conversations of `file`, loaded and asked through the
 * public API, without any model. Prints tables and a line of JSON.
 */
export async function runLocomo(database: BenchDatabase, file: string): Promise<void> {
  const { conversations } = readLocomo(file);
  const options = {
    // A connection string where there is one: pools made by the library keep plans.
    database: process.env.DATABASE_URL ?? database.pool,
    schema: database.schema,
  };
  const lexical = createMemory(options);
  const hybrid = createMemory({ ...options, embeddings: new HashingEmbeddings({ dimensions: 384 }) });
  try {
    await hybrid.setup();
    const cited = await load(lexical, hybrid, conversations);
    await database.pool.query("analyze");

    const messages =
      (from: Load): Search =>
      async (conversation, query) => {
        const hits = await lexical.transcript.search({
          scope: scopeOf(from, conversation),
          query,
          topK,
          threshold,
        });
        return hits.map(({ messageId }) => [messageId]);
      };
    const memories =
      (memory: Memory, from: Exclude<Load, "turns">): Search =>
      async (conversation, query) => {
        const hits = await memory.query({ scope: scopeOf(from, conversation), query, topK, threshold });
        return hits.map((hit) => cited[from].get(hit.memory.id) ?? []);
      };
    const misspelt =
      (search: Search): Search =>
      (conversation, query) =>
        search(conversation, misspell(query));

    const runs: Record<string, [what: string, search: Search]> = {
      turns: ["turns", messages("turns")],
      turnsWithFacts: ["turns, helped by observations", messages("facts")],
      observations: ["observations", memories(lexical, "facts")],
      observationsHashing: ["observations, with hashing vectors", memories(hybrid, "vectors")],
      summaries: ["summaries (hits stand for whole sessions)", memories(lexical, "summaries")],
      typos: ["turns, every word of 5 letters misspelt", misspelt(messages("turns"))],
      typosObservations: ["observations, misspelt", misspelt(memories(lexical, "facts"))],
      typosHashing: ["observations, misspelt, with hashing vectors", misspelt(memories(hybrid, "vectors"))],
    };
    const answers: Record<string, Answered[]> = {};
    for (const [name, [, search]] of Object.entries(runs))
      answers[name] = await askAll(conversations, search);
    report(runs, answers);
  } finally {
    await hybrid.close();
    await lexical.close();
  }
}

async function load(
  lexical: Memory,
  hybrid: Memory,
  conversations: readonly LocomoConversation[],
): Promise<Record<Exclude<Load, "turns">, CitedTurns>> {
  const cited = { facts: new Map(), vectors: new Map(), summaries: new Map() };
  for (const conversation of conversations) {
    await loadTurns(lexical, conversation, scopeOf("turns", conversation));
    for (const [from, memory] of [
      ["facts", lexical],
      ["vectors", hybrid],
    ] as const) {
      const scope = scopeOf(from, conversation);
      const places = await loadTurns(memory, conversation, scope);
      for (const entry of await loadObservations(memory, conversation, scope, places))
        cited[from].set(...entry);
    }
    for (const entry of await loadSummaries(lexical, conversation, scopeOf("summaries", conversation))) {
      cited.summaries.set(...entry);
    }
  }
  return cited;
}

function report(
  runs: Record<string, [what: string, search: Search]>,
  answers: Record<string, Answered[]>,
): void {
  const names = Object.keys(runs);
  const titled = (name: string) => ({ searched: runs[name]?.[0] ?? name });
  const select = (name: string, wanted: (answer: Answered) => boolean) =>
    (answers[name] ?? []).filter(wanted);
  const total = (name: string) => recallOf(select(name, ({ category }) => totalled.has(category)));

  printTable(
    "Evidence recall in percent, categories 1-4",
    names.map((name) => {
      const { questions, r5, r10, r25, r50, hit10, mrr } = total(name);
      const { p50, p95 } = timesOf(answers[name] ?? []);
      return {
        ...titled(name),
        questions,
        "R@5": r5,
        "R@10": r10,
        "R@25": r25,
        "R@50": r50,
        "hit@10": hit10,
        MRR: mrr,
        "p50 ms": p50,
        "p95 ms": p95,
      };
    }),
  );
  const grouped = (
    title: string,
    keyOf: (answer: Answered) => string,
    wanted: (answer: Answered) => boolean,
  ) => {
    const keys = [...new Set(names.flatMap((name) => select(name, wanted).map(keyOf)))].toSorted();
    printTable(
      title,
      names.map((name) => ({
        ...titled(name),
        ...Object.fromEntries(
          keys.map((key) => [
            key,
            recallOf(select(name, (answer) => wanted(answer) && keyOf(answer) === key)).r10,
          ]),
        ),
      })),
    );
  };
  grouped(
    "R@10 by category (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial)",
    ({ category }) => `category ${category}`,
    () => true,
  );
  grouped(
    "R@10 by conversation, categories 1-4",
    ({ conversation }) => conversation,
    ({ category }) => totalled.has(category),
  );

  const rounded = (recall: Recall) =>
    Object.fromEntries(Object.entries(recall).map(([key, value]) => [key, Math.round(value * 10) / 10]));
  const json = Object.fromEntries(names.map((name) => [name, rounded(total(name))]));
  const cat5 = rounded(recallOf(select("turns", ({ category }) => category === 5)));
  console.log(`\n${JSON.stringify({ ...json, cat5 })}`);
}
