import { MemoryError } from "../../src/index.js";

/** What `work` is refused with, or null where it comes to its end; other errors pass. */
export async function rejection(work: Promise<unknown>): Promise<MemoryError | null> {
  const error: unknown = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error === null || MemoryError.is(error)) return error;
  throw error;
}
