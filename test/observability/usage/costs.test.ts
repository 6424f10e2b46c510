import { expect, it } from "vitest";
import { chargeCall } from "../../../src/observability/usage/usage-statements.js";
import { createDatabase } from "../../../src/postgres/database.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

it("Costs of the last days are summed by kind, user and app, most tokens first, within a scope, tenant or all", async () => {
  let now = new Date("2031-05-05T10:30:00Z");
  const clock = () => now;
  const memory = db.memory({ clock });
  const database = createDatabase(db.pool, { schemaName: db.schema, clock }, async () => {});
  const ana = { tenantId: "acme", userId: "ana", appId: "shop" };
  const ben = { tenantId: "acme", userId: "ben" };
  for (const scope of [ana, ben, { userId: "ana" }])
    await memory.memories.add({ scope, memories: { text: "Knits." } });
  const calls = [
    [8, ana, "facts", 1_000, 10],
    [6, ana, "facts", 100, 1],
    [1, ana, "summaries", 50, 5],
    [0, ben, "facts", 500, 50],
    [0, { userId: "ana" }, "notes", 7, 7],
  ] as const;
  for (const [daysAgo, scope, kind, inputTokens, outputTokens] of calls) {
    now = new Date(Date.parse("2031-05-05T10:30:00Z") - daysAgo * 86_400_000);
    const id = crypto.randomUUID();
    await chargeCall(database, { id, scope, kind, inputTokens, outputTokens });
  }
  now = new Date("2031-05-05T10:30:00Z");
  const { costs } = memory.energy;
  expect(await costs({ by: "kind" })).toEqual([
    { kind: "facts", calls: 2, inputTokens: 600, outputTokens: 51, units: 6.51 },
    { kind: "summaries", calls: 1, inputTokens: 50, outputTokens: 5, units: 0.55 },
    { kind: "notes", calls: 1, inputTokens: 7, outputTokens: 7, units: 0.14 },
  ]);
  const inputs = async (of: Parameters<typeof costs>[0]) =>
    (await costs(of)).map(({ scope, inputTokens }) => [scope, inputTokens]);
  expect(await inputs({ by: "user", days: 30, tenantId: "acme" })).toEqual([
    [{ tenantId: "acme", userId: "ana" }, 1_150],
    [{ tenantId: "acme", userId: "ben" }, 500],
  ]);
  expect(await inputs({ by: "app", days: 30, limit: 1 })).toEqual([
    [{ tenantId: "acme", appId: "shop" }, 1_150],
  ]);
  expect(await costs({ by: "kind", days: 1, scope: ben })).toMatchObject([{ inputTokens: 500 }]);
  expect(await costs({ by: "kind", scope: { userId: "nobody" } })).toEqual([]);
});
