import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { MemoryError } from "../errors.js";
import { defaultLogger } from "../logger.js";
import { toMemoryError } from "../postgres/database-error.js";
import { findIsolation } from "../postgres/isolation.js";
import { type DatabaseOption, defaultDataDir, openDatabase } from "../postgres/open-database.js";

/**
 * The database that flags and environment name, for commands that only use one: opening an embedded database that
 * is not there would make it.
 *
 * @throws MemoryError `SETUP_REQUIRED`, and `INVALID_INPUT` as `chooseDatabase` does.
 */
export function existingDatabase(flags: DatabaseFlags, env: NodeJS.ProcessEnv): ChosenDatabase {
  const chosen = chooseDatabase(flags, env);
  const { option } = chosen;
  if (typeof option !== "object" || !("dataDir" in option)) return chosen;
  if (existsSync(join(option.dataDir, "PG_VERSION"))) return chosen;
  throw new MemoryError(
    "SETUP_REQUIRED",
    `There is no database in ${option.dataDir}. Run \`mnemograph migrate\`.`,
  );
}

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

/** Flags that every command understands. */
export interface DatabaseFlags {
  readonly database?: string;
  readonly dataDir?: string;
  readonly schema: string;
  readonly json?: true;
}

/** The database that flags and environment name. */
export interface ChosenDatabase {
  readonly option: DatabaseOption;
  /** Where it is, for people: without user and password. */
  readonly place: string;
}

/**
 * A flag comes before `DATABASE_URL`, which comes before the embedded database in `.mnemograph`.
 *
 * @throws MemoryError `INVALID_INPUT` when both flags are given.
 */
export function chooseDatabase(flags: DatabaseFlags, env: NodeJS.ProcessEnv): ChosenDatabase {
  if (flags.database !== undefined && flags.dataDir !== undefined) {
    throw new MemoryError("INVALID_INPUT", "--database and --data-dir name two databases: give one of them.");
  }
  const url = flags.dataDir === undefined ? flags.database || env.DATABASE_URL : undefined;
  if (url) return { option: url, place: serverPlace(url) };
  const dataDir = resolve(flags.dataDir ?? defaultDataDir);
  return { option: { dataDir }, place: dataDir };
}

function serverPlace(url: string): string {
  if (!URL.canParse(url)) return "PostgreSQL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL ${host}${pathname}`;
}
