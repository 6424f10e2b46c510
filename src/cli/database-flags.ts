import { resolve } from "node:path";
import { type DatabaseOption, defaultDataDir } from "../database/open-database.js";
import { MemoryError } from "../errors.js";

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
