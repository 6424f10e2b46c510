import { describe, expect, it } from "vitest";
import type { Scope } from "../../../src/index.js";
import { consolidateNow } from "../../support/consolidate-now.js";
import { restOn } from "../../support/rests-on.js";
import { taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** An insight in doubt about a user, and a model that gives these verdicts, call by call. */
async function inDoubt(name: string, verdicts: readonly string[], draft: object = {}) {
  const scope: Scope = { userId: name };
  const prompts: string[] = [];
  const model = taskModel({
    memory_doubts: (prompt) => {
      const verdict = verdicts[prompts.length] ?? "unknown";
      prompts.push(prompt);
      return { structured: { verdicts: [{ memory: 1, reason: "So it is.", verdict }] } };
    },
  });
  const memory = db.memory({ model });
  const town = (value: string) => ({
    text: `Lives in ${value}.`,
    category: "profile",
    key: "town",
    value,
  });
  const add = (value: string) =>
    memory.memories.add({ scope, memories: town(value), consent: "given" });
  const [fact] = await add("Faro");
  const memories = {
    kind: "insight" as const,
    text: "Swims in the sea.",
    origin: "worker" as const,
    ...draft,
  };
  const [insight] = await memory.memories.add({ scope, memories });
  await restOn(db, fact?.id, insight?.id);
  await add("Graz");
  const id = insight?.id ?? "";
  const stored = () => memory.memories.get({ scope, id });
  expect(await stored()).toMatchObject({ doubtedAt: expect.any(Date) });
  return { memory, scope, id, prompts, stored };
}

describe("doubts in consolidation", () => {
  it("Ends a memory in doubt that two answers of the model say has ended, and shows what it rests on", async () => {
    const { memory, scope, id, prompts, stored } = await inDoubt("ended", ["ended", "ended"]);
    expect(await consolidateNow(memory, { scope })).toMatchObject({ status: "completed" });
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toContain(
      '<rests_on state="ended">Lives in Faro.</rests_on><now>Lives in Graz.</now>',
    );
    expect(await stored()).toMatchObject({ state: "superseded", doubtedAt: null });
    const [entry] = await memory.memories.history({ scope, id });
    expect(entry).toMatchObject({ actor: "worker:consolidation", new: { verdict: "ended" } });
    await memory.memories.restore({ scope, id });
    expect(await stored()).toMatchObject({ state: "active", validTo: null });
  });

  it("Settles a doubt about a memory that the model says holds", async () => {
    const { memory, scope, id, stored } = await inDoubt("holds", ["holds", "holds"]);
    await consolidateNow(memory, { scope });
    expect(await stored()).toMatchObject({ state: "active", doubtedAt: null });
    const [entry] = await memory.memories.history({ scope, id });
    expect(entry).toMatchObject({ event: "SETTLE", new: { verdict: "holds" } });
  });

  it("Leaves a doubt where two answers differ, and a pinned memory that the model says has ended", async () => {
    const differs = await inDoubt("differs", ["ended", "holds"]);
    await consolidateNow(differs.memory, differs);
    expect(await differs.stored()).toMatchObject({ state: "active", doubtedAt: expect.any(Date) });
    const pinned = await inDoubt("pinned", ["ended", "ended"], { pinned: true });
    await consolidateNow(pinned.memory, pinned);
    expect(await pinned.stored()).toMatchObject({ state: "active", doubtedAt: expect.any(Date) });
  });

  it("Sends no words of a removed memory to the model", async () => {
    const { memory, scope, prompts } = await inDoubt("removed", ["unknown"], { pinned: true });
    const [graz] = await memory.memories.list({ scope, keys: ["town"] });
    await memory.memories.remove({ scope, id: graz?.id ?? "" });
    await consolidateNow(memory, { scope });
    expect(prompts.join("\n")).not.toContain("Graz");
  });
});
