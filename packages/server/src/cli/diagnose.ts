import {
  acrossTenants,
  type Database,
  type MigrationStatus,
  migrateCommandLine,
  migrationStatus,
  resolveConfig,
  setUpCheckpointer,
  shippedSchema,
} from "mnemograph/contract";
import type { ClientBase } from "pg";
import sql, { raw } from "sql-template-tag";
import { bad, type Check, checked, ok, warn } from "./check.js";
import * as database from "./check-database.js";
import { askProviders, loadProviders } from "./check-providers.js";
import { checkThreads, checkVectors, checkWork } from "./check-work.js";
import type { MemoryFlags } from "./flags.js";
import { chooseDatabase, existingDatabase, isolationOf, onDatabase } from "./open-memory.js";

export interface DoctorFlags extends MemoryFlags {
  readonly vectors?: true;
  readonly ask?: true;
}

/** Changes nothing. @throws MemoryError `INVALID_INPUT` */
export async function diagnose(flags: DoctorFlags): Promise<{ place: string; checks: Check[] }> {
  const { place } = chooseDatabase(flags);
  const providers = await loadProviders(flags);
  const { schema: schemaName } = flags;
  const checks = await checked("database", schemaName, async () => {
    const { option } = existingDatabase(flags);
    const isolation = await isolationOf(option, schemaName);
    return onDatabase(option, { schemaName, ...isolation }, (db) =>
      acrossTenants(() => checkAll(db, place, flags)),
    );
  });
  return { place, checks: [...checks, ...(await askProviders(providers))] };
}

export async function checkAll(
  db: Database,
  place: string,
  flags: DoctorFlags,
  shipped = shippedSchema(),
): Promise<Check[]> {
  const { vectors = false } = flags;
  const facts = await database.readDatabaseFacts(db);
  const checks = [database.checkServer(db, place, facts)];
  if (!facts.isSupported) return checks;
  const add = async (check: string, make: () => Promise<Check | Check[]>) => {
    checks.push(...(await checked(check, db.schemaName, make)));
  };

  // Whether statements arrive, and may read and write.
  const config = resolveConfig(flags.config);
  const { prepare } = config.database;
  if (!db.isEmbedded) await add("pooler", () => checkPooler(db, prepare));
  checks.push(database.checkRole(db, facts));

  // Whether the tables are what this package expects.
  let sets: MigrationStatus["sets"] = [];
  await add("core", async () => {
    const status = await migrationStatus(db, { vectors, shipped });
    sets = status.sets.filter(({ version }) => version !== null);
    return database.checkSets(db, status, facts);
  });
  const has = (name: string) => sets.some(({ set }) => set === name);
  await add("pgvector", async () => {
    // Loads the library, which may have been uninstalled.
    const { vectorSchema } = facts;
    if (vectorSchema !== null) await db.query(sql`select '[1]'::${raw(vectorSchema)}.vector`);
    return database.checkPgvector(facts, vectors || has("vector"));
  });
  if (!has("core")) return checks;
  if (has("isolation")) checks.push(database.checkTenants(facts));
  await add("checkpointer", () => checkCheckpointer(db));
  if (sets.some(({ pending }) => pending.length > 0)) return checks;

  // Whether background work is done.
  if (has("vector")) await add("vectors", () => checkVectors(db));
  await add("work", () => checkWork(db));
  await add("threads", () => checkThreads(db, config));
  return checks;
}

/** Finds which session runs each statement: a pooler gives its clients process ids of its own. */
async function checkPooler(db: Database, prepare: boolean): Promise<Check> {
  const ask = {
    name: "mnemograph_doctor",
    text: "select pg_backend_pid() as pid",
    query_timeout: 2_000,
  };
  return db.withClient((client) =>
    db.withClient(async (other) => {
      const { pid } = (await client.query(ask)).rows[0];
      if (pid === (client as ClientBase & { processID?: number }).processID)
        return ok("pooler", "None is in between.");
      // In transaction mode `other` gets the session where it was prepared.
      await other.query("begin");
      const loses = (await client.query(ask).catch(() => null)) === null;
      await other.query("rollback");
      const says = `One is in between, which ${loses ? "loses" : "keeps"} prepared statements.`;
      if (!loses || !prepare) return ok("pooler", says);
      return warn(
        "pooler",
        says,
        "Set database.prepare: false in every process (--config FILE shows it to doctor).",
      );
    }),
  );
}

async function checkCheckpointer(db: Database): Promise<Check> {
  let isPending = false;
  await db.withClient((client) => {
    const query = async (text: string, values?: unknown[]) => {
      if (/^select/i.test(text)) return client.query(text, values);
      isPending ||= /^(create|alter|insert)/i.test(text.trim());
      return { rows: [] };
    };
    return setUpCheckpointer({ query } as unknown as ClientBase, db.schemaName);
  });
  if (!isPending) return ok("checkpointer", "LangGraph's tables are up to date.");
  return bad(
    "checkpointer",
    "LangGraph's tables lack migrations.",
    `Run \`${migrateCommandLine(db)}\`.`,
  );
}
