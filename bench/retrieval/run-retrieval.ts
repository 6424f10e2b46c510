import { createMemory, type Memory } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";
import { printResult, printTable } from "../report.js";
import { loadObservations, loadTurns, type Written } from "./load-conversations.js";
import {
  type Answered,
  askAll,
  type Recall,
  recallOf,
  timesOf,
  totalled,
} from "./measure-recall.js";
import { type RetrievalConversation, readConversations } from "./retrieval-data.js";
import { type CitedByLoad, type Load, scopeOf, searchesOf, showEverything } from "./searches.js";

/**
 * Evidence recall of transcript and memory search on the conversations of `file`, loaded and asked
 * through the public API, without any model. Prints tables and a line of JSON.
 */
export async function runRetrieval(database: BenchDatabase, file: string): Promise<void> {
  const { conversations } = readConversations(file);
  const options = { database: database.source, schema: database.schema };
  const lexical = createMemory(options);
  const withVectors = { ...options, embeddings: new HashingEmbeddings({ dimensions: 384 }) };
  const hybrid = createMemory(withVectors);
  const showing = createMemory({ ...withVectors, config: { retrieval: showEverything } });
  try {
    await hybrid.setup();
    const cited = await load(lexical, hybrid, conversations);
    await vacuumSchema(database.pool, database.schema);
    const searches = searchesOf(database, { lexical, hybrid, showing }, cited);
    const answers = await askAll(conversations, searches);
    report(searches, answers);
  } finally {
    for (const memory of [showing, hybrid]) await memory.close();
    await lexical.close();
  }
}

async function load(
  lexical: Memory,
  hybrid: Memory,
  conversations: readonly RetrievalConversation[],
): Promise<CitedByLoad> {
  const cited = { facts: new Map(), vectors: new Map() };
  const outcomes: Record<keyof typeof cited, Record<string, number>> = {
    facts: {},
    vectors: {},
  };
  const keep = (from: Exclude<Load, "turns">, { turns, written }: Written) => {
    for (const entry of turns) cited[from].set(...entry);
    for (const { outcome } of written) outcomes[from][outcome] = (outcomes[from][outcome] ?? 0) + 1;
  };
  for (const conversation of conversations) {
    await loadTurns(lexical, conversation, scopeOf("turns", conversation));
    for (const [from, memory] of [
      ["facts", lexical],
      ["vectors", hybrid],
    ] as const) {
      const scope = scopeOf(from, conversation);
      const places = await loadTurns(memory, conversation, scope);
      keep(from, await loadObservations(memory, conversation, scope, places));
    }
  }
  // What was not kept cannot be found.
  printTable(
    "Memories written",
    Object.entries(outcomes).flatMap(([from, counts]) =>
      Object.entries(counts).map(([outcome, memories]) => ({ load: from, outcome, memories })),
    ),
  );
  return cited;
}

function report(
  runs: ReturnType<typeof searchesOf>,
  answers: Readonly<Record<string, readonly Answered[]>>,
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
    Object.fromEntries(
      Object.entries(recall).map(([key, value]) => [key, Math.round(value * 10) / 10]),
    );
  const json = Object.fromEntries(names.map((name) => [name, rounded(total(name))]));
  const cat5 = rounded(recallOf(select("turns", ({ category }) => category === 5)));
  printResult({ ...json, cat5 });
}
