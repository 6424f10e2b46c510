import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { createCircuitBreaker, type Outage, probeAfterMs } from "../../src/postgres/circuit-breaker.js";

const failure = (code: "DATABASE_UNAVAILABLE" | "DATABASE_ERROR" | "INVALID_INPUT", cause?: Error) =>
  Promise.reject(new MemoryError(code, "no answer", { cause }));
const silence = () => failure("DATABASE_UNAVAILABLE");
const refusal = () => failure("DATABASE_ERROR", Object.assign(new Error(), { code: "23505" }));
const mistake = () => failure("INVALID_INPUT");
/** As pg says it of a pool whose clients are all in use. */
const full = () => failure("DATABASE_UNAVAILABLE", new Error("timeout exceeded when trying to connect"));
const answer = () => Promise.resolve("answer");
const calls = { silence, refusal, mistake, full, answer };
/** What says nothing of the database. */
const silent = ["mistake", "full"];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function breakerWith(probe: () => Promise<unknown> = silence) {
  const told: (string | Outage)[] = [];
  const breaker = createCircuitBreaker({
    probe,
    onPause: (count) => told.push(`pause after ${count}`),
    onBack: (outage) => told.push(outage),
  });
  return { breaker, told };
}

const tried = async (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: MemoryError) => (error.details.retryInMs === undefined ? "failed" : "refused"),
  );

async function pause({ breaker }: ReturnType<typeof breakerWith>) {
  for (let failure = 0; failure < 3; failure++) expect(await tried(breaker.guard(silence))).toBe("failed");
}

describe("a circuit breaker", () => {
  it("refuses at once after three failures in a row, with when the database is probed and what the last one said", async () => {
    const broken = breakerWith();
    await pause(broken);
    vi.advanceTimersByTime(500);
    const run = vi.fn(answer);
    await expect(broken.breaker.guard(run)).rejects.toMatchObject({
      code: "DATABASE_UNAVAILABLE",
      details: { retryInMs: probeAfterMs - 500 },
      message: expect.stringMatching(/did not answer 3 times.*tried again in 2 s/),
    });
    expect(run).not.toHaveBeenCalled();
    expect(broken.breaker.status()).toEqual({ state: "paused", failures: 3, retryInMs: probeAfterMs - 500 });
    expect(broken.told).toEqual(["pause after 3"]);
  });

  it("probes until the database answers, and then lets every call through", async () => {
    let isBack = false;
    const probe = vi.fn(() => (isBack ? answer() : silence()));
    const broken = breakerWith(probe);
    await pause(broken);
    await vi.advanceTimersByTimeAsync(2 * probeAfterMs);
    expect(probe).toHaveBeenCalledTimes(2);
    expect(await tried(broken.breaker.guard(answer))).toBe("refused");
    isBack = true;
    await vi.advanceTimersByTimeAsync(probeAfterMs);
    expect(await tried(broken.breaker.guard(answer))).toBe("done");
    expect(broken.told).toEqual(["pause after 3", { durationMs: 3 * probeAfterMs, refused: 1 }]);
    expect(broken.breaker.status()).toEqual({ state: "up", failures: 0, retryInMs: null });
    await vi.advanceTimersByTimeAsync(9 * probeAfterMs);
    expect(probe).toHaveBeenCalledTimes(3);
  });

  it("ends an outage by work that is always tried, and never refuses that", async () => {
    const broken = breakerWith();
    await pause(broken);
    expect(await tried(broken.breaker.watch(silence))).toBe("failed");
    expect(await tried(broken.breaker.watch(answer))).toBe("done");
    expect(await tried(broken.breaker.guard(answer))).toBe("done");
  });

  it("probes no more once it is stopped", async () => {
    const probe = vi.fn(silence);
    const broken = breakerWith(probe);
    await pause(broken);
    broken.breaker.stop();
    await vi.advanceTimersByTimeAsync(9 * probeAfterMs);
    expect(probe).not.toHaveBeenCalled();
  });

  it("is paused exactly since three calls in a row got no answer: answers and refusals begin anew, mistakes and full pools count neither way", async () => {
    const steps = fc.array(fc.constantFrom(...(Object.keys(calls) as (keyof typeof calls)[])), {
      maxLength: 30,
    });
    await fc.assert(fc.asyncProperty(steps, requirePauses));
  });
});

/** Makes the calls of `names`, and requires after each that the breaker is paused where it has to be. */
async function requirePauses(names: readonly (keyof typeof calls)[]): Promise<void> {
  const { breaker } = breakerWith();
  let row = 0;
  for (const name of names) {
    const expected = row === 3 ? "refused" : name === "answer" ? "done" : "failed";
    expect(await tried(breaker.guard(calls[name]))).toBe(expected);
    row = row === 3 ? row : rowAfter(row, name);
    expect(breaker.status().state).toBe(row === 3 ? "paused" : "up");
  }
  breaker.stop();
}

/** How many calls in a row got no answer, after one more. */
function rowAfter(row: number, name: keyof typeof calls): number {
  if (silent.includes(name)) return row;
  return name === "silence" ? row + 1 : 0;
}
