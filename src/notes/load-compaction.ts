import sql from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import { isActive, memoryJson, readMemories } from "../memories/item/memory-row.js";
import { insertEvent } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import type { OwnerWork } from "../work/work-definition.js";
import { type Claim, findOwnerWork, type NoWork, skipWork } from "../work/work-table.js";
import { stays } from "./compaction-decision.rule.js";
import type { NotesRuntime } from "./load-note.js";
import { type AppNotes, appNotes } from "./notes-options.js";

export interface CompactionWork extends OwnerWork {
  readonly scope: Scope & { readonly appId: string };
  readonly app: AppNotes;
  /** Oldest first; at least one is removable. */
  readonly notes: readonly MemoryItem[];
}

/** Loads the work of `claim`, or skips it: the notes are within the limit, or none is removable. */
export async function loadCompaction(
  deps: NotesRuntime,
  claim: Claim,
): Promise<CompactionWork | NoWork> {
  const { db, config } = deps;
  const found = await findOwnerWork(db, claim);
  if (!found) return "lost";
  const { scope, doneUntil } = found;
  const { appId } = scope;
  if (appId === undefined) return skipWork(db, claim, { doneUntil }, "no_app");
  const work = { scope: { ...scope, appId }, doneUntil, app: appNotes(config.notes, appId) };
  const notes = await findNotes(db, claim.ref);
  if (notes.length <= work.app.limit) return skipWork(db, claim, { doneUntil }, "within_limit");
  if (notes.every(stays)) {
    const { limit } = work.app;
    const problem = `All ${notes.length} memories of app ${appId} are pinned or an operator's: none goes, though it may keep ${limit}.`;
    deps.logger.warn(problem, { appId, step: "compaction" });
    await insertEvent(db, {
      scope,
      step: "compaction",
      op: "delete",
      status: "skipped",
      detail: "all_pinned",
    });
    return skipWork(db, claim, { doneUntil }, "all_pinned");
  }
  return { ...work, notes };
}

/** Oldest first. */
export async function findNotes(db: Connection, ownerRef: OwnerRef): Promise<MemoryItem[]> {
  return readMemories(
    db,
    sql`
    select ${memoryJson(db)} as memory from ${db.schema}.memory m
    where m.owner_ref = ${ownerRef} and m.kind = 'note' and ${isActive(db)}
    order by m.created_at, m.ref`,
  );
}
