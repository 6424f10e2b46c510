import type { ModelSource } from "./model-files.js";

/** What the child process is asked. */
export interface EmbeddingRequest {
  readonly id: number;
  readonly source: ModelSource;
  /** Questions are answered before statements, since a user waits for them. */
  readonly kind: "question" | "statement";
  readonly texts: readonly string[];
}

/** What it answers: unit vectors, or why there are none. */
export interface EmbeddingAnswer {
  readonly id: number;
  readonly vectors?: readonly Float32Array[];
  readonly problem?: { readonly message: string; readonly isSetup: boolean };
}
