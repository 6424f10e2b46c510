import { expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { brokenConstraint } from "../../src/postgres/database-error.js";

const refusedBy = (constraint: string) => new MemoryError("DATABASE_ERROR", "", { cause: { constraint } });

it("names a broken constraint without the shard's number that Citus appends", () => {
  expect(brokenConstraint(refusedBy("memory_slot"))).toBe("memory_slot");
  expect(brokenConstraint(refusedBy("memory_slot_103283"))).toBe("memory_slot");
  expect(brokenConstraint(new MemoryError("DATABASE_ERROR", ""))).toBeUndefined();
  expect(brokenConstraint(undefined)).toBeUndefined();
});
