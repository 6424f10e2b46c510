import { describe, expect, expectTypeOf, it } from "vitest";
import type { Routes } from "../../src/cell-routes.js";
import type { Scope } from "../../src/index.js";
import { useCells } from "../support/cells.js";

const on = useCells(2);

/** Names of all members, with those within them. */
function membersOf(api: object, within = ""): string[] {
  return Reflect.ownKeys(api).flatMap((name) => {
    const path = `${within}${String(name)}`;
    const member: unknown = Reflect.get(api, name);
    const isApi = typeof member === "object" && member !== null && name !== "policy";
    return isApi ? membersOf(member, `${path}.`) : [path];
  });
}

describe("the calls of a memory of several cells", () => {
  it("are those of a memory of one", () => {
    expect(membersOf(on.memory()).sort()).toEqual(membersOf(on.db.memory()).sort());
  });

  it("have each a route: by a scope that they must have, or by a function", () => {
    interface Api {
      byScope(scope: Scope): Promise<void>;
      within(id: string, access: { readonly scope: Scope }): Promise<void>;
      optional(of?: { readonly scope?: Scope }): Promise<number>;
      lines(scope: Scope): AsyncIterable<string>;
      readonly settings: { readonly map: ReadonlyMap<string, string> };
    }
    type Named = { [Name in keyof Routes<Api>]: Exclude<Routes<Api>[Name], (...args: never[]) => unknown> };
    expectTypeOf<Named>().toEqualTypeOf<{
      readonly byScope: "0" | "found 0";
      readonly within: "1.scope" | "found 1.scope";
      readonly optional: never;
      readonly lines: never;
      readonly settings: "first";
    }>();
  });
});
