import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { type Memory, memoryQueryTool, type Scope } from "../../src/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** Ana of the app, her thread, and Ben, who uses the app as well. */
async function app(memory: Memory, appId: string) {
  const ana = { userId: `ana of ${appId}`, appId };
  const threadId = `thread of ana in ${appId}`;
  const said = `Ida of ${appId} said that deploys fail on Fridays.`;
  await memory.record({
    scope: ana,
    threadId,
    messages: [new HumanMessage({ id: "m", content: said })],
  });
  const source = { threadId, seqs: [0], quote: said };
  return { ana, ben: { userId: `ben of ${appId}`, appId }, appId, threadId, said, source };
}

/** All that the app's memories show to `scope`, as text. */
async function shown(memory: Memory, scope: Scope, id: string): Promise<string> {
  const query = "Why do deploys fail?";
  const called = await memoryQueryTool(memory, { scope }).invoke({ query, return: "full" });
  return JSON.stringify([
    await memory.memories.list({ scope }),
    await memory.memories.get({ scope, id }),
    await memory.memories.history({ scope, id }),
    await memory.query({ scope, query }),
    (await memory.recall({ scope, threadId: `asks ${JSON.stringify(scope)}`, query })).memories,
    called instanceof ToolMessage ? called.content : called,
    await memory.changes.list({ scope, since: 0 }),
  ]);
}

describe("a memory of an app", () => {
  it("A memory of an app does not reveal its thread, quote or speaker to the app's users", async () => {
    const memory = db.memory();
    const { ana, ben, appId, threadId, said, source } = await app(memory, "notes");
    const note = {
      text: "Deploys fail on Fridays.",
      kind: "note" as const,
      origin: "operator" as const,
      source,
      actorId: ana.userId,
      role: "user",
    };
    const [added] = await memory.memories.add({ scope: ana, actor: ana.userId, memories: note });
    expect(added).toMatchObject({ outcome: "created" });
    for (const scope of [ben, { appId }]) {
      const all = await shown(memory, scope, added!.id!);
      expect(all).toContain("Deploys fail on Fridays.");
      for (const secret of [threadId, said, "Ida"]) expect(all).not.toContain(secret);
    }
    expect(await shown(memory, ben, added!.id!)).not.toContain(ana.userId);
    expect(await findEverywhere(db, "Ida of notes")).toHaveProperty("message");
    await memory.forget({ scope: { userId: ana.userId } });
    expect(await findEverywhere(db, "Ida of notes")).toEqual({});
    expect(await memory.memories.list({ scope: ben })).toHaveLength(1);
  });

  it("A memory of an app may have a source in the app's own threads, and in no user's", async () => {
    const memory = db.memory();
    const { ana, ben, appId, threadId, said, source } = await app(memory, "lessons");
    const own = { threadId: "of the app", seqs: [0], quote: "said in the app" };
    await memory.record({
      scope: { appId },
      threadId: own.threadId,
      messages: [new HumanMessage(own.quote)],
    });
    const drafts = [
      { text: "Deploys fail on Fridays.", source },
      { text: "Why do deploys fail? They are late.", source: own },
      { text: "Nothing else fails in deploys.", source: { ...source, threadId: "of nobody" } },
    ];
    const outcomes = await memory.memories.add({ scope: { appId }, memories: drafts });
    expect((await memory.memories.list({ scope: ben })).map((found) => found.source)).toEqual([
      null,
      own,
      null,
    ]);
    const all = await shown(memory, ben, outcomes[0]!.id!);
    for (const secret of [threadId, said, "Ida"]) expect(all).not.toContain(secret);
    expect(await findEverywhere(db, "Ida of lessons")).not.toHaveProperty("memory");
    // A memory of a user names no other user's thread either, whichever way it came to it.
    const [mine] = await memory.memories.add({
      scope: ben,
      memories: { text: "Likes tea.", source },
    });
    expect((await memory.memories.get({ scope: ben, id: mine!.id! }))?.source).toBeNull();
    const [again] = await memory.memories.add({
      scope: ana,
      memories: { text: "Ben likes green tea.", source },
    });
    expect((await memory.memories.get({ scope: ana, id: again!.id! }))?.source).toEqual(source);
  });

  it("A memory of an app that waits for consent does not reveal who proposed or approved it, or the evidence", async () => {
    const memory = db.memory();
    const { ana, ben, appId, threadId, said, source } = await app(memory, "consents");
    const fields = { category: "profile", key: "city", value: "Porto" };
    const note = {
      text: "It is in Porto.",
      kind: "note" as const,
      origin: "operator" as const,
      ...fields,
      source,
      actorId: ana.userId,
    };
    const [proposed] = await memory.memories.add({ scope: ana, actor: ana.userId, memories: note });
    const id = proposed!.consentId!;
    const evidence = { quote: said, threadId, messageId: "m" };
    const decision = { id, decision: "approve", actor: ana.userId, via: "chat", evidence } as const;
    const secrets = [threadId, said, ana.userId];
    const pending = JSON.stringify(await memory.consents.list({ scope: ben }));
    const decided = await memory.consents.decide({ scope: { appId }, ...decision });
    const history = await memory.memories.history({ scope: ben, id: decided.memoryId! });
    const listed = await memory.consents.list({ scope: ben, status: ["approved"] });
    const late = await memory.consents.decide({ scope: ben, ...decision }).catch(String);
    for (const secret of secrets) {
      for (const text of [pending, JSON.stringify(history), String(late)])
        expect(text).not.toContain(secret);
    }
    expect(listed).toEqual([]);
    expect(await memory.consents.list({ scope: { appId }, status: ["approved"] })).toMatchObject([
      { decidedBy: ana.userId, decidedVia: "chat", evidence: null },
    ]);
  });
});
