import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { createCircuitBreaker, type Outage } from "../../src/postgres/circuit-breaker.js";
import { poolBusy } from "../../src/postgres/database-error.js";

const silence = () => Promise.reject(new MemoryError("DATABASE_UNAVAILABLE", "no answer"));
const refusal = () =>
  Promise.reject(
    new MemoryError("DATABASE_ERROR", "no", { cause: Object.assign(new Error(), { code: "23505" }) }),
  );
const mistake = () => Promise.reject(new MemoryError("INVALID_INPUT", "no"));
const full = () =>
  Promise.reject(new MemoryError("DATABASE_UNAVAILABLE", "no free client", { cause: poolBusy(2) }));
const answer = () => Promise.resolve("answer");
const calls = { silence, refusal, mistake, full, answer };
const resultOf = { silence: "failed", refusal: "failed", mistake: "failed", full: "failed", answer: "done" };
/** What says nothing of the database. */
const silent = ["mistake", "full"];

function breakerAt(failures: number, pauseMs: number) {
  const clock = { ms: 0 };
  const told: (string | Outage)[] = [];
  const breaker = createCircuitBreaker({
    ...{ failures, pauseMs, nowMs: () => clock.ms },
    onPause: (count) => told.push(`pause after ${count}`),
    onBack: (outage) => told.push(outage),
  });
  return { breaker, clock, told };
}

const tried = async (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: MemoryError) => (error.details.retryInMs === undefined ? "failed" : "refused"),
  );

describe("a circuit breaker", () => {
  it("refuses at once after so many failures in a row, with when it is tried again and what the last one said", async () => {
    const { breaker, clock, told } = breakerAt(3, 30_000);
    for (let failure = 0; failure < 3; failure++) expect(await tried(breaker.guard(silence))).toBe("failed");
    clock.ms = 18_000;
    let ran = false;
    const refused = breaker.guard(async () => {
      ran = true;
    });
    await expect(refused).rejects.toMatchObject({
      code: "DATABASE_UNAVAILABLE",
      details: { retryInMs: 12_000 },
    });
    await expect(breaker.guard(answer)).rejects.toThrow(/did not answer 3 times.*tried again in 12 s/);
    expect(ran).toBe(false);
    expect(breaker.status()).toEqual({ state: "paused", failures: 3, retryInMs: 12_000 });
    expect(told).toEqual(["pause after 3"]);
  });

  it("lets one call try after the pause, alone; its failure begins another pause, its answer ends the outage", async () => {
    const { breaker, clock, told } = breakerAt(1, 1_000);
    await tried(breaker.guard(silence));
    for (const outcome of ["failed", "done"] as const) {
      clock.ms += 1_000;
      let end = () => {};
      const trial = breaker.guard(async () => {
        await new Promise<void>((resolve) => (end = resolve));
        return outcome === "done" ? answer() : silence();
      });
      expect(await tried(breaker.guard(answer))).toBe("refused");
      end();
      expect(await tried(trial)).toBe(outcome);
      expect(await tried(breaker.guard(answer))).toBe(outcome === "done" ? "done" : "refused");
    }
    expect(told).toEqual(["pause after 1", { durationMs: 2_000, refused: 3 }]);
    expect(breaker.status()).toEqual({ state: "up", failures: 0, retryInMs: null });
  });

  it("tries again after a trial that told nothing of the database", async () => {
    const { breaker, clock } = breakerAt(1, 1_000);
    await tried(breaker.guard(silence));
    clock.ms = 1_000;
    expect(await tried(breaker.guard(mistake))).toBe("failed");
    expect(await tried(breaker.guard(answer))).toBe("done");
  });

  it("ends an outage by work that is always tried, and never refuses that", async () => {
    const { breaker } = breakerAt(1, 1_000);
    await tried(breaker.guard(silence));
    expect(await tried(breaker.watch(silence))).toBe("failed");
    expect(await tried(breaker.watch(answer))).toBe("done");
    expect(await tried(breaker.guard(answer))).toBe("done");
  });

  it("with no number of failures never refuses", async () => {
    const { breaker } = breakerAt(0, 1_000);
    for (let failure = 0; failure < 20; failure++) expect(await tried(breaker.guard(silence))).toBe("failed");
  });

  it("is paused exactly since the last `failures` calls in a row got no answer: answers and refusals begin anew, mistakes and full pools count neither way", async () => {
    const steps = fc.array(fc.constantFrom(...(Object.keys(calls) as (keyof typeof calls)[])), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (most, names) => {
        const { breaker } = breakerAt(most, 1_000);
        const told = names.filter((name) => !silent.includes(name));
        const end = endOfRow(told, most);
        let heard = -1;
        for (const name of names) {
          const paused = heard >= end;
          const result = await tried(breaker.guard(calls[name]));
          if (!silent.includes(name)) heard++;
          expect(result).toBe(paused ? "refused" : resultOf[name]);
          expect(breaker.status().state).toBe(heard >= end ? "paused" : "up");
        }
      }),
    );
  });
});

/** Where `most` silences in a row first end in `names`; never is beyond every index. */
function endOfRow(names: readonly string[], most: number): number {
  let row = 0;
  const end = names.findIndex((name) => {
    row = name === "silence" ? row + 1 : 0;
    return row === most;
  });
  return end < 0 ? Number.POSITIVE_INFINITY : end;
}
