import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { localEmbeddings } from "../../src/local-embeddings/index.js";
import { localModelDir, usePackages } from "../../test/support/local-model.js";
import type { BenchDatabase } from "../bench-database.js";
import type { Line } from "./measure.js";
import { isPerson, type RetrievalConversation } from "./retrieval-data.js";

/** The model that `npm run test:model` brings. Each text is embedded once. */
export function openEmbeddings(): EmbeddingsInterface {
  const modelDir = localModelDir();
  if (modelDir === null) throw new Error("There is no model: run `npm run test:model`.");
  usePackages();
  const local = localEmbeddings({ modelDir });
  const vectors = new Map<string, number[]>();
  return {
    ...local,
    async embedDocuments(texts: string[]) {
      const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
      const made = await local.embedDocuments(missing);
      for (const [place, text] of missing.entries()) vectors.set(text, made[place] ?? []);
      return texts.map((text) => vectors.get(text) ?? []);
    },
  } as EmbeddingsInterface;
}

/** Where nothing was learned, every turn is a memory, so that vectors are searched. */
export function withMemories(conversation: RetrievalConversation): RetrievalConversation {
  if (conversation.observations.length > 0 || conversation.ranksSessions) return conversation;
  const observations = conversation.turns.map(({ id, text, date, speaker }) => {
    return { text, date, evidence: [id], ...(isPerson(speaker) && { speaker }) };
  });
  return { ...conversation, observations };
}

export type VectorStore = Awaited<ReturnType<typeof openStore>>;

/** LangGraph's `PostgresStore` with the same vectors: what a search by vectors must be better than. */
export async function openStore({ server, schema }: BenchDatabase, embed: EmbeddingsInterface) {
  if (server === null) throw new Error("PostgresStore needs a server: set DATABASE_URL.");
  const store = new PostgresStore({
    connectionOptions: server,
    schema: `${schema}_store`,
    index: { dims: 384, embed, fields: ["text"] },
  });
  await store.setup();
  return {
    close: () => store.stop(),
    async add(namespace: string[], lines: readonly Line[]): Promise<void> {
      for (const [place, { text, ids }] of lines.entries())
        await store.put(namespace, `line-${place}`, { text, ids });
    },
    async search(namespace: string[], query: string, limit: number): Promise<Line[]> {
      const items = await store.search(namespace, { query, limit });
      return items.map(({ value }) => value as Line);
    },
  };
}

const rankConstant = 60;

/** Reciprocal ranks of both lists added (Cormack et al., SIGIR 2009), best first. */
export function fused(lists: readonly (readonly Line[])[], most: number): Line[] {
  const scores = new Map<string, { readonly line: Line; readonly score: number }>();
  for (const list of lists)
    for (const [place, line] of list.entries()) {
      const { score = 0 } = scores.get(line.text) ?? {};
      scores.set(line.text, { line, score: score + 1 / (rankConstant + place + 1) });
    }
  return [...scores.values()]
    .toSorted((first, second) => second.score - first.score)
    .slice(0, most)
    .map(({ line }) => line);
}
