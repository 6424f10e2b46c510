import { existsSync } from "node:fs";
import { join } from "node:path";
import { MemoryError } from "../errors.js";
import { type ChosenDatabase, chooseDatabase, type DatabaseFlags } from "./database-flags.js";

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
