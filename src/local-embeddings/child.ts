import { setImmediate as nextTurn } from "node:timers/promises";
import { MemoryError, messageOf } from "../errors.js";
import type { EmbeddingAnswer, EmbeddingRequest } from "./embedding-request.js";
import { type EmbedText, loadLocalModel } from "./local-model.js";
import type { ModelSource } from "./model-files.js";

// The child process of local embeddings. Native code that aborts ends this process, and no agent.

interface Waiting extends EmbeddingRequest {
  readonly vectors: Float32Array[];
}

const queues = { question: [] as Waiting[], statement: [] as Waiting[] };
const models = new Map<string, Promise<EmbedText>>();
let isWorking = false;

process.on("message", (request: EmbeddingRequest) => {
  queues[request.kind].push({ ...request, vectors: [] });
  if (!isWorking) void work();
});
// The parent ended, however it did. Signals to both are the parent's to answer: it may be finishing
// its work.
process.on("disconnect", () => process.exit());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

async function work(): Promise<void> {
  isWorking = true;
  for (;;) {
    const queue = queues.question.length > 0 ? queues.question : queues.statement;
    const [request] = queue;
    if (!request) break;
    const answer = await advance(request);
    if (answer) {
      queue.shift();
      process.send?.(answer);
    }
    // Reads what arrived meanwhile: a question is not kept waiting by the rest of a batch.
    await nextTurn();
  }
  isWorking = false;
}

/** Embeds one more text. Null until all have vectors. */
async function advance({
  id,
  source,
  kind,
  texts,
  vectors,
}: Waiting): Promise<EmbeddingAnswer | null> {
  try {
    const embed = await modelOf(source);
    vectors.push(await embed(texts[vectors.length] ?? "", kind));
    return vectors.length < texts.length ? null : { id, vectors };
  } catch (error) {
    const isSetup = MemoryError.is(error, "PEER_MISSING");
    return { id, problem: { message: messageOf(error), isSetup } };
  }
}

/** What failed is tried again by the next request. */
function modelOf(source: ModelSource): Promise<EmbedText> {
  const key = JSON.stringify(source);
  const model = models.get(key) ?? loadLocalModel(source);
  models.set(key, model);
  model.catch(() => models.delete(key));
  return model;
}
