import type { Embedded, Embedder } from "../llm/embedder.js";

/** `embedder`, which is asked once for the same texts in a row. */
export function embedOnce(embedder: Embedder): Embedder {
  let last: { readonly texts: string; readonly embedded: Embedded } | undefined;
  return {
    query: embedder.query,
    async documents(texts) {
      const key = JSON.stringify(texts);
      if (last?.texts !== key) last = { texts: key, embedded: await embedder.documents(texts) };
      return last.embedded;
    },
  };
}
