import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

it("prepared statements work again after any statement failed", async () => {
  const prepared = () => db.database.query<{ n: number }>(sql`select ${7}::int as n`, { prepare: true });
  expect(await prepared()).toEqual([{ n: 7 }]);
  await expect(db.database.query(sql`select no_such_column`)).rejects.toThrow();
  expect(await prepared()).toEqual([{ n: 7 }]);
  expect(await prepared()).toEqual([{ n: 7 }]);
});
