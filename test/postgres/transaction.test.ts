import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe("a transaction", () => {
  const owners = async () =>
    (
      await db.database.query(
        sql`select user_id from ${db.database.schema}.owner where user_id = 'gone'`,
      )
    ).length;
  const insert = () => sql`
    insert into ${db.database.schema}.owner (tenant_id, user_id, app_id) values ('', 'gone', '')`;

  it("A transaction undoes its statements and throws the error of its work unchanged", async () => {
    const mistake = new TypeError("not the database's");

    await expect(
      db.database.transaction(async (tx) => {
        await tx.query(insert());
        throw mistake;
      }),
    ).rejects.toBe(mistake);

    expect(await owners()).toBe(0);
  });

  it("A transaction throws what the database reported, to its work as well", async () => {
    let seen: unknown;

    const result = db.database.transaction(async (tx) => {
      await tx.query(insert());
      await tx.query(sql`select 1 / 0`).catch((error: unknown) => {
        seen = error;
        throw error;
      });
    });

    const message = expect.stringContaining("division by zero");
    await expect(result).rejects.toMatchObject({
      code: "DATABASE_ERROR",
      message,
      cause: { code: "22012" },
    });
    await expect(result).rejects.toBe(seen);
    expect(await owners()).toBe(0);
  });
});
