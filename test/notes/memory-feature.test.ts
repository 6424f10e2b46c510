import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Memory, withMemory } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import { chatAgent, say as sayTo } from "../langgraph/conversation.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import { addNotes, newApp, openApp } from "./note-facts.js";
import { appOf, notesOf, openTalk, say, talkAndEnd } from "./note-model.js";

const db = useTestDatabase();
const lesson = "The user prefers meetings after 2pm on weekdays.";

/** All that a model is given when a user of the app begins a conversation. */
async function contextOf(memory: Memory, { tenantId, appId }: AppScope): Promise<string> {
  const model = new ScriptedChatModel({ replies: ["Hello."] });
  const graph = withMemory(chatAgent(model), memory).compile({
    checkpointer: memory.checkpointer(),
  });
  const ids = { ...(tenantId !== undefined && { tenant_id: tenantId }), app_id: appId };
  await sayTo(graph, "When can we meet?", {
    configurable: { thread_id: randomUUID(), user_id: randomUUID(), ...ids },
  });
  return model.calls.flatMap(({ messages }) => messages.map((message) => message.text)).join("\n");
}

describe("memory feature", () => {
  it("A memory is created when a conversation ends", async () => {
    const logger = recordingLogger();
    const { memory, talk } = openTalk(db, { model: new OfflineChatModel(), logger });
    await say(memory, talk, "I prefer meetings after 2pm on weekdays.", "Noted: after 2pm.");
    expect(await notesOf(memory, talk)).toEqual([]);
    await memory.threads.end({ ...talk, reason: "done" });

    const [note, ...others] = await memory.memories.list({ scope: appOf(talk), kinds: ["note"] });
    expect(others).toEqual([]);
    expect(note).toMatchObject({
      text: "The user said: I prefer meetings after 2pm on weekdays.",
      scope: appOf(talk),
      kind: "note",
      importance: 3,
      state: "active",
      origin: "worker",
      trust: "agent",
    });
    const { appId } = talk.scope;
    expect(logger.lines).toContain(
      `info: 📝 Created memory for app ${appId} from conversation ${talk.threadId}`,
    );
  });

  it("Memories are included in the context of the same app", async () => {
    const scope = newApp();
    const memory = db.memory({
      config: { notes: { apps: { [scope.appId]: { name: "Calendar" } } } },
    });
    await addNotes(memory, scope, ["The calendar was slow in May.", lesson]);
    const context = await contextOf(memory, scope);
    const block = await memory.notes.context({ scope });
    expect(block).toMatch(/^\(memories for app: Calendar\)\n/);
    expect(context).toContain(`\n\n${block}\n\n`);
    expect(block).toContain(`1. [Created: ${new Date().toISOString().slice(0, 10)}] ${lesson}`);
  });

  it("Memories are isolated between apps", async () => {
    const memory = db.memory();
    const appId = randomUUID();
    const scope = { tenantId: "acme", appId };
    await addNotes(memory, scope, [lesson]);
    const others: AppScope[] = [
      ...[{ appId }, { tenantId: "other", appId }, { tenantId: "acme", appId: `${appId}2` }],
      ...[
        { tenantId: "acme", appId: appId.slice(0, -1) },
        { tenantId: "acme", appId: "%" },
      ],
    ];
    for (const other of others) {
      expect(await contextOf(memory, other)).not.toContain(lesson);
      expect(await memory.notes.context({ scope: other })).toBeNull();
    }
    expect(await contextOf(memory, scope)).toContain(lesson);
  });

  it("Memories are compacted when the limit is reached", async () => {
    const { memory, talk } = openTalk(db, { model: new OfflineChatModel() });
    const subjects = [
      "tea",
      "rye",
      "jazz",
      "chess",
      "skiing",
      "opera",
      "ferns",
      "maps",
      "clay",
      "kites",
    ];
    await addNotes(
      memory,
      appOf(talk),
      subjects.map((subject) => `The user likes ${subject}.`),
    );
    await memory.upkeep();
    expect(await notesOf(memory, talk)).toHaveLength(10);
    await talkAndEnd(memory, talk, "I like owls.");
    const notes = await notesOf(memory, talk);
    expect(notes).toHaveLength(10);
    expect(notes).toContain("The user said: I like owls.");
  });

  it("Memories are retained after an app is uninstalled", async () => {
    const { memory, scope } = openApp(db);
    await addNotes(memory, scope, [lesson]);
    expect(await memory.apps.uninstall(scope)).toMatchObject({ deletedCount: 0, hiddenCount: 0 });
    expect(await memory.notes.list({ scope })).toMatchObject([{ text: lesson }]);
    expect(await contextOf(memory, scope)).toContain(lesson);
    const purging = { purgeMemories: true, actor: "admin" };
    expect(await memory.apps.uninstall(scope, purging)).toMatchObject({ deletedCount: 1 });
    expect(await contextOf(memory, scope)).not.toContain(lesson);
  });

  it("Memories are purged when an administrator requests it", async () => {
    const memory = db.memory();
    const [scope, other] = [newApp(), newApp()];
    await addNotes(memory, scope, [lesson, "The calendar was slow in May."]);
    await addNotes(memory, other, [lesson]);
    expect(await memory.notes.purge({ scope, actor: "admin" })).toEqual({
      deletedCount: 2,
      hiddenCount: 0,
    });
    expect(await memory.notes.list({ scope })).toEqual([]);
    expect(await contextOf(memory, scope)).not.toContain(lesson);
    expect(await memory.notes.count({ scope: other })).toBe(1);
    const events = await memory.events.list({ scope });
    expect(events.filter(({ step, op }) => step === "forget" && op === "delete")).toHaveLength(2);
    expect(JSON.stringify(events)).not.toContain("meetings");
  });
});
