import { describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { useCells } from "../support/cells.js";

const on = useCells(3);

/** A tenant's user in each cell, who has said something and of whom something is known. */
async function fill(memory: Memory): Promise<Scope[]> {
  const scopes = [0, 1, 2].map((cell): Scope => ({ tenantId: on.tenantIn(cell), userId: "ana" }));
  for (const scope of scopes) {
    await memory.memories.add({ text: `Works for ${scope.tenantId}.` }, { scope });
    const messages = [{ role: "user" as const, content: `I am of ${scope.tenantId}.` }];
    await memory.remember({ scope, threadId: "t1", messages });
  }
  return scopes;
}

describe("a memory of several cells", () => {
  it("keeps what belongs to a tenant in the tenant's schema, and finds it there", async () => {
    const memory = on.memory();
    const scopes = await fill(memory);
    for (const [cell, scope] of scopes.entries()) {
      const { rows } = await on.pool.query(`select content from "${on.schema}_c00${cell}".memory`);
      expect(rows).toEqual([{ content: `Works for ${scope.tenantId}.` }]);
      const recalled = await memory.recall({ scope, threadId: "t1", query: "Where does she work?" });
      expect(JSON.stringify(recalled)).toContain(`Works for ${scope.tenantId}.`);
      const [item] = await memory.memories.list({ scope });
      expect(await memory.memories.get(item?.id ?? "", { scope })).toEqual(item);
    }
  });

  it("counts and lists over all cells where nobody is named", async () => {
    const memory = on.memory();
    const users = await memory.users.list();
    expect(users.map(({ memories }) => memories)).toEqual([1, 1, 1]);
    const paged = [];
    for (let after: string | undefined; ; ) {
      const [user] = await memory.users.list({ limit: 1, ...(after && { after }) });
      if (!user) break;
      paged.push(user);
      after = user.cursor;
    }
    expect(paged).toEqual(users);
    expect(await memory.events.count({ by: "op", op: "create" })).toMatchObject([{ op: "create" }]);
    expect((await memory.stats()).energy.level).toBe(100);
    expect((await memory.stats({ by: "day", days: 1 })).days[0]?.memoriesByKind).toEqual({ fact: 3 });
    expect(await memory.upkeep()).toBe(0);
  });
});
