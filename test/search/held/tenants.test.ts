import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory, Recalled, Scope } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { notHeld, recallHeld, recallUntilHeld, textsOf } from "../../support/held.js";
import { useIsolatedDatabase } from "../../support/isolated-database.js";
import { expectSame } from "../../support/same-recall.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const query = "What does she drink at noon?";

/** Owners that a key put together carelessly would take for each other. */
const alike: readonly Scope[] = [
  { userId: "ana" },
  { appId: "ana" },
  { tenantId: "a", userId: "ana" },
  { tenantId: "b", userId: "ana" },
  { tenantId: "a", appId: "ana" },
  { tenantId: "a", userId: "b:ana" },
  { tenantId: "a:b", userId: "ana" },
  { tenantId: 'a","b', userId: "ana" },
  { tenantId: "a", userId: 'b","ana' },
  { tenantId: "a\u0001b", userId: "ana" },
  { tenantId: "a", userId: "\u0001b ana" },
  { tenantId: "a", userId: "ANA" },
  { tenantId: "a", userId: "ána" },
];

/** Gives each of `scopes` a memory of its own. */
async function fill(memory: Memory, scopes: readonly Scope[]): Promise<void> {
  for (const [index, scope] of scopes.entries())
    await memory.memories.add({ text: `Someone drinks tea number ${index} at noon.` }, { scope });
}

const only = (recalled: Recalled, index: number) =>
  expect(textsOf(recalled)).toEqual([`Someone drinks tea number ${index} at noon.`]);

describe("held owners with ids that resemble each other", () => {
  beforeAll(() => db.memory({ embeddings }).setup());

  it("are each recalled their own, also all at once and in one thread id", async () => {
    const memory = db.memory({ embeddings });
    await fill(memory, alike);
    for (const [index, scope] of alike.entries())
      only(await recallUntilHeld(memory, { scope, threadId: `t${index}`, query }), index);
    const again = alike.map((scope, index) => memory.recall({ scope, threadId: `t${index}`, query }));
    for (const [index, recalled] of (await Promise.all(again)).entries()) only(recalled, index);
    for (const [index, scope] of alike.entries())
      only(await recallHeld(memory, { scope, threadId: `t${index}`, query }), index);
  });

  it("of which one is forgotten leave the others held", async () => {
    const memory = db.memory({ embeddings });
    const scopes = ["c", "d"].map((tenantId) => ({ tenantId, userId: "ben" }));
    await fill(memory, scopes);
    for (const scope of scopes) await recallUntilHeld(memory, { scope, threadId: "same", query });
    await memory.forget(scopes[0] as Scope);
    expect(textsOf(await memory.recall({ scope: scopes[0] as Scope, threadId: "same", query }))).toEqual([]);
    only(await recallHeld(memory, { scope: scopes[1] as Scope, threadId: "same", query }), 1);
  });

  it("are not recalled in a thread that is another's", async () => {
    const memory = db.memory({ embeddings });
    const [cleo, dora] = [{ userId: "cleo" }, { userId: "dora" }];
    await fill(memory, [cleo, dora]);
    await memory.record({ scope: cleo, threadId: "cleo's", messages: [{ role: "user", content: "Hello." }] });
    for (const scope of [cleo, dora]) await recallUntilHeld(memory, { scope, threadId: "new", query });
    await expect(memory.recall({ scope: dora, threadId: "cleo's", query })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    only(await recallHeld(memory, { scope: cleo, threadId: "cleo's", query }), 0);
  });
});

describe.skipIf(!onServer())("held owners under row-level security (server only)", () => {
  const isolated = useIsolatedDatabase(db);

  it("are recalled by their tenant, and not once the tenant may not see them", async () => {
    const holding = isolated.memory({ embeddings });
    const cold = isolated.memory({ embeddings, config: notHeld });
    const scopes = ["a", "b"].map((tenantId) => ({ tenantId, userId: "ana" }));
    await fill(holding, scopes);
    const input = (scope: Scope) => ({ scope, threadId: "same", query });
    for (const [index, scope] of scopes.entries()) only(await recallUntilHeld(holding, input(scope)), index);
    for (const [index, scope] of scopes.entries()) only(await recallHeld(holding, input(scope)), index);

    const [a, b] = scopes as [Scope, Scope];
    const move = (from: string, to: string) =>
      isolated.pool.query(`update "${isolated.schema}".owner set tenant_id = $2 where tenant_id = $1`, [
        from,
        to,
      ]);
    await move("a", "elsewhere");
    expect(textsOf(await holding.recall(input(a)))).toEqual([]);
    expectSame(await holding.recall(input(a)), await cold.recall(input(a)));
    only(await holding.recall(input(b)), 1);
    await move("elsewhere", "a");
    only(await holding.recall(input(a)), 0);
  });

  it("are taken in, and brought up to date, by what is written for their tenant", async () => {
    const memory = isolated.memory({ embeddings });
    const scopes = ["x", "y"].map((tenantId) => ({ tenantId, userId: "uma" }));
    for (let at = 0; at < 90; at++) {
      for (const scope of scopes)
        await memory.memories.add({ text: `Likes ${randomUUID()} ${randomUUID()}.` }, { scope });
      if (at === 30) await memory.idle();
    }
    const { list, letGo } = memory.held();
    expect(list.map(({ scope }) => scope)).toEqual(expect.arrayContaining(scopes));
    for (const { memories } of list) expect(memories).toBeGreaterThan(30);
    expect(letGo).toMatchObject({ dropped: 0, failed: 0 });
  });
});
