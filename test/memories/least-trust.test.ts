import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { memoryQueryTool } from "../../src/langgraph/tools/memory-query-tool.js";
import { leastTrusted, trustOf } from "../../src/memories/item/memory.js";
import { memoryBlock, shownBy } from "../../src/turns/memory-block.js";
import { addNotes, newApp } from "../notes/note-facts.js";
import { decided, noteModel } from "../notes/note-model.js";
import { rejection } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

/** A memory of each trust. */
const drafts = [
  { text: "The user's garden has roses.", origin: "operator" },
  { text: "The user's garden has tulips.", origin: "user" },
  { text: "The user's garden has lilies.", origin: "assistant" },
  { text: "The user's garden has cameras.", origin: "tool" },
] as const;
const flowers = ["roses", "tulips", "lilies", "cameras"];
const namedIn = (shown: unknown) =>
  flowers.filter((flower) => JSON.stringify(shown).includes(flower));

describe("the least trust that is asked for", () => {
  it("Recall, query, its explanation and the tool show nothing of less trust", async () => {
    const { memory, thread, scope } = openThread(db);
    await memory.memories.add(drafts, { scope });
    const query = "What does the garden have?";
    for (const [place, minTrust] of (
      ["operator", "user", "agent", "untrusted"] as const
    ).entries()) {
      const tool = memoryQueryTool(memory, { minTrust });
      const answers = [
        memoryBlock(await memory.recall({ ...thread, query, minTrust })),
        (await memory.recall({ ...thread, minTrust })).memories,
        await memory.query({ scope, query, minTrust }),
        await memory.query({ scope, query: "", minTrust }),
        (await memory.query({ scope, query, minTrust, explain: true })).hits,
        await tool.invoke(
          { query, top_k: 9 },
          { configurable: { user_id: scope.userId, thread_id: "t" } },
        ),
      ];
      for (const shown of answers) expect(namedIn(shown)).toEqual(flowers.slice(0, place + 1));
    }
    const wrong = memory.query({ scope, query, minTrust: "friend" as never });
    expect(await rejection(wrong)).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("A turn that asks for more trust shows nothing that earlier turns of its thread were shown", async () => {
    const { memory, thread, scope } = openThread(db, { config: { preset: "ledger" } });
    await memory.memories.add(drafts, { scope });
    const turn = async (id: string, minTrust?: "user") => {
      const recalled = await memory.recall({ ...thread, query: "What has the garden?", minTrust });
      const messages = [new HumanMessage({ id, content: "What has the garden?" })];
      await memory.remember({ ...thread, messages, shown: shownBy(recalled) });
      return recalled;
    };
    expect(namedIn(memoryBlock(await turn("m1")))).toEqual(flowers);
    expect(namedIn(memoryBlock(await turn("m2", "user")))).toEqual(["roses", "tulips"]);
    await memory.memories.add(
      [
        { text: "The user's shed has spiders.", origin: "tool" },
        { text: "The user's shed has bats.", origin: "user" },
      ],
      { scope },
    );
    const { changes, epoch } = await turn("m3", "user");
    expect([changes.count, changes.top.map(({ line }) => line), epoch.isNew]).toEqual([
      1,
      ["[Knowledge] The user's shed has bats. (imp=3)"],
      false,
    ]);
  });

  it("Changes of untrusted memories are told with a caution", async () => {
    const { memory, scope } = openThread(db);
    await memory.memories.add({ text: "The user's shed has spiders.", origin: "tool" }, { scope });
    const { changes } = await memory.changes.since(0, { scope });
    const line = "[Knowledge] The user's shed has spiders. (unverified, from a tool) (imp=3)";
    expect(changes.map((change) => change.line)).toEqual([line]);
  });
});

describe("the trust of changed words", () => {
  it("The least trusted of several sources names the origin of what is made of them", () => {
    const of = (origin: Parameters<typeof trustOf>[0]) => ({ origin, trust: trustOf(origin) });
    expect(leastTrusted(of("user"), of("tool"), of("worker"))).toEqual(of("tool"));
    expect(leastTrusted(of("operator"), of("user"))).toEqual(of("user"));
    expect(leastTrusted(of("document"), of("tool"))).toEqual(of("document"));
  });

  it("A note merged of a conversation's and an import's is unverified", async () => {
    const text = "The customer likes aisle seats and tea.";
    const model = noteModel({
      note_compaction: () => decided({ action: "edit", target: 1, with: 2, text }),
    });
    const memory = db.memory({ model, config: { notes: { limit: 1 } } });
    const scope = newApp();
    await addNotes(memory, scope, ["The customer likes aisle seats."]);
    await addNotes(memory, scope, ["The customer likes tea."], { origin: "import" });
    await memory.graphs().compaction.invoke({ scope });
    const notes = await memory.memories.list({ scope });
    expect(notes).toMatchObject([{ text, origin: "import", trust: "untrusted" }]);
  });

  it("An edit lowers the trust to that of its words, and never raises it", async () => {
    const memory = db.memory();
    const { scope } = newAddress();
    const answers = { threadId: "t", messageId: randomUUID() };
    const edits = [
      ["user", { origin: "tool" }, "untrusted"],
      ["user", answers, "agent"],
      ["user", { ...answers, quote: "my shed is blue" }, "user"],
      ["unknown", { ...answers, quote: "my shed is blue" }, "user"],
      ["tool", { origin: "user" }, "untrusted"],
      ["user", {}, "user"],
    ] as const;
    for (const [at, [origin, how, trust]] of edits.entries()) {
      const [added] = await memory.memories.add({ text: `Shed ${at} is red.`, origin }, { scope });
      const text = `The user's shed ${at} is blue.`;
      const changed = await memory.memories.update(added!.id!, { text }, { scope, ...how });
      expect([at, changed.trust]).toEqual([at, trust]);
    }
  });
});
