import { subscribe, unsubscribe } from "node:diagnostics_channel";
import sql, { raw } from "sql-template-tag";
import { expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import {
  brokenConstraint,
  isConnectionError,
  toMemoryError,
} from "../../src/postgres/database-error.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

const refusedBy = (constraint: string) =>
  new MemoryError("DATABASE_ERROR", "", { cause: { constraint } });

it("brokenConstraint names a constraint without the shard's number that Citus appends", () => {
  expect(brokenConstraint(refusedBy("memory_slot"))).toBe("memory_slot");
  expect(brokenConstraint(refusedBy("memory_slot_103283"))).toBe("memory_slot");
  expect(brokenConstraint(new MemoryError("DATABASE_ERROR", ""))).toBeUndefined();
  expect(brokenConstraint(undefined)).toBeUndefined();
});

it.each(["EHOSTUNREACH", "ENETUNREACH", "ECONNREFUSED"])(
  "%s is an outage and no statement's fault",
  (code) => {
    const error = new AggregateError([Object.assign(new Error(), { code })]);
    expect(isConnectionError(error)).toBe(true);
  },
);

it("A certificate that Node does not trust is named with what to set", () => {
  const code = "SELF_SIGNED_CERT_IN_CHAIN";
  const cause = Object.assign(new Error("self-signed certificate in certificate chain"), { code });
  const { message } = toMemoryError(cause, "mnemograph");
  expect(message).toMatch(/self-signed certificate.*sslrootcert=FILE/);
});

it("A statement's own fault is no lost connection: it runs once and is reported as what it is", async () => {
  const asked: unknown[] = [];
  const note = (text: unknown) => asked.push(text);
  subscribe("mnemograph:statement", note);
  const wrong = sql`select ${1}::int, ${raw("$2")}::int as wrong`;
  const error: unknown = await db.database.query(wrong).catch((failed: unknown) => failed);
  unsubscribe("mnemograph:statement", note);
  expect(error).toMatchObject({ code: "DATABASE_ERROR", cause: { code: "08P01" } });
  expect(asked.filter((text) => String(text).includes("wrong"))).toHaveLength(1);
  // Poolers end a session with the same code.
  expect(isConnectionError(Object.assign(new Error(), { code: "08P01", severity: "FATAL" }))).toBe(
    true,
  );
});
