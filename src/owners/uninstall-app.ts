import sql from "sql-template-tag";
import { z } from "zod";
import { endAppThreads, skipAppNotes } from "../conversation/end-app-threads.js";
import { eraseAppMemories, type Purged } from "../forgetting/erase-app-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { type AppScope, parseAppScope, type ThreadRef } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { parseInput, storableText } from "../text/parse-input.js";

/** What becomes of what an app leaves behind, and who says so. */
export interface UninstallApp {
  /**
   * Whether the memories that are the app's own go for good, and its items of LangGraph's store; kept, they are there
   * when it is installed again.
   *
   * @default false
   */
  readonly purgeMemories?: boolean | undefined;
  /** @default "api" */
  readonly actor?: string | undefined;
  /** Why, for the audit trail. */
  readonly reason?: string | undefined;
}

/** What came of it. Without `purgeMemories` nothing is deleted. */
export interface Uninstalled extends Purged {
  /** Conversations that went on until then. */
  readonly endedThreads: number;
  /** Items of LangGraph's store that were deleted. */
  readonly deletedItems: number;
}

const uninstallSchema = z.strictObject({
  purgeMemories: z.boolean().default(false),
  actor: storableText.default("api"),
  reason: storableText.max(2_000).optional(),
});

/** What uninstalling takes. */
export interface UninstallRuntime {
  readonly db: Database;
  /** Begins the note of a conversation that ended; null where conversations leave none. */
  readonly startNote: ((threadRef: ThreadRef) => Promise<void>) | null;
}

/** Notes begun at once; more are for upkeep, which takes them in turns. */
const startedNotes = 100;

/**
 * Takes an app out of use: see `AppsApi`. What is done stays done when it is interrupted; another call does the rest.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
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
    for (const threadRef of due.slice(0, startedNotes)) await startNote?.(threadRef);
    return { endedThreads, deletedCount: 0, hiddenCount: 0, deletedItems: 0 };
  }
  // Before anything is deleted: a note that is being written would come after it.
  await skipAppNotes(db.patient, scope);
  const erased = await eraseAppMemories(db.patient, { ...who, scope, dryRun: false });
  return { endedThreads, ...erased, deletedItems: await eraseAppItems(db.patient, scope) };
}

/** Items deleted in one statement, so that no lock lasts long. */
const itemsAtOnce = 1_000;

/** Deletes the items of the app's own store, with their vectors, and returns how many there were. */
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
