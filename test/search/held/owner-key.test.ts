import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownerKey, ownerKeys, scopeOfKey, shortKey } from "../../../src/search/held/owner-key.js";
import { createSeenOwners } from "../../../src/search/held/seen-owners.js";

const odd = fc.constantFrom('","', "[", "]", "\\", '\\"', "\u0000", "null", " ", "é", "e\u0301", "😀", "a");
const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 4, unit: "binary" }),
  fc.array(odd, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
);
const scope = fc
  .record({ tenantId: id, userId: id, appId: id }, { requiredKeys: [] })
  .filter(({ userId, appId }) => userId !== undefined || appId !== undefined);
/** A scope that names one owner. */
const owner = scope.map(({ userId, appId, ...rest }) =>
  userId === undefined ? { ...rest, appId: appId as string } : { ...rest, userId },
);

describe("the key of an owner", () => {
  it("is that of no other, whatever characters ids are made of", () => {
    fc.assert(
      fc.property(owner, owner, (one, other) => {
        expect(scopeOfKey(ownerKey(one))).toEqual(one);
        const same =
          JSON.stringify(scopeOfKey(ownerKey(one))) === JSON.stringify(scopeOfKey(ownerKey(other)));
        expect(ownerKey(one) === ownerKey(other)).toBe(same);
      }),
      { numRuns: 1_000 },
    );
    expect(ownerKey({ userId: "ana" })).not.toBe(ownerKey({ appId: "ana" }));
    expect(ownerKey({ tenantId: "a", userId: "b" })).not.toBe(ownerKey({ userId: "b", appId: "a" }));
    expect(ownerKey({ userId: "é" })).not.toBe(ownerKey({ userId: "e\u0301" }));
  });

  it("is the user's in whatever app; a scope with both sees the user's and the app's", () => {
    fc.assert(
      fc.property(scope, ({ tenantId, userId, appId }) => {
        const tenant = tenantId === undefined ? {} : { tenantId };
        const keys = [
          ...(userId === undefined ? [] : [ownerKey({ ...tenant, userId })]),
          ...(appId === undefined ? [] : [ownerKey({ ...tenant, appId })]),
        ];
        const given = { ...tenant, ...(userId && { userId }), ...(appId && { appId }) };
        expect(ownerKeys(given)).toEqual(keys);
        expect(ownerKey(given)).toBe(keys[0]);
      }),
    );
  });

  it("is kept short where it is long, and stays one of its own", () => {
    const long = (last: string) => ownerKey({ userId: "x".repeat(1_000_000) + last });
    expect(shortKey(long("a"))).toHaveLength(64);
    expect(shortKey(long("a"))).not.toBe(shortKey(long("b")));
    expect(shortKey(ownerKey({ userId: "ana" }))).toBe(ownerKey({ userId: "ana" }));
  });
});

describe("the owners that were seen", () => {
  it("are bounded: many users fill nothing, and those seen last are known", () => {
    let now = 0;
    const seen = createSeenOwners(600_000, () => now);
    let most = 0;
    for (let user = 0; user < 300_000; user++) {
      seen.again(ownerKey({ userId: `user ${user}` }));
      most = Math.max(most, seen.size);
    }
    expect(most).toBe(10_000);
    expect([299_999, 295_001, 0].map((user) => seen.again(ownerKey({ userId: `user ${user}` })))).toEqual([
      ...[true, true, false],
    ]);
    for (let user = 0; user < 20_000; user++) seen.leaveAlone(`${user}`, 1_000);
    for (let user = 0; user < 20_000; user++) seen.note(`${user}`, now);
    expect(seen.size).toBeLessThanOrEqual(10_000);
    now = 999;
    expect(seen.again("19999")).toBe(true);
    seen.leaveAlone("19999", 1_001);
    expect(seen.again("19999")).toBe(false);
    now = 1_001;
    expect(seen.again("19999")).toBe(true);
  });
});
