import sql from "sql-template-tag";
import { z } from "zod";
import { parseInput, storableText } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import { type AppScope, appScopeField, type Scope, type ThreadRef } from "../../scope/scope.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { endAppThreads, skipAppNotes } from "../../transcript/end-thread.js";
import { eraseAppMemories, type Purged } from "../forgetting/erase-app-memories.js";

/** Without `purgeMemories` nothing is deleted. */
export interface Uninstalled extends Purged {
  /** Conversations that the call ended. */
  readonly endedThreads: number;
  readonly deletedItems: number;
}

const uninstallSchema = z.strictObject({
  scope: appScopeField,
  /** Whether the app's own memories and store items are deleted for good. @default false */
  purgeMemories: z.boolean().default(false),
  /** @default "api" */
  actor: storableText.default("api"),
  /** Why, for the audit trail. */
  reason: storableText.max(2_000).optional(),
});

export interface UninstallApp extends z.input<typeof uninstallSchema> {}

interface UninstallRuntime {
  readonly db: Database;
  /** Starts the note of an ended conversation; null when notes are off. */
  readonly startNote: ((threadRef: ThreadRef, scope: Scope) => Promise<void>) | null;
}

/** Notes that the call starts; maintenance writes the others. */
const startedNotes = 100;

/** See `AppsApi.uninstall`. Safe to repeat after an interruption. */
export async function uninstallApp(
  { db, startNote }: UninstallRuntime,
  input: UninstallApp,
): Promise<Uninstalled> {
  const { purgeMemories, ...who } = parseInput(uninstallSchema, input, "uninstalling");
  const { scope } = who;
  const leaveNotes = startNote !== null && !purgeMemories;
  const { count: endedThreads, due } = await endAppThreads(db.patient, { scope, leaveNotes });
  if (!purgeMemories) {
    for (const threadRef of due.slice(0, startedNotes)) await startNote?.(threadRef, scope);
    return { endedThreads, deletedCount: 0, hiddenCount: 0, deletedItems: 0 };
  }
  // Before the deletion: a note in progress would be saved after it.
  await skipAppNotes(db.patient, scope);
  const erased = await eraseAppMemories(db.patient, { ...who, dryRun: false });
  return { endedThreads, ...erased, deletedItems: await eraseAppItems(db.patient, scope) };
}

/** Items per statement: bounds how long it holds locks. */
const itemsPerDelete = 1_000;

async function eraseAppItems(db: Connection, scope: AppScope): Promise<number> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  for (let erased = 0; ; ) {
    const rows = await db.query(sql`
      delete from ${db.schema}.store_item d
      where d.ref = any (array(
        select i.ref from ${db.schema}.store_item i
        where i.tenant_id = ${tenantId} and i.user_id = ${userId} and i.app_id = ${appId}
        limit ${itemsPerDelete}
      ))
      returning 1`);
    erased += rows.length;
    if (rows.length < itemsPerDelete) return erased;
  }
}
