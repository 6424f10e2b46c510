import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseScope } from "../../src/scope/scope.js";
import { forAll } from "../support/for-all.js";

const storable = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .filter((id) => id.trim() !== "" && !id.includes("\u0000"));

describe("parseScope", () => {
  it("parseScope accepts a user, an app or both, in a tenant or in none, with any characters", () => {
    forAll(
      fc.record(
        { tenantId: storable, userId: storable, appId: storable },
        { requiredKeys: ["userId"] },
      ),
      (scope) => {
        expect(parseScope(scope)).toEqual(scope);
      },
    );
    expect(parseScope({ appId: "notes" })).toEqual({ appId: "notes" });
  });

  it("parseScope refuses an id without a value, which would widen the scope", () => {
    const ids = fc.record({ tenantId: storable, userId: storable, appId: storable });
    const missing = fc.constantFrom("tenantId", "userId", "appId");
    forAll(ids, missing, fc.constantFrom(null, undefined), (scope, name, value) => {
      expect(() => parseScope({ ...scope, [name]: value })).toThrow(
        expect.objectContaining({
          code: "SCOPE_REQUIRED",
          message: expect.stringContaining(`${name} is given without a value`),
        }),
      );
    });
  });

  it.each<[unknown, RegExp]>([
    [undefined, /needs a userId or an appId/],
    [null, /needs a userId or an appId/],
    [{}, /needs a userId or an appId/],
    [{ tenantId: "t" }, /needs a userId or an appId/],
    [{ userId: "" }, /userId must not be blank/],
    [{ userId: " \n " }, /userId must not be blank/],
    [{ userId: "ana", tenantId: "" }, /tenantId must not be blank/],
    [{ userId: 7 }, /userId must be a string/],
    [{ appId: null }, /appId is given without a value/],
    [{ userId: "a\u0000b" }, /userId must not contain NUL/],
    [{ userId: "a\uD800" }, /halves of surrogate pairs/],
    [{ userId: "ana", user: "ben" }, /user/],
    ["ana", /Invalid scope/],
    [["ana"], /Invalid scope/],
  ])("parseScope refuses %j", (input, message) => {
    expect(() => parseScope(input)).toThrow(expect.objectContaining({ code: "SCOPE_REQUIRED" }));
    expect(() => parseScope(input)).toThrow(message);
  });
});
