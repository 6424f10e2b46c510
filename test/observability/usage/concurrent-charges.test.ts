import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useIsolatedDatabase } from "../../support/isolated-database.js";
import { round } from "../../support/spoken.js";
import { taskModel } from "../../support/task-model.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
/** It stands still, so that nothing comes back. */
const clock = () => new Date("2031-05-05T10:30:00Z");

describe.skipIf(!onServer())("the energy of isolated tenants (server only)", () => {
  const isolated = useIsolatedDatabase(db);

  it("Energy is charged to the tenant of the work and hidden from other isolated tenants", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const config = {
      memories: { extract: false, episodes: false },
      energy: { capacityUnits: 1_000 },
    };
    const memory = isolated.memory({ model: taskModel({}), config, clock });
    for (const tenantId of [one, other]) {
      const thread = { scope: { tenantId, userId: "ana" }, threadId: "t" };
      await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    }
    const { units: left } = await memory.energy.level({ tenantId: one });
    const units = left ?? 0;
    expect(units).toBeLessThan(1_000);
    expect(await memory.energy.level({ tenantId: randomUUID() })).toMatchObject({ units: 1_000 });
    expect((await memory.stats({ tenantId: one })).energy.kinds).toMatchObject([
      { kind: "summaries", calls: 1 },
    ]);
    const seen = await isolated.asTenant(`t:${one}`, async (client) => [
      (await client.query(`select distinct tenant_id from "${isolated.schema}".usage`)).rows,
    ]);
    expect(seen).toEqual([[{ tenant_id: one }]]);

    const refused = expect.objectContaining({ code: "PERMISSION_DENIED" });
    await expect(memory.stats()).rejects.toThrow(refused);
    const owner = isolated.memory({ role: "owner", config, clock });
    expect((await owner.stats()).energy.kinds).toMatchObject([{ kind: "summaries", calls: 2 }]);
    expect((await owner.energy.level({ tenantId: one })).units).toBeCloseTo(units, 0);
    await memory.forget({ scope: { tenantId: one, userId: "ana" } });
    expect((await memory.stats({ tenantId: one })).energy.kinds).toEqual([]);
  });

  it("Energy is charged to the tenant for work that the owner's process takes over", async () => {
    const scope = { tenantId: randomUUID(), userId: "ana" };
    const config = { memories: { extract: false, episodes: false } };
    const failing = isolated.memory({
      config,
      model: taskModel({ conversation_summary: () => new Error("down") }),
    });
    await failing.remember({ scope, threadId: "t", messages: ["1", "2", "3"].flatMap(round) });
    await db.pool.query(
      `update "${isolated.schema}".work set retry_at = now() where kind = 'summaries'`,
    );
    const owner = isolated.memory({ role: "owner", model: taskModel({}), config });
    await owner.upkeep();
    expect((await owner.stats({ scope })).energy.kinds).toMatchObject([
      { kind: "summaries", calls: 1 },
    ]);
  });
});
