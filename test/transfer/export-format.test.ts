import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
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
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value)) return "time";
  return typeof value;
}

/** The fields of a line in their order, each with what the lines of its type hold there. */
function formatOf(lines: readonly object[]): string[] {
  const orders = new Set(lines.map((line) => JSON.stringify(Object.keys(line))));
  // All lines of a type have the same fields, or some of the longest in its order.
  const longest = [...orders]
    .map((order) => JSON.parse(order) as string[])
    .sort((a, b) => b.length - a.length)[0];
  for (const line of lines) {
    const keys = Object.keys(line);
    expect(keys).toEqual(longest?.filter((key) => keys.includes(key)));
  }
  const shapes = (field: string) => {
    const held = lines.filter((line) => field in line).map((line) => shapeOf((line as never)[field]));
    return [...new Set([...held, ...(held.length < lines.length ? ["absent"] : [])])].sort().join(" | ");
  };
  // What these hold is told by no format: an item's value is any JSON.
  const free = ["draft", "old", "new", ...(longest?.includes("namespace") ? ["value"] : [])];
  return (longest ?? []).map((field) => (free.includes(field) ? field : `${field}: ${shapes(field)}`));
}

describe("the format of an export", () => {
  beforeAll(async () => {
    await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
  });

  it("has for each type of line these fields, in this order", async () => {
    const name = `word${randomUUID().replaceAll("-", "")}`;
    const memory = await fillScope(db, { tenantId: name, userId: name, appId: name }, name);
    const ofName = `owner_ref in (select id from "${db.schema}".owner where user_id = '${name}')`;
    for (const table of ["memory", "history", "change_log", "consent_request"]) {
      await db.pool.query(
        `update "${db.schema}"."${table}" set app_id = '${name}' where ctid in
           (select ctid from "${db.schema}"."${table}" where ${ofName} and app_id = '' limit 1)`,
      );
    }
    const lines = await linesOf(memory, { tenantId: name, userId: name });
    const types = [...new Set(lines.map(({ type }) => type))];
    const format = types.map((type) => [type, formatOf(lines.filter((line) => line.type === type))]);
    expect(Object.fromEntries(format)).toMatchInlineSnapshot(`
      {
        "change": [
          "line: string",
          "type: string",
          "appId: absent | string",
          "event: string",
          "category: string",
          "memoryId: string",
          "revision: number",
          "createdAt: time",
          "importance: number",
        ],
        "consent": [
          "id: string",
          "key: string",
          "rule: string",
          "slot: string",
          "type: string",
          "appId: string",
          "askAt: time",
          "draft",
          "status: string",
          "signals: [string]",
          "category: string",
          "evidence: null",
          "memoryId: null",
          "createdAt: time",
          "decidedAt: null",
          "decidedBy: null",
          "expiresAt: time",
          "seenCount: number",
          "decidedVia: null",
          "proposedBy: string",
          "contentHash: string",
          "normalValue: string",
        ],
        "end": [
          "type: string",
          "lines: number",
        ],
        "header": [
          "type: string",
          "format: string",
          "version: number",
          "exportedAt: time",
          "scope: {tenantId: string,userId: string}",
        ],
        "history": [
          "new",
          "old",
          "type: string",
          "actor: string",
          "appId: absent | string",
          "event: string",
          "memoryId: string",
          "revision: number",
          "createdAt: time",
        ],
        "item": [
          "key: string",
          "type: string",
          "appId: string",
          "value",
          "createdAt: time",
          "expiresAt: null",
          "namespace: [string]",
          "updatedAt: time",
          "ttlMinutes: null",
          "indexFields: [string]",
        ],
        "memory": [
          "id: string",
          "key: null | string",
          "kind: string",
          "role: null | string",
          "tags: [] | [string]",
          "text: string",
          "type: string",
          "appId: absent | string",
          "runId: null | string",
          "state: string",
          "trust: string",
          "value: null | string",
          "origin: string",
          "pinned: boolean",
          "actorId: null | string",
          "agentId: null | string",
          "purgeAt: null | time",
          "turnEnd: null",
          "validTo: null | time",
          "category: string",
          "evidence: null | string",
          "metadata: {}",
          "threadId: null | string",
          "createdAt: time",
          "expiresAt: null",
          "seenCount: number",
          "turnStart: null",
          "updatedAt: time",
          "validFrom: time",
          "assertedAt: null",
          "confidence: number",
          "importance: number",
          "sourceSeqs: [] | [number]",
          "accessCount: number",
          "assertedTurn: number",
          "supersededBy: null | string",
          "lastAccessedAt: time",
        ],
        "message": [
          "type: string",
          "threadId: string",
          "seq: number",
          "messageId: string",
          "serialised: string",
          "saidAt: time",
          "createdAt: time",
          "agentId: string",
          "runId: string",
        ],
        "owner": [
          "type: string",
          "revision: number",
          "turns: number",
          "changesTrimmedTo: number",
        ],
        "relation": [
          "type: string",
          "from: string",
          "to: string",
          "relationType: string",
          "strength: number",
          "createdAt: time",
        ],
        "summary": [
          "type: string",
          "threadId: string",
          "startSeq: number",
          "endSeq: number",
          "createdAt: time",
          "status: string",
          "text: string",
          "generationTimeMs: number",
          "attempts: number",
          "error: null",
          "startRound: number",
          "endRound: number",
          "base: null",
        ],
        "thread": [
          "type: string",
          "appId: string",
          "notes: [{endSeq: number,memoryId: string,startSeq: number}]",
          "tasks: [{due: boolean,task: string,doneUntil: number}]",
          "endedAt: null",
          "revSeen: number",
          "threadId: string",
          "createdAt: time",
          "endedReason: null",
          "lastActivityAt: time",
        ],
      }
    `);
  }, 60_000);
});
