import { describe, expect, expectTypeOf, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { isolatedMemory, type Reaches } from "../../src/isolated-memory.js";
import { currentTenancy } from "../../src/postgres/isolation.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope: Scope = { tenantId: "acme", userId: "ana" };

/** A memory whose calls say whose rows they see. */
function telling(): Memory {
  const telling = (api: object): object =>
    Object.fromEntries(
      Object.entries(api).map(([name, member]: [string, unknown]) => {
        if (typeof member === "function") return [name, currentTenancy];
        return [name, name === "policy" ? member : telling(member as object)];
      }),
    );
  return isolatedMemory(telling(db.memory()) as Memory);
}

describe("an isolated memory", () => {
  it("shows a call the rows of the tenant of its scope, wherever that stands", () => {
    const memory = telling();
    const told = [
      memory.recall({ scope, threadId: "t" }),
      memory.memories.get("id", { scope }),
      memory.memories.update("id", { pinned: true }, { scope }),
      memory.forget(scope),
      memory.summaries.list({ scope, threadId: "t" }),
    ];
    expect(told).toEqual(told.map(() => "t:acme"));
    expect(memory.recall({ scope: { userId: "ana" }, threadId: "t" })).toBe("t:");
  });

  it("shows all tenants' rows to calls alone that can do without a scope", () => {
    const memory = telling();
    expect(memory.upkeep()).toBe("*");
    const lacking = [
      memory.recall({ threadId: "t" } as never),
      memory.forget(undefined as never),
      memory.memories.get("id", null as never),
    ];
    expect(lacking).toEqual(lacking.map(() => "t:"));
    expect(memory.idle()).toBeUndefined();
  });

  it("has no place for what is not in its table", () => {
    const later = { ...db.memory(), lookup: () => {} };
    expect(() => isolatedMemory(later)).toThrow(/`lookup` has no entry in the table of tenants/);
    const inner = { ...db.memory(), changes: { since: () => {}, constructor: () => {} } };
    expect(() => isolatedMemory(inner as never)).toThrow(/`constructor` has no entry/);
  });

  it("asks for every member, and for nothing that its arguments cannot say", () => {
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
