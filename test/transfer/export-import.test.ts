import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { once } from "../../src/composition/close-after-calls.js";
import type { Memory } from "../../src/memory.js";
import { encodeMessage } from "../../src/messages/message-codec.js";
import type { Scope } from "../../src/scope/scope.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { type RecordName, recordNames, records } from "../../src/transfer/records.js";
import { noteModel, talkAndEnd } from "../notes/note-model.js";
import { asText, linesOf, ofType, withoutHeader } from "../support/export-lines.js";
import { fillScope } from "../support/fill-scope.js";
import { countEverything } from "../support/find-everywhere.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const word = () => `word${randomUUID().replaceAll("-", "")}`;

beforeAll(async () => {
  await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
});

describe("export and import", () => {
  it("An import gives back everything in another database, and again changes nothing", async () => {
    const name = word();
    const scope = { tenantId: name, userId: name };
    const source = await fillScope(db, scope, name);
    const lines = await linesOf(source, scope);
    expect(lines[0]).toMatchObject({ type: "header", format: "mnemograph", version: 1, scope });
    expect(new Set(lines.map(({ type }) => type)).size).toBe(14);

    const fresh = await freshSchema();
    const target = fresh.memory();
    const imported = await target.import({ lines: asText(lines) });
    expect(imported).toMatchObject({ scope, lines: lines.length, total: lines.length - 2 });
    const again = await linesOf(target, scope);
    expect(withoutHeader(again)).toEqual(withoutHeader(lines));
    const counters = async (schema: string) => {
      const { rows } = await db.pool.query(
        `select revision, turns, memory_count, memory_length, message_count, message_length
         from "${schema}".owner where user_id = $1`,
        [name],
      );
      return rows;
    };
    expect(await counters(fresh.schema)).toEqual(await counters(db.schema));
    const rounds = async (schema: string) => {
      const threads = `select thread_id, turns from "${schema}".thread where user_id = $1 order by 1`;
      return (await db.pool.query(threads, [name])).rows;
    };
    expect(await rounds(fresh.schema)).toEqual(await rounds(db.schema));
    const before = await countEverything(fresh);
    expect(await target.import({ lines })).toMatchObject({
      written: {},
      total: 0,
      lines: lines.length,
    });
    expect(await countEverything(fresh)).toEqual(before);

    // Found by words, and by vectors after reembed.
    const query = { scope, query: `who likes ${name}` };
    const texts = async (memory: Memory) =>
      (await memory.query(query)).map(({ memory: { text } }) => text).sort();
    expect((await texts(target)).length).toBeGreaterThan(0);
    expect(await texts(target)).toEqual(await texts(db.memory()));
    const found = await target.store({ scope }).search([], { query: name });
    expect(found).toMatchObject([
      { namespace: [name, "b,c"], key: name, score: expect.anything() },
    ]);
    const said = async (memory: Memory) =>
      (await memory.transcript.search({ scope, query: "round 2" })).map(({ text }) => text);
    expect((await said(target)).length).toBeGreaterThan(0);
    expect(await said(target)).toEqual(await said(source));
    const { embedded } = await fresh
      .memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) })
      .reembed();
    const active = ofType(lines, "memory").filter(({ state }) => state === "active");
    expect(embedded).toBe(active.length + ofType(lines, "item").length);
    // The next change has the next revision.
    await target.memories.add({ scope, memories: { text: `Later more of ${name} happened.` } });
    const [{ revision }] = await counters(fresh.schema);
    expect(Number(revision)).toBe((ofType(lines, "owner")[0]?.revision ?? 0) + 1);
  });

  it("An export has every column except derived ones", async () => {
    const whose = ["owner_ref", "tenant_id", "user_id", "app_id"];
    const madeAnew: Partial<Record<RecordName, string[]>> = {
      owner: ["id", "memory_count", "memory_length", "message_count", "message_length"],
      thread: ["id", "turns", "checkpoint_name", "closing_until"],
      message: [
        ...["role", "actor", "content", "words_check"],
        ...["version", "earlier_checks", "edited_at_seq", "state_check"],
      ],
      summary: ["id"],
      work: [
        ...["id", "lease", "lease_until", "attempts", "done_at", "progress"],
        ...["error", "output", "given_up_at", "worker", "taken_at", "due_since"],
      ],
      memory: ["ref", "content_hash", "accessed_on", "revision"],
      history: ["id", "memory_revision"],
      consent: ["ref", "revision", "asked_in", "asked_by"],
      item: ["ref", "path", "path_head", "item", "place", "words", "revision"],
    };
    for (const name of recordNames) {
      const { table, fields } = records[name];
      const { rows } = await db.pool.query<{ name: string }>(
        "select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2",
        [db.schema, table],
      );
      const known = [
        ...whose,
        ...Object.values(fields).map((field) => field.name),
        ...(madeAnew[name] ?? []),
      ];
      const missing = rows.map((column) => column.name).filter((column) => !known.includes(column));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  it("Export and import keep to the scope: a user within an app, an app's own", async () => {
    const [user, app] = [word(), word()];
    const config = { categories: { custom: [{ name: "in_app", level: "app" as const }] } };
    const memory = db.memory({ config });
    const inApp = { userId: user, appId: app };
    await memory.memories.add({
      scope: inApp,
      memories: { text: "Prefers the dark theme here.", category: "in_app" },
    });
    await memory.memories.add({ scope: inApp, memories: { text: "Prefers tea everywhere." } });
    await memory.memories.add({
      scope: { appId: app },
      memories: { text: "Users like short answers.", kind: "note" },
    });
    await memory.record({
      scope: inApp,
      threadId: `${app} 1`,
      messages: [new HumanMessage("in the app")],
    });
    await memory.record({
      scope: { userId: user },
      threadId: `${app} 2`,
      messages: [new HumanMessage("outside")],
    });
    const exported = async (scope: Scope) => {
      const lines = await linesOf(memory, scope);
      return [
        ...ofType(lines, "memory").map(({ text }) => text),
        ...ofType(lines, "thread").map(({ threadId }) => threadId),
        ofType(lines, "history").length,
      ];
    };
    expect(await exported(inApp)).toEqual(["Prefers the dark theme here.", `${app} 1`, 1]);
    expect(await exported({ appId: app })).toEqual(["Users like short answers.", 1]);
    const all = [
      "Prefers the dark theme here.",
      "Prefers tea everywhere.",
      `${app} 1`,
      `${app} 2`,
      2,
    ];
    expect(await exported({ userId: user })).toEqual(all);
    const fresh = (await freshSchema()).memory();
    for (const scope of [inApp, { appId: app }]) {
      const lines = await linesOf(memory, scope);
      await fresh.import({ lines });
      expect(withoutHeader(await linesOf(fresh, scope))).toEqual(withoutHeader(lines));
    }
  });

  it("An import can assign the memories to another user", async () => {
    const [ana, ben] = [word(), word()];
    const lines = await linesOf(await fillScope(db, { userId: ana, appId: ana }, ana), {
      userId: ana,
    });
    const target = (await freshSchema()).memory();
    const scope = { tenantId: "acme", userId: ben };
    expect(await target.import({ scope, lines })).toMatchObject({ scope, total: lines.length - 2 });
    expect(withoutHeader(await linesOf(target, scope))).toEqual(withoutHeader(lines));
    expect(await linesOf(target, { userId: ana })).toHaveLength(2);
    const refused = /scope with userId; `scope` must have the same, and has appId/;
    await expect(target.import({ scope: { appId: ben }, lines })).rejects.toThrow(refused);
  });

  it("An import refuses a scope that has data of another source, and writes nothing", async () => {
    const scope = { userId: word() };
    const source = (await freshSchema()).memory();
    await source.memories.add({ scope, memories: { text: "Likes tea very much." } });
    const lines = await linesOf(source, scope);
    const target = (await freshSchema()).memory();
    await target.memories.add({ scope, memories: { text: "Plays chess on Sundays." } });
    const refused = {
      code: "WRONG_STATE",
      message: expect.stringContaining("memory.memories.add"),
    };
    await expect(target.import({ lines })).rejects.toMatchObject(refused);
    await target.forget({ scope });
    await target.import({ lines });
    // The same file is the same source; a later export is another one.
    expect(await target.import({ lines })).toMatchObject({ total: 0 });
    await expect(target.import({ lines: await linesOf(target, scope) })).rejects.toMatchObject(
      refused,
    );
    expect(await textsOf(target, { scope })).toEqual(["Likes tea very much."]);
  });

  it("An import of a file that was cut says to import the whole, which goes on without forgetting", async () => {
    const scope = { userId: word() };
    await db
      .memory()
      .memories.add({ scope, memories: [{ text: "Likes tea." }, { text: "Has a boat." }] });
    const lines = asText(await linesOf(db.memory(), scope));
    const last = lines.at(-2) ?? "";
    for (const cut of [
      lines.slice(0, -1),
      [...lines.slice(0, -2), last.slice(0, last.length / 2)],
    ]) {
      const target = (await freshSchema()).memory();
      await expect(target.import({ lines: cut })).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(/^Line \d+: .*cut off.*mport the whole file/),
      });
      await target.import({ lines });
      expect(await target.memories.count({ scope })).toBe(2);
    }
  });

  it("An import keeps which notes came from a user's conversations: forgetting the user deletes them", async () => {
    const source = (await freshSchema()).memory({ model: noteModel() });
    const [user, app] = [{ userId: word() }, { appId: word() }];
    await talkAndEnd(source, { scope: { ...user, ...app }, threadId: word() });
    await source.idle();
    expect(await source.notes.list({ scope: app })).toHaveLength(1);
    const [ofUser, ofApp] = [await linesOf(source, user), await linesOf(source, app)];
    const order = [ofUser, ofApp];
    for (const files of [order, order.toReversed()]) {
      const target = (await freshSchema()).memory();
      for (const lines of files) await target.import({ lines });
      expect(withoutHeader(await linesOf(target, user))).toEqual(withoutHeader(ofUser));
      expect(await target.notes.list({ scope: app })).toHaveLength(1);
      await target.forget({ scope: user });
      expect(await target.notes.list({ scope: app })).toEqual([]);
    }
  });

  it("An import of an app alone keeps which conversations its notes came from", async () => {
    const memory = (await freshSchema()).memory({ model: noteModel() });
    const [user, app] = [{ userId: word() }, { appId: word() }];
    const threadId = word();
    await talkAndEnd(memory, { scope: { ...user, ...app }, threadId });
    await memory.idle();
    const lines = await linesOf(memory, app);
    expect(JSON.stringify(lines)).not.toContain(threadId);
    await memory.forget({ scope: app });
    await memory.import({ lines });
    expect(withoutHeader(await linesOf(memory, app))).toEqual(withoutHeader(lines));
    expect(await memory.notes.list({ scope: app })).toHaveLength(1);
    await memory.forget({ scope: user });
    expect(await memory.notes.list({ scope: app })).toEqual([]);
  });

  it("An import never takes rows of another scope", async () => {
    const [ana, ben] = [word(), word()];
    const memory = await fillScope(db, { userId: ana }, ana);
    const lines = await linesOf(memory, { userId: ana });
    const before = await countEverything(db);
    // The threads of another tenant are others; the memories' ids are taken.
    for (const scope of [{ userId: ben }, { tenantId: ben, userId: ben }]) {
      await expect(memory.import({ scope, lines })).rejects.toMatchObject({
        code: "ID_TAKEN",
        message: expect.stringMatching(/^Lines 1 to \d+: .* belongs to another scope/),
      });
    }
    expect(await countEverything(db)).toEqual(before);
  });

  describe("an invalid export", () => {
    const at = "2026-01-01T00:00:00Z";
    const header = {
      type: "header",
      format: "mnemograph",
      version: 1,
      exportedAt: at,
      scope: { userId: "ana" },
    };
    const open = { appId: null, endedAt: null, endedReason: null };
    const thread = {
      type: "thread",
      threadId: "t",
      revSeen: 0,
      createdAt: at,
      lastActivityAt: at,
      ...open,
    };
    const serialised = JSON.stringify({ type: "os", data: {} });
    const said = { saidAt: at, createdAt: at, timeZone: "UTC", agentId: null, runId: null };
    const message = { type: "message", threadId: "t", seq: 0, messageId: "m", ...said, serialised };
    const end = (lines: number) => ({ type: "end", lines });
    const hello = encodeMessage(new HumanMessage({ id: "m", content: "Hello." }));
    it.each<[string, unknown[], RegExp]>([
      ["nothing", [], /^Line 1: the export is cut off/],
      ["no JSON", ["hello"], /^Line 1: this is no JSON/],
      ["something else", ['{"a":1}'], /^Line 1: this is no export of mnemograph/],
      [
        "a later version",
        [{ ...header, version: 2 }],
        /^Line 1: the export has version 2, .*update the package/,
      ],
      [
        "no scope",
        [{ ...header, scope: { tenantId: "a" } }, end(1)],
        /^Line 1: A scope needs a userId or an appId/,
      ],
      [
        "a blank user",
        [{ ...header, scope: { userId: " " } }],
        /^Line 1: scope.userId: must not be blank/,
      ],
      ["no end", [header, "", thread], /^Line 4: the export is cut off/],
      ["lines missing", [header, end(9)], /^Line 2: 8 lines before it are missing/],
      ["an unknown line", [header, { type: "wish" }], /^Line 2: type: Invalid/],
      ["an unknown field", [header, { ...thread, admin: true }], /^Line 2: .*admin/],
      [
        "an unknown time zone",
        [header, thread, { ...message, timeZone: "Asia/Atlantis" }],
        /^Line 3: timeZone: no time zone: "Asia\/Atlantis"/,
      ],
      ["prototypes", [header, '{"type":"thread","__proto__":{"threadId":"t"}}'], /^Line 2: /],
      [
        "a wrong time",
        [header, { ...thread, createdAt: "yesterday" }],
        /^Line 2: createdAt: must be a time/,
      ],
      ["a NUL", [header, { ...thread, threadId: "a\u0000" }], /^Line 2: it has characters/],
      [
        "a message of no thread",
        [header, { ...message, serialised: hello, threadId: "none" }, end(2)],
        /^Lines 1 to 3: the database does not take one of them/,
      ],
      [
        "a message that is none",
        [header, thread, message, end(3)],
        /^Line 3: serialised: this is no message/,
      ],
      ["a second header", [header, header], /^Line 2: a second header/],
      ["more after the end", [header, end(1), thread], /^Line 3: there is something after/],
    ])("An import of an invalid export says which line is wrong: %s", async (_, lines, problem) => {
      const memory = (await freshOnce()).memory();
      const error = await memory
        .import({ lines: lines as string[] })
        .catch((cause: unknown) => cause);
      expect(error).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(problem),
      });
    });
  });
});

const freshOnce = once(freshSchema);
