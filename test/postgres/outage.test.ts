import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type Outage,
  patienceMs,
  probeEveryMs,
  watchForOutages,
} from "../../src/postgres/outage.js";

const lost = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const refused = Object.assign(new Error("duplicate key"), { code: "23505" });
/** The error of pg when all clients of a pool are in use. */
const full = new Error("timeout exceeded when trying to connect");
const unknown = new Error("a mistake of the program");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Fails each 100 ms for `ms`, for each caller. */
async function failFor(ms: number, watch: ReturnType<typeof watchForOutages>, callers = 1) {
  for (let past = 0; past <= ms; past += 100) {
    for (let caller = 0; caller < callers; caller++) watch.failed(lost, performance.now());
    await vi.advanceTimersByTimeAsync(100);
  }
}

function watching() {
  const heard: (string | Outage)[] = [];
  let isBack = false;
  const probe = vi.fn(async () => {
    if (!isBack) throw watch.failed(lost, performance.now());
    watch.answered();
  });
  const watch = watchForOutages({
    probe,
    onPause: () => heard.push("pause"),
    onBack: (outage) => heard.push(outage),
  });
  const comeBack = () => {
    isBack = true;
  };
  return { watch, probe, heard, comeBack };
}

describe("an outage", () => {
  it("An outage begins after three seconds without an answer, with any number of failing callers", async () => {
    const { watch } = watching();
    await failFor(patienceMs - 200, watch, 24);
    expect(watch.status()).toEqual({ state: "up", silentMs: patienceMs - 100, retryInMs: null });
    await watch.requireUp();
    await failFor(100, watch);
    expect(watch.status()).toMatchObject({ state: "paused" });
    await vi.advanceTimersByTimeAsync(400);
    const failure = { code: "DATABASE_UNAVAILABLE", details: { retryInMs: probeEveryMs - 500 } };
    const message = expect.stringMatching(
      /not answered for 4 s.*ECONNREFUSED.*Each call asks it, and so does this process in 2 s.*Check/,
    );
    await expect(watch.requireUp()).rejects.toThrow(
      expect.objectContaining({ ...failure, message }),
    );
  });

  it.each([
    ["an attempt to connect", "Connection terminated due to connection timeout", false, "paused"],
    [
      "one during which another was answered",
      "Connection terminated due to connection timeout",
      true,
      "up",
    ],
    ["a statement, which may have waited for a lock", "Query read timeout", false, "up"],
  ])(
    "One long failure begins an outage depending on its cause: %s",
    (_, message, answers, state) => {
      const { watch } = watching();
      const sentAt = performance.now();
      vi.advanceTimersByTime(10 * patienceMs);
      if (answers) watch.answered();
      watch.failed(new Error(message), sentAt);
      expect(watch.status().state).toBe(state);
      watch.stop();
    },
  );

  it.each([
    ["an answer", null, "up"],
    ["an error of the server", refused, "up"],
    ["a full pool", full, "paused"],
    ["a mistake", unknown, "paused"],
  ])(
    "The last reply of the database decides whether an outage begins: %s",
    async (_, error, state) => {
      const { watch } = watching();
      await failFor(patienceMs - 200, watch);
      if (error) watch.failed(error, performance.now());
      else watch.answered();
      await failFor(200, watch);
      expect(watch.status().state).toBe(state);
    },
  );

  it("An outage has one probe every two seconds, and ends with the first answer", async () => {
    const { watch, probe, heard, comeBack } = watching();
    await failFor(patienceMs, watch, 6);
    expect(probe).toHaveBeenCalledTimes(1);
    await failFor(2 * probeEveryMs - 200, watch, 6);
    expect(probe).toHaveBeenCalledTimes(3);
    comeBack();
    await vi.advanceTimersByTimeAsync(probeEveryMs);
    await watch.requireUp();
    expect(heard).toEqual(["pause", { durationMs: patienceMs + 3 * probeEveryMs, refused: 0 }]);
    expect(watch.status()).toEqual({ state: "up", silentMs: null, retryInMs: null });
    await vi.advanceTimersByTimeAsync(9 * probeEveryMs);
    expect(probe).toHaveBeenCalledTimes(4);
  });

  it("An outage ends with the first call that is answered, and calls at once share a probe", async () => {
    const { watch, probe, comeBack } = watching();
    await failFor(patienceMs, watch);
    const refusedCalls = Array.from({ length: 20 }, () => watch.requireUp());
    for (const { status } of await Promise.allSettled(refusedCalls))
      expect(status).toBe("rejected");
    expect(probe).toHaveBeenCalledTimes(2);
    comeBack();
    await Promise.all(Array.from({ length: 20 }, () => watch.requireUp()));
    expect(probe).toHaveBeenCalledTimes(3);
    expect(watch.status().state).toBe("up");
  });

  it("Probes that never end make room for others, so that the outage ends when the database is back", async () => {
    let isBack = false;
    const probe = async () => {
      if (!isBack) await new Promise(() => {});
      watch.answered();
    };
    const watch = watchForOutages({ probe });
    await failFor(patienceMs, watch);
    await vi.advanceTimersByTimeAsync(10 * probeEveryMs);
    isBack = true;
    await vi.advanceTimersByTimeAsync(15 * probeEveryMs);
    expect(watch.status().state).toBe("up");
  });

  it("An outage has no probe once the memory is closed", async () => {
    const { watch, probe } = watching();
    await failFor(patienceMs, watch);
    watch.stop();
    await vi.advanceTimersByTimeAsync(9 * probeEveryMs);
    expect(probe).toHaveBeenCalledTimes(1);
  });
});
