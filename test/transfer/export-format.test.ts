import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { records } from "../../src/transfer/records.js";
import { linesOf } from "../support/export-lines.js";
import { fillScope } from "../support/fill-scope.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** What a value is, and of an object its fields in their order. */
function shapeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.slice(0, 1).map(shapeOf).join("")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([key, inner]) => `${key}: ${shapeOf(inner)}`)}}`;
  }
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value))
    return "time";
  return typeof value;
}

/** The fields of the lines of a type in their order, each with what the lines hold there. */
function formatOf(lines: readonly object[]): string {
  const fields = Object.keys(lines[0] ?? {});
  for (const line of lines) expect(Object.keys(line)).toEqual(fields);
  const shapes = (field: string) =>
    [...new Set(lines.map((line) => shapeOf((line as never)[field])))].sort();
  // What these hold is told by no format: an item's value is any JSON.
  const free = [
    "draft",
    "old",
    "new",
    "snapshot",
    ...(fields.includes("namespace") ? ["value"] : []),
  ];
  return fields
    .map((field) => (free.includes(field) ? field : `${field}: ${shapes(field).join(" | ")}`))
    .join(", ");
}

describe("the format of an export", () => {
  beforeAll(async () => {
    await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
  });

  it("Each type of line in an export has these fields, in this order", async () => {
    const name = `word${randomUUID().replaceAll("-", "")}`;
    const memory = await fillScope(db, { tenantId: name, userId: name, appId: name }, name);
    await db.pool.query(
      `with app as (
         insert into "${db.schema}".owner (tenant_id, user_id, app_id) values ($1, '', $1) returning id
       )
       insert into "${db.schema}".note_source (thread_ref, memory_id, owner_ref, start_seq, end_seq)
       select t.id, gen_random_uuid(), app.id, 0, 1 from app, "${db.schema}".thread t where t.app_id = $1`,
      [name],
    );
    const lines = await linesOf(memory, { tenantId: name, userId: name });
    const ofFields = ["memory", "shown"] as const;
    for (const type of ofFields)
      for (const line of lines.filter((each) => each.type === type))
        expect(Object.keys(line)).toEqual(["type", ...Object.keys(records[type].fields)]);
    const isOfFields = (type: string) => (ofFields as readonly string[]).includes(type);
    const types = [...new Set(lines.map(({ type }) => type))].filter((type) => !isOfFields(type));
    const format = types.map((type) => [
      type,
      formatOf(lines.filter((line) => line.type === type)),
    ]);
    expect(Object.fromEntries(format)).toMatchInlineSnapshot(`
      {
        "change": "type: string, revision: number, memoryId: string, appId: null, event: string, category: string, line: string, importance: number, createdAt: time",
        "consent": "type: string, id: string, appId: null, rule: string, category: string, key: string, slot: string, normalValue: string, contentHash: string, draft, status: string, seenCount: number, signals: [string], proposedBy: string, memoryId: null, createdAt: time, expiresAt: time, askAt: time, decidedAt: null, decidedBy: null, decidedVia: null, evidence: null",
        "end": "type: string, lines: number",
        "header": "type: string, format: string, version: number, exportedAt: time, scope: {tenantId: string,userId: string}",
        "history": "type: string, memoryId: string, appId: null, event: string, old, new, actor: string, revision: number, snapshot, createdAt: time",
        "item": "type: string, appId: string, namespace: [string], key: string, value, indexFields: [string], ttlMinutes: null, expiresAt: null, createdAt: time, updatedAt: time",
        "message": "type: string, threadId: string, seq: number, messageId: string, serialised: string, saidAt: time, timeZone: string, createdAt: time, agentId: string, runId: string, editedAtSeq: null | number, altered: boolean",
        "noteSource": "type: string, thread: string, memoryId: string, appId: string, startSeq: number, endSeq: number",
        "owner": "type: string, revision: number, turns: number, changesTrimmedTo: number",
        "relation": "type: string, from: string, to: string, relationType: string, strength: number, createdAt: time",
        "summary": "type: string, threadId: string, startSeq: number, endSeq: number, createdAt: time, base: null, status: string, text: string, generationTimeMs: number, startTurn: number, endTurn: number",
        "thread": "type: string, threadId: string, appId: string, revSeen: number, createdAt: time, lastActivityAt: time, endedAt: null, endedReason: null",
        "work": "type: string, threadId: string, kind: string, doneUntil: number, due: boolean",
      }
    `);
  });
});
