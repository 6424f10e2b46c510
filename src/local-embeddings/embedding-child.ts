import { MemoryError, messageOf } from "../errors.js";
import type { EmbeddingAnswer, EmbeddingRequest } from "./embedding-process.js";
import { type EmbedText, loadLocalModel } from "./local-model.js";

// The child process of local embeddings: an abort of native code ends it, and not the agent.

const models = new Map<string, Promise<EmbedText>>();

/** Requests take turns, a text each, so that a question does not wait for a batch. */
process.on("message", async ({ id, source, kind, texts }: EmbeddingRequest) => {
  const key = JSON.stringify(source);
  let answer: EmbeddingAnswer;
  try {
    const model = models.get(key) ?? loadLocalModel(source);
    models.set(key, model);
    // The next request tries again.
    model.catch(() => models.delete(key));
    const embed = await model;
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await embed(text, kind));
    answer = { id, vectors };
  } catch (error) {
    answer = { id, problem: messageOf(error), isSetup: MemoryError.is(error) };
  }
  // The parent may have ended, which `disconnect` reports.
  process.send?.(answer, undefined, undefined, () => {});
});

process.on("disconnect", () => process.exit());

// A signal to the whole group is the parent's to answer: it may be finishing its work.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
