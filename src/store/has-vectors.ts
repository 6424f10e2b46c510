import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** Whether memories have vectors here, made by whatever process: then whoever hides one must hide its vectors. */
export async function hasVectors(db: Connection): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(
    sql`select to_regclass(${`${db.schema.text}.memory_embedding`}) is not null as found`,
  );
  return row?.found ?? false;
}
