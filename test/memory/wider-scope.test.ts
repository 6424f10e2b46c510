import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { type Arguments, callOf, errorOf, sampleCalls, sampleScope } from "./sample-calls.js";

const database = useTestDatabase();

/** `args` with `scope` instead of the sample's; null for a call without a scope. */
function withScope(args: Arguments, scope: object): Arguments | null {
  const changed = args.map((arg) => {
    if (arg === sampleScope) return scope;
    const isGiven =
      typeof arg === "object" && arg !== null && "scope" in arg && arg.scope === sampleScope;
    return isGiven ? { ...arg, scope } : arg;
  });
  return changed.some((arg, index) => arg !== args[index]) ? changed : null;
}

const calls = Object.entries(sampleCalls).filter(([, args]) => withScope(args, {}) !== null);

describe("scopes with a blank userId", () => {
  it.each(calls)(
    "A scope with a blank userId is refused by %s, rather than read as the whole app",
    async (path, args) => {
      const memory = database.memory();
      const appId = "notes";
      await memory.record({
        scope: { userId: "ben", appId },
        threadId: "of ben",
        messages: [new HumanMessage("x")],
      });
      for (const missing of [undefined, null, "", " "]) {
        const given = withScope(args, { userId: missing, appId }) as Arguments;
        expect(await errorOf(() => callOf(memory, path)(...given))).toMatchObject({
          code: "SCOPE_REQUIRED",
        });
      }
    },
  );
});
