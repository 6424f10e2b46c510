import sql from "sql-template-tag";
import { z } from "zod";
import { endAppThreads, skipAppNotes } from "../conversation/end-app-threads.js";
import { eraseAppMemories, type Purged } from "../forgetting/erase-app-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { type AppScope, parseAppScope, type Scope, type ThreadRef } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { parseInput, storableText } from "../text/parse-input.js";

/** Without `purgeMemories` nothing is deleted. */
export interface Uninstalled extends Purged {
  /** Conversations that were open until then. */
  readonly endedThreads: number;
  readonly deletedItems: number;
}

const uninstallSchema = z.strictObject({
  /** Whether the app's own memories and store items are deleted for good. @default false */
  purgeMemories: z.boolean().default(false),
  /** @default "api" */
  actor: storableText.default("api"),
  /** Why, for the audit trail. */
  reason: storableText.max(2_000).optional(),
});

export interface UninstallApp extends z.input<typeof uninstallSchema> {}

export interface UninstallRuntime {
  readonly db: Database;
  /** Starts the note of an ended conversation; null where conversations leave none. */
  readonly startNote: ((threadRef: ThreadRef, scope: Scope) => Promise<void>) | null;
}

/** Notes started at once. Maintenance does the others. */
const startedNotes = 100;

/** See `AppsApi`. After an interruption another call does the rest. @throws as `AppsApi.uninstall` */
export async function uninstallApp(
  { db, startNote }: UninstallRuntime,
  app: AppScope,
  options: UninstallApp = {},
): Promise<Uninstalled> {
  const { purgeMemories, ...who } = parseInput(uninstallSchema, options, "uninstalling");
  const scope = parseAppScope(app);
  const leaveNotes = startNote !== null && !purgeMemories;
  const { count: endedThreads, due } = await endAppThreads(db.patient, { scope, leaveNotes });
  if (!purgeMemories) {
    for (const threadRef of due.slice(0, startedNotes)) await startNote?.(threadRef, scope);
    return { endedThreads, deletedCount: 0, hiddenCount: 0, deletedItems: 0 };
  }
  // Before anything is deleted: a note in progress would be saved after it.
  await skipAppNotes(db.patient, scope);
  const erased = await eraseAppMemories(db.patient, { ...who, scope, dryRun: false });
  return { endedThreads, ...erased, deletedItems: await eraseAppItems(db.patient, scope) };
}

/** So that no lock lasts long. */
const itemsAtOnce = 1_000;

async function eraseAppItems(db: Connection, scope: AppScope): Promise<number> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  for (let erased = 0; ; ) {
    const rows = await db.query(sql`
      delete from ${db.schema}.store_item d
      where d.ref = any (array(
        select i.ref from ${db.schema}.store_item i
        where i.tenant_id = ${tenantId} and i.user_id = ${userId} and i.app_id = ${appId}
        limit ${itemsAtOnce}
      ))
      returning 1`);
    erased += rows.length;
    if (rows.length < itemsAtOnce) return erased;
  }
}
