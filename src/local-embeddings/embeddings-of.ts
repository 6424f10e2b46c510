import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { MemoryError } from "../errors.js";
import { checkPeer, resolvePeer } from "../peers.js";
import { embedInChild } from "./embedding-process.js";
import type { EmbeddingRequest } from "./embedding-request.js";
import { runtimePackage, tokenizersPackage } from "./local-model.js";
import { spaceName } from "./local-models.js";
import { type ModelSource, requireFolder } from "./model-files.js";

/** LangChain embeddings. Its `model` names the embedding space of its vectors. */
export interface LocalEmbeddings extends EmbeddingsInterface {
  readonly model: string;
}

/** Texts in one message: reading its vectors takes the event loop less than a millisecond. */
const textsInMessage = 32;

/** @throws MemoryError `PEER_MISSING` */
export function embeddingsOf(source: ModelSource): LocalEmbeddings {
  requirePackages();
  requireFolder(source);
  const embed = async (kind: EmbeddingRequest["kind"], texts: readonly string[]) => {
    const vectors: number[][] = [];
    while (vectors.length < texts.length) {
      const next = texts.slice(vectors.length, vectors.length + textsInMessage);
      const found = await embedInChild({ source, kind, texts: next });
      vectors.push(...found.map((vector) => Array.from(vector)));
    }
    return vectors;
  };
  return {
    model: spaceName(source.model),
    embedDocuments: (texts) => embed("statement", texts),
    async embedQuery(text) {
      const [vector = []] = await embed("question", [text]);
      return vector;
    },
  };
}

function requirePackages(): void {
  const packages = [runtimePackage, tokenizersPackage];
  packages.forEach(checkPeer);
  try {
    packages.forEach(resolvePeer);
  } catch (cause) {
    // The flag spares a download for NVIDIA's processors, which fails in closed networks.
    const install = `npm install --onnxruntime-node-install-cuda=skip ${packages.join(" ")}`;
    const message = `Local embeddings need packages that cannot be found: run \`${install}\`.`;
    throw new MemoryError("PEER_MISSING", message, { cause });
  }
}
