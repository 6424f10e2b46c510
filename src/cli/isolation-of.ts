import { toMemoryError } from "../database/database-error.js";
import { findIsolation } from "../database/isolation.js";
import { type DatabaseOption, openDatabase } from "../database/open-database.js";
import { defaultLogger } from "../logger.js";

/**
 * How to open a database, by what it is: with isolation where its tenants are isolated from the role that connects.
 *
 * @throws MemoryError `DATABASE_UNAVAILABLE`
 */
export async function isolationOf(
  option: DatabaseOption,
  schemaName: string,
): Promise<{ isolation?: "rls" }> {
  // The embedded database has superusers only.
  if (typeof option !== "string") return {};
  const database = openDatabase(option, { schemaName }, defaultLogger);
  try {
    const { enforced, exempt } = await database.withClient((client) => findIsolation(client, schemaName));
    return enforced && !exempt ? { isolation: "rls" } : {};
  } catch (error) {
    throw toMemoryError(error, schemaName);
  } finally {
    await database.close();
  }
}
