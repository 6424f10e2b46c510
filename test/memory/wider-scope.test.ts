import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const database = useTestDatabase();
const id = "00000000-0000-4000-8000-000000000000";
const at = { scope: { userId: "ana" }, threadId: "t" };

/** Every call that is given a scope. */
const calls: Record<string, (memory: Memory, scope: Scope) => unknown> = {
  "threads.list": (memory, scope) => memory.threads.list({ scope }),
  record: (memory, scope) => memory.record({ ...at, scope, messages: [new HumanMessage("x")] }),
  remember: (memory, scope) => memory.remember({ ...at, scope, messages: [new HumanMessage("x")] }),
  recall: (memory, scope) => memory.recall({ ...at, scope }),
  query: (memory, scope) => memory.query({ scope, query: "x" }),
  "transcript.search": (memory, scope) => memory.transcript.search({ scope, query: "x" }),
  "memories.list": (memory, scope) => memory.memories.list({ scope }),
  "memories.get": (memory, scope) => memory.memories.get(id, { scope }),
  "memories.add": (memory, scope) => memory.memories.add({ text: "The user likes tea." }, { scope }),
  "memories.update": (memory, scope) =>
    memory.memories.update(id, { text: "The user likes tea." }, { scope }),
  "memories.remove": (memory, scope) => memory.memories.remove(id, { scope }),
  "memories.restore": (memory, scope) => memory.memories.restore(id, { scope }),
  "memories.history": (memory, scope) => memory.memories.history(id, { scope }),
  "summaries.list": (memory, scope) => memory.summaries.list({ ...at, scope }),
  "changes.since": (memory, scope) => memory.changes.since(0, { scope }),
  "events.list": (memory, scope) => memory.events.list({ scope }),
  "consents.list": (memory, scope) => memory.consents.list({ scope }),
  "memories.list of quarantine": (memory, scope) => memory.memories.list({ scope, states: ["quarantined"] }),
  "checkpoints.prune": (memory, scope) => memory.checkpoints.prune({ scope, keepLast: 1 }),
  stats: (memory, scope) => memory.stats({ scope }),
  forget: (memory, scope) => memory.forget(scope),
  export: (memory, scope) => memory.export(scope)[Symbol.asyncIterator]().next(),
};

describe("a scope with the key of an id and no id", () => {
  it.each(Object.keys(calls))("is refused by %s, and is not everybody's in the app", async (name) => {
    const memory = database.memory();
    const appId = "notes";
    await memory.record({
      scope: { userId: "ben", appId },
      threadId: "of ben",
      messages: [new HumanMessage("x")],
    });
    for (const missing of [undefined, null, "", " "]) {
      const call = async () => calls[name]!(memory, { userId: missing, appId } as unknown as Scope);
      await expect(call()).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    }
  });
});
