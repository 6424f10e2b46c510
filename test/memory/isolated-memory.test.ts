import { describe, expect, expectTypeOf, it } from "vitest";
import { isolatedMemory, type WithoutScope } from "../../src/composition/isolated-memory.js";
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
  it("An isolated memory shows a call the rows of its scope's tenant, whatever the call", () => {
    const memory = reporting();
    const tenancies = [
      memory.recall({ scope, threadId: "t" }),
      memory.memories.get({ scope, id: "id" }),
      memory.memories.update({ scope, id: "id", pinned: true }),
      memory.forget({ scope }),
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
      memory.forget({ scope: undefined as never }),
      memory.memories.get({ id: "id" } as never),
    ];
    expect(lacking).toEqual(lacking.map(() => "t:"));
    expect(memory.idle()).toBeUndefined();
  });

  it("An isolated memory runs a member that it does not know for the tenant of its scope alone", () => {
    const later = { ...db.memory(), lookup: currentTenancy };
    const { lookup } = isolatedMemory(later) as unknown as {
      lookup(input?: { scope: Scope }): string;
    };
    expect(lookup({ scope })).toBe("t:acme");
    expect(lookup()).toBe("t:");
  });

  it("An isolated memory requires a word on every call without a scope, and on no other", () => {
    interface Api {
      within(input: { readonly scope: Scope; readonly id: string }): void;
      optional(input?: { readonly scope?: Scope; readonly limit?: number }): void;
      free(limit?: number): void;
      readonly inner: { count(): void; of(input: { readonly scope: Scope }): void };
      readonly scoped: { list(input: { readonly scope: Scope }): void };
      readonly settings: { readonly map: ReadonlyMap<string, string> };
    }
    expectTypeOf<WithoutScope<Api>>().toEqualTypeOf<{
      readonly optional: "itself" | "all";
      readonly free: "itself" | "all";
      readonly inner: { readonly count: "itself" | "all" };
      readonly settings: "data";
    }>();
  });
});
