import { expect } from "vitest";
import { MemoryError } from "../../src/index.js";

/** The MemoryError that `work` rejects with, or null. Other errors are thrown. */
export async function rejection(work: Promise<unknown>): Promise<MemoryError | null> {
  const error: unknown = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error === null || MemoryError.is(error)) return error;
  throw error;
}

/** Matches an error by its code. */
export const code = (code: string) => expect.objectContaining({ code });
