import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellOf, cellSchema } from "../../src/cells/cell-place.rule.js";
import type { Scope } from "../../src/scope/scope.js";

const id = fc.string({ minLength: 1, unit: "grapheme" });
const cells = fc.integer({ min: 1, max: 1_000 });

describe("the cell of a scope", () => {
  it("is the same as ever", () => {
    const of = (scope: Scope) => cellOf(scope, 16);
    expect([
      of({ tenantId: "acme", userId: "ana" }),
      of({ tenantId: "globex", appId: "shop" }),
      of({ userId: "ana" }),
      of({ userId: "bob" }),
      of({ appId: "shop" }),
    ]).toMatchInlineSnapshot(`
      [
        1,
        5,
        12,
        13,
        9,
      ]
    `);
  });

  it("is one of the cells, and the first of the only one", () => {
    fc.assert(
      fc.property(id, cells, (userId, count) => {
        const cell = cellOf({ userId }, count);
        expect(Number.isInteger(cell) && cell >= 0 && cell < count).toBe(true);
        expect(cellOf({ userId }, 1)).toBe(0);
      }),
    );
  });

  it("is a tenant's with all of its users and apps, and a user's in all apps", () => {
    fc.assert(
      fc.property(id, id, id, cells, (tenantId, userId, appId, count) => {
        const tenant = cellOf({ tenantId }, count);
        for (const scope of [{ userId }, { appId }, { userId, appId }]) {
          expect(cellOf({ tenantId, ...scope }, count)).toBe(tenant);
        }
        expect(cellOf({ userId, appId }, count)).toBe(cellOf({ userId }, count));
      }),
    );
  });

  it.each([2, 16, 100])("spreads over %i cells evenly: none has twice its share, nor half of it", (count) => {
    for (const scopeOf of [
      (n: number): Scope => ({ userId: `user-${n}` }),
      (n: number): Scope => ({ tenantId: String(n), userId: "ana" }),
    ]) {
      const each = new Array<number>(count).fill(0);
      const share = 300;
      for (let n = 0; n < share * count; n++) {
        const cell = cellOf(scopeOf(n), count);
        each[cell] = (each[cell] ?? 0) + 1;
      }
      expect(Math.max(...each)).toBeLessThan(2 * share);
      expect(Math.min(...each)).toBeGreaterThan(share / 2);
    }
  });
});

describe("the schema of a cell", () => {
  it("is the memory's where there is one, and has the cell's number where there are more", () => {
    expect(cellSchema("memory", 0, 1)).toBe("memory");
    expect(cellSchema("memory", 0, 16)).toBe("memory_c000");
    expect(cellSchema("memory", 999, 1_000)).toBe("memory_c999");
  });
});
