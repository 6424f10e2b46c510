import type { Embeddings } from "@langchain/core/embeddings";
import { createMemory } from "mnemograph";
import { HashingEmbeddings } from "mnemograph/testing";

// With embeddings, memories are found by what they mean and not by their words alone. On a server
// this needs pgvector, on the embedded database @electric-sql/pglite-pgvector.
//
// npx tsx examples/with-embeddings.ts
// OPENAI_API_KEY=… npx tsx examples/with-embeddings.ts      needs @langchain/openai

/** Without a key a stand-in, which compares parts of words and knows nothing of meaning. */
async function chooseEmbeddings(): Promise<Embeddings> {
  if (!process.env.OPENAI_API_KEY) return new HashingEmbeddings();
  const { OpenAIEmbeddings } = await import("@langchain/openai");
  return new OpenAIEmbeddings({ model: "text-embedding-3-small" });
}

const memory = createMemory({
  embeddings: await chooseEmbeddings(),
  database: process.env.DATABASE_URL,
});
await memory.setup();

// Somebody new each time, so that this can be run again.
const scope = { userId: `ana-${Date.now()}` };
await memory.memories.add({
  scope,
  memories: [
    { category: "interests", text: "The user photographs lighthouses." },
    { category: "knowledge", text: "The user plays the violoncello." },
    { category: "relationships", text: "The user's sister is called Ida." },
  ],
});

for (const query of [
  "Any lighthouse photography lately?",
  "What are my sister and her friends called?",
]) {
  const [hit] = await memory.query({ scope, query, topK: 1 });
  console.log(`${query}\n  ${hit?.memory.text} (${hit?.similarity.toFixed(2)}: ${hit?.reason})`);
}

// Embeddings that were added or changed later: every memory without a vector of theirs gets one.
const { embedded } = await memory.reembed();
console.log(`Memories of before that got a vector: ${embedded}`);
await memory.close();
