import { HashingEmbeddings } from "../../src/testing/index.js";

/** What `mnemograph --embeddings` is given in tests. */
export const embeddings = new HashingEmbeddings({ dimensions: 32 });
