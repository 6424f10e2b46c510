import { resolveConfig } from "../options.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants } from "../postgres/isolation.js";
import { migrationStatus } from "../postgres/migration-status.js";
import { type Check, checked } from "./check.js";
import { checkSizes, checkStored, checkVectors, checkWaiting, checkWork } from "./check-contents.js";
import {
  checkCheckpointer,
  checkIsolation,
  checkPgvector,
  checkQueues,
  checkRole,
  checkSets,
  checkTables,
  readSchemaFacts,
} from "./check-schema.js";
import { checkPooler, checkServer, checkSettings, checkVersions } from "./check-server.js";
import type { DatabaseFlags } from "./flags.js";
import { chooseDatabase, existingDatabase, isolationOf, onDatabase } from "./open-memory.js";

export interface DoctorFlags extends DatabaseFlags {
  readonly config?: string;
  readonly vectors?: true;
  readonly isolation?: true;
  readonly queueSchema: string;
}

/** Changes nothing. @throws MemoryError `INVALID_INPUT` */
export async function diagnose(flags: DoctorFlags): Promise<{ place: string; checks: Check[] }> {
  const { place } = chooseDatabase(flags);
  const { schema: schemaName } = flags;
  const checks = await checked("database", schemaName, async () => {
    const { option } = existingDatabase(flags);
    const isolation = await isolationOf(option, schemaName);
    return onDatabase(option, { schemaName, ...isolation }, (db) => acrossTenants(() => checkAll(db, place, flags)));
  });
  return { place, checks };
}

/** Statements see all tenants, where the role may. */
export async function checkAll(db: Database, place: string, flags: DoctorFlags): Promise<Check[]> {
  const { config, vectors = false, isolation = false, queueSchema } = flags;
  const { prepare } = resolveConfig(config).database;
  const facts = await readSchemaFacts(db);
  const checks = await checkServer(db, place);
  const add = async (check: string, make: () => Promise<Check | Check[]>) => {
    checks.push(...(await checked(check, db.schemaName, make)));
  };
  if (!db.isEmbedded) {
    await add("pooler", () => checkPooler(db, prepare));
    await add("settings", () => checkSettings(db));
    await add("processes", () => checkVersions(db));
  }
  checks.push(checkRole(db, facts));
  let status: Awaited<ReturnType<typeof migrationStatus>> | undefined;
  await add("core", async () => {
    status = await migrationStatus(db, { vectors, isolation });
    return checkSets(db, status, facts);
  });
  const has = (set: string) => status?.sets.some((each) => each.set === set && each.version !== null) ?? false;
  await add("pgvector", () => checkPgvector(db, vectors || has("vector")));
  if (has("isolation")) await add("tenants", () => checkIsolation(db, facts));
  if (!has("core")) return checks;
  await add("checkpointer", () => checkCheckpointer(db));
  await add("queues", () => checkQueues(db, queueSchema));
  checks.push(...checkTables(db, facts));
  if (status?.sets.some(({ pending }) => pending.length > 0)) return checks;
  await add("stored", () => checkStored(db));
  await add("size", () => checkSizes(db));
  if (has("vector")) await add("vectors", () => checkVectors(db));
  await add("work", () => checkWork(db));
  await add("waiting", () => checkWaiting(db));
  return checks;
}
