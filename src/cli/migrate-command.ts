import { setUpCheckpointer } from "../langgraph/checkpointer/owned-postgres-saver.js";
import { defaultLogger } from "../logger.js";
import { migrate } from "../postgres/migrate.js";
import { openDatabase } from "../postgres/open-database.js";
import { chooseDatabase, type DatabaseFlags } from "./database-flags.js";

/**
 * `mnemograph migrate`: what `memory.setup()` does.
 *
 * @throws MemoryError as `memory.setup()` does.
 */
export async function migrateCommand(
  flags: DatabaseFlags & { readonly vectors?: true; readonly isolation?: true },
): Promise<void> {
  const { option, place } = chooseDatabase(flags, process.env);
  const database = openDatabase(option, { schemaName: flags.schema }, defaultLogger);
  try {
    const applied = await migrate(database, {
      vectors: flags.vectors === true,
      isolation: flags.isolation === true,
      also: (client) => setUpCheckpointer(client, database.schemaName),
    });
    if (flags.json) console.log(JSON.stringify({ schema: flags.schema, applied }));
    else if (applied.length > 0)
      console.log(`Applied to "${flags.schema}" in ${place}: ${applied.join(", ")}`);
    else console.log(`"${flags.schema}" in ${place} is up to date.`);
  } finally {
    await database.close();
  }
}
