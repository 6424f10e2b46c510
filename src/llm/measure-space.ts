import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { measureUnrelated, type UnrelatedSimilarity } from "../domain/unrelated-similarity.js";

/** Questions as users ask them. None has to do with any of the statements, which are worded as memories are. */
const questions = [
  "Which airline should I book?",
  "How is the marathon training going?",
  "Can you find the bug in this code?",
  "What did the dentist say?",
  "What should I cook tonight?",
  "When is the rent due?",
  "Do you remember my shoe size?",
  "Tell me again who won the election.",
];
const statements = [
  "The user's grandmother was born in 1931.",
  "The user collects old stamps.",
  "The user paints birds in watercolour.",
  "The user is afraid of spiders.",
  "The user's brother works as a carpenter.",
  "The user is learning Portuguese.",
  "The user prefers films in black and white.",
  "The user keeps bees behind the house.",
  "The user's neighbour plays chess on Sundays.",
  "The user wears glasses for reading.",
  "The team's meeting was moved to the smaller room.",
  "The customer's printer is broken.",
];

/** How alike `embeddings` find texts that have nothing to do with each other; null when their answers do not tell. */
export async function measureSpace(embeddings: EmbeddingsInterface): Promise<UnrelatedSimilarity | null> {
  const [asked, stated] = await Promise.all([
    Promise.all(questions.map((question) => embeddings.embedQuery(question))),
    embeddings.embedDocuments(statements),
  ]);
  return stated.length === statements.length ? measureUnrelated(asked, stated) : null;
}
