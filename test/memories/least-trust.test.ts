import { expect, it } from "vitest";
import type { KnownMemory } from "../../src/facts/choose-facts.rule.js";
import { originOfWords } from "../../src/facts/words-source.rule.js";
import { memoryQueryTool } from "../../src/langgraph/tools/memory-query-tool.js";
import { provenanceOf } from "../../src/memories/item/memory.js";
import { memoryBlock } from "../../src/prompt/memory-block.js";
import { shownBy } from "../../src/prompt/shown-by.js";
import { addNotes, newApp } from "../notes/note-facts.js";
import { decided, noteModel } from "../notes/note-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { openThread } from "../support/thread-facts.js";

const db = useTestDatabase();
const flowers = {
  operator: "roses",
  user: "tulips",
  assistant: "lilies",
  tool: "asters",
  document: "daisies",
  import: "irises",
};
const query = "What does the garden have?";

async function garden() {
  const opened = openThread(db, { config: { preset: "ledger" } });
  const drafts = Object.entries(flowers).map(([origin, flower]) => {
    return { text: `The user's garden has ${flower}.`, origin: origin as "tool" };
  });
  await opened.memory.memories.add({ scope: opened.scope, memories: drafts });
  return opened;
}

const namedIn = (shown: unknown) =>
  Object.values(flowers).filter((flower) => JSON.stringify(shown).includes(flower));

it.each([
  ["operator", 1],
  ["user", 2],
  ["agent", 3],
  ["untrusted", 6],
] as const)(
  "Nothing below the trust %s is shown where that is asked for",
  async (minTrust, most) => {
    const { memory, thread, scope } = await garden();
    const tool = memoryQueryTool(memory, { scope, minTrust });
    const answers = [
      memoryBlock(await memory.recall({ ...thread, query, minTrust })),
      (await memory.recall({ ...thread, minTrust })).memories,
      await memory.query({ scope, query: "", minTrust, topK: 9 }),
      (await memory.query({ scope, query, minTrust, topK: 9, explain: true })).hits,
      await tool.invoke({ query, top_k: 9 }),
    ];
    for (const shown of answers) expect(namedIn(shown)).toHaveLength(most);
  },
);

it("A turn that asks for more trust repeats nothing of its thread, and is told of trusted changes alone", async () => {
  const { memory, thread, scope } = await garden();
  const turn = async (minTrust?: "user") => {
    const recalled = await memory.recall({ ...thread, query, minTrust });
    await memory.remember({ ...thread, messages: [["human", query]], shown: shownBy(recalled) });
    return recalled;
  };
  expect(namedIn(memoryBlock(await turn()))).toHaveLength(6);
  expect(namedIn(memoryBlock(await turn("user")))).toHaveLength(2);
  const shed = { text: "The user's shed has spiders.", origin: "tool" } as const;
  await memory.memories.add({ scope, memories: [shed, { text: "It has bats.", origin: "user" }] });
  const { changes, epoch } = await memory.recall({ ...thread, minTrust: "user" });
  expect([epoch.isNew, changes.count]).toEqual([false, 1]);
  const { top } = (await memory.recall(thread)).changes;
  expect(top.map(({ line }) => line)).toContain(
    "[Knowledge] The user's shed has spiders. (unverified, from a tool) (imp=3)",
  );
});

it("A note merged of a conversation's and an import's is unverified", async () => {
  const text = "The customer likes aisle seats and tea.";
  const decision = decided({ action: "edit", target: 1, with: 2, text });
  const model = noteModel({ note_compaction: () => decision });
  const memory = db.memory({ model, config: { notes: { limit: 1 } } });
  const scope = newApp();
  await addNotes(memory, scope, ["The customer likes aisle seats."]);
  await addNotes(memory, scope, ["The customer likes tea."], { origin: "import" });
  await memory.graphs().compaction.invoke({ scope });
  const [note] = await memory.memories.list({ scope });
  expect(note).toMatchObject({ text, origin: "import", trust: "untrusted" });
});

it.each([
  ["user", { origin: "tool" }, "untrusted"],
  ["user", { messageId: "m" }, "agent"],
  ["unknown", { messageId: "m", quote: "my shed is blue" }, "user"],
  ["tool", { origin: "user" }, "untrusted"],
] as const)(
  "A memory from %s that is edited with %j has the lower trust: %s",
  async (origin, how, trust) => {
    const { memory, scope } = openThread(db);
    const [added] = await memory.memories.add({
      scope,
      memories: { text: "The shed is red.", origin },
    });
    const text = "The user's shed is blue.";
    const changed = await memory.memories.update({ scope, ...how, id: added!.id!, text });
    expect(changed.trust).toBe(trust);
  },
);

const known = [{ text: "The user's bank is Acme.", ...provenanceOf("import") } as KnownMemory];
it.each([
  ["I bank with Acme.", "The user's bank is Acme.", "user"],
  ["Thanks!", "The user's bank is Acme.", "import"],
  ["I like tea.", "The user likes tea.", "user"],
  ["Yes, please.", "The user is vegetarian.", "user"],
  ["See [file: The pet is a parrot; a.pdf].", "The pet is a parrot.", "document"],
  ["Ok.", "The flight leaves Lisbon.", "tool"],
])("What the user says as %j, and a model as %j, is from: %s", (said, text, origin) => {
  const toolResults = ["Flight 7 leaves Lisbon at noon."];
  const fact = { text, key: null, value: null };
  expect(originOfWords(fact, { text: said, toolResults, known }).origin).toBe(origin);
});
