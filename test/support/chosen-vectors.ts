import { randomUUID } from "node:crypto";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";

/** Embeddings of a model of its own, which gives each text the vector that `vectorOf` chooses. */
export function chosenVectors(vectorOf: (text: string) => number[]) {
  const embeddings: EmbeddingsInterface = {
    embedQuery: async (text) => vectorOf(text),
    embedDocuments: async (texts) => texts.map(vectorOf),
  };
  return Object.assign(embeddings, { model: randomUUID() });
}
