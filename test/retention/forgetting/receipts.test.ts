import { generateKeyPairSync, randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { beforeAll, describe, expect, inject, it } from "vitest";
import {
  type ErasureReceipt,
  erasureReceipt,
  receiptProblems,
  recordHash,
} from "../../../src/retention/forgetting/receipt.rule.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { fillScope } from "../../support/fill-scope.js";
import { findEverywhere, word } from "../../support/find-everywhere.js";
import { code } from "../../support/rejection.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const pair = generateKeyPairSync("ed25519");
const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
const idKey = "a secret that is in no table, of 40 letters";
const receipts = { privateKey, idKey };
const embeddings = new HashingEmbeddings({ dimensions: 16 });

beforeAll(() => db.memory({ embeddings }).setup());

/** A user with something in each table, erased. */
async function erased(options: object = { receipts }) {
  const userId = word();
  const memory = db.memory({ embeddings, config: options });
  await fillScope(db as never, { userId }, userId);
  const { removed, total } = await memory.forget({ scope: { userId }, actor: `joe for ${userId}` });
  const [latest] = await memory.erasures.list({ limit: 1 });
  return { memory, userId, removed, total, id: latest?.id ?? "", latest };
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, count) => all + count, 0);

describe("receipts of erasures", () => {
  it("A receipt has the counts before and after, is signed, and holds nothing of whom it is about", async () => {
    const { memory, userId, id, total } = await erased();
    const receipt = await memory.erasures.receipt({ id });
    expect(erasureReceipt.parse(JSON.parse(JSON.stringify(receipt)))).toEqual(receipt);
    const { erasure, check } = receipt;
    expect(sum(erasure.before)).toBeGreaterThan(10);
    expect(total).toBeGreaterThanOrEqual(sum(erasure.before));
    expect(erasure).toMatchObject({ kind: "user", after: {}, actor: "the erased" });
    expect(check).toMatchObject({ by: "id", left: {}, passed: true });
    expect(receiptProblems(receipt, publicKey)).toEqual([]);
    expect(receipt.notCovered.join()).toContain("backups");
    expect(JSON.stringify(receipt)).not.toContain(userId);
    expect(await findEverywhere(db, userId)).toEqual({});
  });

  it("A changed receipt, another key and a missing signature are found", async () => {
    const { memory, id } = await erased();
    const receipt = await memory.erasures.receipt({ id });
    const changed: ErasureReceipt = { ...receipt, erasure: { ...receipt.erasure, actor: "ben" } };
    expect(receiptProblems(changed, publicKey)).toEqual([
      "The signature is not of this key, or the receipt was changed.",
      "The SHA-256 is not of this erasure.",
    ]);
    const other = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" });
    expect(receiptProblems(receipt, other.toString())).toEqual([
      "The signature is not of this key, or the receipt was changed.",
    ]);
    const unsigned = await db.memory({ config: { receipts: { idKey } } }).erasures.receipt({ id });
    expect(unsigned.signature).toBe("unsigned");
    expect(receiptProblems(unsigned, publicKey)).toEqual(["It is unsigned."]);
  });

  it("Each receipt has the digest of the one before it, also when erasures end at once", async () => {
    const tenantId = word();
    const users = Array.from({ length: 40 }, () => ({ tenantId, userId: word() }));
    const pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: users.length });
    const database = onServer() ? pool : db.pool;
    const memory = db.memory({ database, config: { receipts } });
    for (const scope of users) await memory.memories.add({ scope, memories: { text: "Tea." } });
    await Promise.all(users.map((scope) => memory.forget({ scope })));
    const listed = await memory.erasures.list({ tenantId });
    const made = await Promise.all(
      listed.map(async ({ id }) => (await memory.erasures.receipt({ id, tenantId })).erasure),
    );
    const chain: string[] = [];
    for (let last: string | null = null; chain.length < made.length; last = chain.at(-1) ?? null) {
      const next = made.find(({ previous }) => previous === last);
      if (!next) break;
      chain.push(recordHash(next));
    }
    expect(chain).toHaveLength(users.length);
    await pool.end();
  });

  it.each([
    [
      "event",
      "(tenant_id, user_id, app_id, node, op, status) values ('', $1, '', 'context', 'search', 'ok')",
    ],
    ["owner", "(tenant_id, user_id, app_id) values ('', $1, '')"],
  ])("A leftover that was planted in %s makes the check fail", async (table, values) => {
    const { memory, userId, id } = await erased();
    await db.pool.query(`insert into "${db.schema}".${table} ${values}`, [userId]);
    const receipt = await memory.erasures.receipt({ id });
    expect(receipt.check).toMatchObject({ by: "id", left: { [table]: 1 }, passed: false });
    expect(receiptProblems(receipt, publicKey)).toEqual([
      `Rows were there when it was made: 1 in ${table}.`,
    ]);
    await memory.forget({ scope: { userId } });
  });

  it("An erased id is asked for with the key, and without one nothing is kept of it", async () => {
    const { memory, userId, id } = await erased();
    const found = await memory.erasures.list({ scope: { userId } });
    expect(found.map((each) => each.id)).toEqual([id]);
    expect(await memory.erasures.list({ scope: { userId: randomUUID() } })).toEqual([]);
    const { rows } = await db.pool.query(
      `select e::text as row from "${db.schema}".erasure e where e.id = $1`,
      [id],
    );
    expect(rows[0].row).not.toContain(userId);
    expect(rows[0].row).not.toContain(idKey);

    const without = await erased({});
    expect(without.latest).toMatchObject({ hasDigest: false, kind: "user" });
    await expect(without.memory.erasures.list({ scope: { userId } })).rejects.toEqual(
      code("INVALID_INPUT"),
    );
    const receipt = await without.memory.erasures.receipt({ id: without.id });
    expect(receipt.erasure.idHmac).toBeNull();
    expect(receipt.check).toMatchObject({ by: "references", passed: true });
  });

  it("An interrupted erasure waits, and its next run ends the same record", async () => {
    const memory = db.memory({ config: { receipts } });
    const scope = { userId: word() };
    await memory.memories.add({ scope, memories: [{ text: "Tea." }, { text: "Boats." }] });
    const stop = new AbortController();
    const halted = memory.forget({
      scope,
      batchSize: 1,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(halted).rejects.toThrow();
    const [waiting] = await memory.erasures.list({ scope });
    expect(waiting).toMatchObject({ endedAt: null, after: null });
    await expect(memory.erasures.receipt({ id: waiting?.id ?? "" })).rejects.toEqual(
      code("WRONG_STATE"),
    );
    await memory.forget({ scope });
    const all = await memory.erasures.list({ scope });
    expect(all).toMatchObject([{ id: waiting?.id, endedAt: expect.any(Date), after: {} }]);
    await memory.forget({ scope });
    expect(await memory.erasures.list({ scope })).toHaveLength(1);
  });

  it.each([{ receipts }, {}])(
    "An erasure in another app leaves an interrupted one waiting",
    async (config) => {
      const memory = db.memory({ config });
      const [userId, tenantId] = [word(), word()];
      const [calendar, mail] = ["calendar", "mail"].map((appId) => ({ tenantId, userId, appId }));
      if (!calendar || !mail) return;
      for (const scope of [calendar, mail])
        await memory.record({ scope, threadId: word(), messages: [new HumanMessage("Tea.")] });
      const stop = new AbortController();
      const onProgress = () => stop.abort();
      await expect(
        memory.forget({ scope: calendar, signal: stop.signal, onProgress }),
      ).rejects.toThrow();
      await memory.forget({ scope: mail });
      expect(await memory.erasures.list({ tenantId })).toMatchObject([
        { kind: "user_in_app", after: {} },
        { kind: "user_in_app", endedAt: null },
      ]);
    },
  );

  it("A memory of a part of a user that is written again makes the check fail", async () => {
    const memory = db.memory({ config: { receipts } });
    const scope = { userId: word(), appId: "calendar" };
    await memory.record({ scope, threadId: word(), messages: [new HumanMessage("Tea.")] });
    await memory.forget({ scope });
    const [latest] = await memory.erasures.list({ scope });
    await memory.memories.add({ scope, memories: { text: "Tea." } });
    const { userId, appId } = scope;
    const ofApp = `update "${db.schema}".memory set app_id = $2 where user_id = $1`;
    await db.pool.query(ofApp, [userId, appId]);
    await db.pool.query(`delete from "${db.schema}".event where user_id = $1`, [userId]);
    const { check } = await memory.erasures.receipt({ id: latest?.id ?? "" });
    expect(check).toMatchObject({ by: "id", left: { memory: 1 }, passed: false });
  });

  it("A record that was changed in the database has a receipt that says so", async () => {
    const { memory, id } = await erased();
    await db.pool.query(`update "${db.schema}".erasure set actor = 'ben' where id = $1`, [id]);
    expect(receiptProblems(await memory.erasures.receipt({ id }), publicKey)).toEqual([
      "The SHA-256 is not of this erasure.",
    ]);
  });
});
