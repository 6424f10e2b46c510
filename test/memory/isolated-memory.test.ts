import { describe, expect, expectTypeOf, it } from "vitest";
import { isolatedMemory, type Reaches } from "../../src/composition/isolated-memory.js";
import type { Memory, Scope } from "../../src/index.js";
import { currentTenancy } from "../../src/postgres/isolation.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope: Scope = { tenantId: "acme", userId: "ana" };

/** A memory whose calls return the tenancy that they run in. */
function reporting(): Memory {
  const reporting = (api: object): object =>
    Object.fromEntries(
      Object.entries(api).map(([name, member]: [string, unknown]) => {
        if (typeof member === "function") return [name, currentTenancy];
        return [name, name === "policy" ? member : reporting(member as object)];
      }),
    );
  return isolatedMemory(reporting(db.memory()) as Memory);
}

describe("isolated memories", () => {
  it("An isolated memory shows a call the rows of its scope's tenant, wherever the call takes the scope", () => {
    const memory = reporting();
    const tenancies = [
      memory.recall({ scope, threadId: "t" }),
      memory.memories.get("id", { scope }),
      memory.memories.update("id", { pinned: true }, { scope }),
      memory.forget(scope),
      memory.summaries.list({ scope, threadId: "t" }),
    ];
    expect(tenancies).toEqual(tenancies.map(() => "t:acme"));
    expect(memory.recall({ scope: { userId: "ana" }, threadId: "t" })).toBe("t:");
  });

  it("An isolated memory shows all tenants' rows only to calls whose scope is optional", () => {
    const memory = reporting();
    expect(memory.upkeep()).toBe("*");
    const lacking = [
      memory.recall({ threadId: "t" } as never),
      memory.forget(undefined as never),
      memory.memories.get("id", null as never),
    ];
    expect(lacking).toEqual(lacking.map(() => "t:"));
    expect(memory.idle()).toBeUndefined();
  });

  it("An isolated memory refuses a member that is not in its table", () => {
    const later = { ...db.memory(), lookup: () => {} };
    expect(() => isolatedMemory(later)).toThrow(/`lookup` has no entry in the table of tenants/);
    const inner = { ...db.memory(), changes: { since: () => {}, constructor: () => {} } };
    expect(() => isolatedMemory(inner as never)).toThrow(/`constructor` has no entry/);
  });

  it("An isolated memory requires a tenancy for every member, among those that its arguments allow", () => {
    interface Api {
      byScope(scope: Scope): void;
      within(id: string, access: { readonly scope: Scope }): void;
      optional(of?: { readonly scope?: Scope; readonly limit?: number }): void;
      free(limit?: number): void;
      readonly inner: { count(): void };
      readonly settings: { readonly map: ReadonlyMap<string, string> };
    }
    expectTypeOf<Reaches<Api>>().toEqualTypeOf<{
      readonly byScope: "itself" | "0";
      readonly within: "itself" | "1.scope";
      readonly optional: "itself" | "0.scope or all";
      readonly free: "itself" | "all";
      readonly inner: { readonly count: "itself" | "all" };
      readonly settings: "data";
    }>();
  });
});
