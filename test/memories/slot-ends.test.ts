import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { openThread, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const slot = { category: "profile", key: "employer", value: "Globex", origin: "user" } as const;

describe("rewordings of a slot's value", () => {
  it.each([
    ["The user works at Globex.", "The user resigned from Globex."],
    ["El usuario trabaja en Globex.", "El usuario dejó Globex."],
  ])("A slot takes the corrected text: %s then %s", async (held, ended) => {
    const { memory, scope } = openThread(db);
    await memory.memories.add({ scope, memories: { ...slot, text: held } });
    await memory.memories.add({ scope, memories: { ...slot, text: ended, correction: true } });
    expect(await textsOf(memory, { scope })).toEqual([ended]);
  });

  it("A rewording of a slot's value is merged", async () => {
    const { memory, scope } = openThread(db);
    await memory.memories.add({ scope, memories: { ...slot, text: "The user works at Globex." } });
    const said = { ...slot, text: "The user is employed by Globex." };
    expect(await memory.memories.add({ scope, memories: said })).toMatchObject([
      { outcome: "merged" },
    ]);
  });
});

it("An updated text drops a value that it no longer contains", async () => {
  const { memory, scope, threadId } = openThread(db);
  const [added] = await memory.memories.add({
    scope,
    memories: { ...slot, text: "The user works at Globex." },
  });
  const changed = await memory.memories.update({
    scope,
    id: added?.id ?? "",
    text: "The user works at Initech.",
  });
  expect(changed).toMatchObject({ key: "employer", value: null });
  const { memories } = await memory.recall({ scope, threadId, query: "Where do I work?" });
  expect(JSON.stringify(memories.profile)).not.toContain("Globex");
  const both = { text: "The user works at Acme.", value: "Acme" };
  expect(await memory.memories.update({ scope, id: added?.id ?? "", ...both })).toMatchObject({
    value: "Acme",
  });
  const worded = { text: "The user now works at Acme." };
  expect(await memory.memories.update({ scope, id: added?.id ?? "", ...worded })).toMatchObject({
    value: "Acme",
  });
});
