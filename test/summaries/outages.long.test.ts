import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryPrompt } from "../support/summary-prompt.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";

const db = useTestDatabase();
const scope = { userId: "ana" };

/** A memory whose model fails while `isDown`; `reached` are the messages of answered prompts. */
function failing(isDown: () => boolean, upkeep: TestConfig["upkeep"] = {}) {
  const reached = new Set<number>();
  const model = new ScriptedChatModel({
    replies: (messages, index) => {
      if (isDown()) return new Error("overloaded");
      for (const seq of summaryPrompt({ messages } as never).added) reached.add(seq);
      return { structured: { reasoning: "…", summary: `summary ${index}` } };
    },
  });
  return {
    model,
    reached,
    memory: summaryMemory(db, { model, config: { upkeep: { retryDelayMs: 0, ...upkeep } } }),
  };
}

describe("summaries after an outage", () => {
  it.each([30, 40, 100])(
    "After an outage up to message %i each message reaches a prompt, and none is dropped at once",
    async (until) => {
      let rounds = 0;
      const { model, reached, memory } = failing(() => rounds * 2 <= until);
      const thread = { scope, threadId: `outage ${until}` };
      while (rounds * 2 <= until) {
        rounds++;
        await memory.remember({ ...thread, messages: round(`${rounds}`) });
      }
      const last = rounds * 2 - 1;
      expect([...reached].toSorted((one, other) => one - other)).toEqual([
        ...Array(last + 1).keys(),
      ]);
      const [id, ...row] = (await summaryTable(memory, thread)).at(-1) ?? [];
      expect([id, ...row]).toEqual([id, 0, last, null, "completed"]);
      expect(summaryPrompt(model.calls.at(-1)).dropBefore).toBeNull();

      rounds++;
      await memory.remember({ ...thread, messages: round(`${rounds}`) });
      const next = (await summaryTable(memory, thread)).at(-1);
      // What no summary had is given up by and by: two turns for each that is new.
      expect(next?.slice(1)).toEqual([4, last + 2, id, "completed"]);
    },
  );

  it("After an outage in any turns no message is omitted, in one piece or several", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 4, maxLength: 25 }),
        fc.constantFrom(16_000, 200),
        fc.uuid(),
        async (down, inputBudgetTokens, threadId) => {
          let rounds = 0;
          const { reached, memory } = failing(() => down[rounds] ?? false, {
            inputBudgetTokens,
            maxPieces: 50,
          });
          for (; rounds <= down.length; rounds++)
            await memory.remember({ scope, threadId, messages: round(`${rounds}`) });
          expect(reached.size).toBe(rounds * 2);
        },
      ),
      { numRuns: 10 },
    ));
});
