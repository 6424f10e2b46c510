import type { Memory } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import type { Line } from "./measure.js";
import type { Question } from "./retrieval-data.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly database: BenchDatabase;
  /** With the defaults of retrieval. */
  readonly memory: Memory;
  /** The same data; its recalls have threshold 0. */
  readonly unfiltered: Memory;
}

/** What is found, best first. */
export type Search = (question: Question) => Promise<readonly Line[]>;
