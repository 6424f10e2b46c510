import type { Memory } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import type { BenchDatabase } from "../bench-database.js";
import type { Answer } from "./measure.js";
import type { Question } from "./retrieval-data.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly database: BenchDatabase;
  /** With the defaults of retrieval. */
  readonly memory: Memory;
  /** The same data; its recalls have threshold 0. */
  readonly unfiltered: Memory;
}

type Found = Pick<Answer, "hits" | "tokens">;

export type Search = (question: Question) => Promise<Found>;

export const foundOf = (
  lines: readonly { readonly text: string; readonly ids: readonly string[] }[],
): Found => ({
  hits: lines.map(({ ids }) => ids),
  tokens: lines.reduce((sum, { text }) => sum + estimateTokens(`- ${text}`), 0),
});
