import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slotKey } from "../../src/memories/item/category.rule.js";
import { procedureKey } from "../../src/procedures/write-procedure.js";
import { forAll } from "../support/for-all.js";

/** The slot that a procedure takes. */
const slotOf = (title: string, agentId?: string) => slotKey(procedureKey(title, agentId));

const words = fc
  .array(fc.constantFrom("a", "b", "ab", "A", "-", "_", "1", "é"), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(" "))
  .filter((title) => slotKey(title) !== null);

describe("keys of procedures", () => {
  it("The key of a procedure is unique for each agent and title, wherever words are split", () => {
    const agent = fc.option(words, { nil: undefined });
    fc.assert(
      fc.property(words, agent, words, agent, (title, agentId, otherTitle, otherAgent) => {
        const same = agentId === otherAgent && slotKey(title) === slotKey(otherTitle);
        expect(slotOf(title, agentId) === slotOf(otherTitle, otherAgent)).toBe(same);
      }),
      { numRuns: 2_000 },
    );
    expect(slotOf("c", "a b")).not.toBe(slotOf("b c", "a"));
  });

  it("A title without an agent cannot forge the key of an agent's procedure", () =>
    forAll(words, words, (title, agentId) => {
      expect(slotOf(procedureKey(title, agentId))).not.toBe(slotOf(title, agentId));
    }));

  it("The key of a procedure is its title without an agent, and within the limit with one", () => {
    expect(procedureKey("Deploy the shop", undefined)).toBe("Deploy the shop");
    expect(procedureKey("😀".repeat(100), "agent").length).toBeLessThanOrEqual(200);
    expect(slotOf("x".repeat(200), "agent")).not.toBe(slotOf("x".repeat(199), "agent"));
  });
});
