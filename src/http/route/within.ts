import { HttpProblem } from "./problem.js";

/**
 * What `work` gives, if it does so in time. Work that was begun goes on: it holds itself to its own limits.
 *
 * @throws HttpProblem `REQUEST_TIMEOUT`
 */
export async function within<Result>(limitMs: number, work: () => Promise<Result>): Promise<Result> {
  const begun = work();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new HttpProblem("REQUEST_TIMEOUT", `There was no answer within ${limitMs} ms.`, 1));
    }, limitMs);
  });
  try {
    return await Promise.race([begun, late]);
  } finally {
    clearTimeout(timer);
    // Nobody waits for it any more.
    begun.catch(() => {});
  }
}
