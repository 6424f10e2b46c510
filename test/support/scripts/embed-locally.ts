import { createMemory } from "../../../src/create-memory.js";
import { localEmbeddings } from "../../../src/local-embeddings/index.js";
import { embeddingProcess } from "../local-model.js";

// Says which process embeds for it, and ends in the middle of a batch: by `close`, or by a signal.
const { MODEL_DIR: modelDir = "", DATA_DIR: dataDir = "", END: end } = process.env;
const memory = createMemory({ database: { dataDir }, embeddings: localEmbeddings({ modelDir }) });
await memory.setup();
const drafts = Array.from({ length: 500 }, (_, n) => ({ text: `The user owns the stamp ${n}.` }));
const added = memory.memories.add({ scope: { userId: "ana" }, memories: drafts });
added.catch(() => {});
await memory.query({ scope: { userId: "ana" }, query: "What is collected?" });
console.log(`child ${embeddingProcess().child?.pid}`);
if (end === "close") await memory.close();
else setInterval(() => {}, 1_000);
