import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { pageRowsField, parseInput, revisionNumber, storableText } from "../input/parse-input.js";
import { removeMemory } from "../memories/edit/change-memory.js";
import { requireMemory } from "../memories/edit/edit-memory.js";
import { categoryOfKind, readableCategories } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import {
  countMemories,
  isActive,
  listMemories,
  memoryJson,
  readMemories,
} from "../memories/item/memory-row.js";
import type { WriteConfig, WriteRuntime } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import { eraseAppMemories, type Purged } from "../retention/forgetting/erase-app-memories.js";
import { type AppScope, appScopeField } from "../scope/scope.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { noteBlock } from "./note-block.rule.js";
import { appNotes, type NotesOptions } from "./notes-options.js";

const ofSchema = z.strictObject({
  /** An app without a user: notes belong to all its users. */
  scope: appScopeField,
});

const listSchema = ofSchema.extend({
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
  /** The id of the last note of the previous page. */
  after: z.string().optional(),
});

const changeSchema = ofSchema.extend({
  /** @default "api" */
  actor: storableText.default("api"),
  /** Why, for the audit trail. */
  reason: storableText.max(2_000).optional(),
});

const removeSchema = changeSchema.extend({
  id: z.string(),
  /** As for `memories.remove`. @default any */
  ifRevision: revisionNumber.optional(),
});

const purgeSchema = changeSchema.extend({
  /** Only counts what would be deleted. @default false */
  dryRun: z.boolean().default(false),
});

const contextSchema = ofSchema.extend({
  /** Empty for an agent that may not read the notes' category. @default no restriction */
  agent: z.string().optional(),
});

interface NotesOf extends z.input<typeof ofSchema> {}
interface ListNotes extends z.input<typeof listSchema> {}
interface RemoveNote extends z.input<typeof removeSchema> {}
interface PurgeNotes extends z.input<typeof purgeSchema> {}
export interface NotesContext extends z.input<typeof contextSchema> {}

/**
 * An app's memory of ended conversations: a note each, at most `notes.limit`, separate for each app
 * and tenant. Notes are memories of the kind "note": `memory.memories`, `memory.query({ kinds:
 * ["note"] })` and `memory.export` include them.
 */
export interface NotesApi {
  /**
   * Lists active notes, newest first.
   * @example
   * ```ts
   * const notes = await memory.notes.list({ scope: { appId: "shop" }, limit: 10 });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(page: ListNotes): Promise<MemoryItem[]>;
  /**
   * Counts active notes.
   * @example
   * ```ts
   * console.log(await memory.notes.count({ scope: { appId: "shop" } }), "notes");
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  count(of: NotesOf): Promise<number>;
  /**
   * Hides one note; until its purge `memories.restore` restores it.
   * @example
   * ```ts
   * const [oldest] = await memory.notes.list({ scope: { appId: "shop" } });
   * if (oldest)
   *   await memory.notes.remove({ scope: { appId: "shop" }, id: oldest.id, actor: "admin" });
   * ```
   * @throws MemoryError `NOT_FOUND`, also for another app's; `STALE_REVISION`, `WRONG_STATE` for an
   * inactive note
   */
  remove(input: RemoveNote): Promise<MemoryItem>;
  /**
   * Deletes all notes of an app permanently, also removed and merged ones, with their audit trail;
   * an entry without texts records who did it. Keeps its conversations.
   * @example
   * ```ts
   * const { deletedCount } = await memory.notes.purge({ scope: { appId: "shop" }, dryRun: true });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  purge(what: PurgeNotes): Promise<Purged>;
  /**
   * Formats the notes of an app like `memory.recall`: an operator's first, then the latest; null
   * without notes.
   * @example
   * ```ts
   * const block = await memory.notes.context({ scope: { appId: "shop" } });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  context(of: NotesContext): Promise<string | null>;
}

export interface NotesApiRuntime extends WriteRuntime {
  readonly config: WriteConfig & { readonly notes: NotesOptions };
}

export function createNotesApi(deps: NotesApiRuntime): NotesApi {
  const { db } = deps;
  return {
    list: async (page) =>
      listMemories(db, { ...parseInput(listSchema, page, "page of notes"), kinds: ["note"] }),
    count: async (of) =>
      countMemories(db, { ...parseInput(ofSchema, of, "count of notes"), kinds: ["note"] }),
    async remove(input) {
      const change = parseInput(removeSchema, input, "removal of a note");
      const { kind } = await requireMemory(db, change);
      if (kind !== "note")
        throw new MemoryError("NOT_FOUND", `There is no note ${change.id} of this app.`);
      return removeMemory(deps, change);
    },
    purge: async (what) => {
      const only = { kind: "note", category: categoryOfKind.note } as const;
      const purge = parseInput(purgeSchema, what, "purge of notes");
      return eraseAppMemories(db.patient, { ...purge, only });
    },
    context: async (of) => notesContext(deps, parseInput(contextSchema, of, "context")),
  };
}

async function notesContext(
  { db, config, logger }: NotesApiRuntime,
  { scope, agent }: z.output<typeof contextSchema>,
) {
  const { name, limit } = appNotes(config.notes, scope.appId);
  const categories = [...readableCategories(config.policy, agent ?? null)];
  const notes = await findShownNotes(db, { scope, categories, limit });
  const fields = { step: "recall", appId: scope.appId, notes: notes.length };
  logger.info(`🧠 Retrieved ${notes.length} memories for app ${scope.appId}`, fields);
  return noteBlock(notes, name, config.retrieval.timeZone);
}

async function findShownNotes(
  db: Connection,
  { scope, categories, limit }: { scope: AppScope; categories: readonly string[]; limit: number },
): Promise<MemoryItem[]> {
  return readMemories(
    db,
    sql`
    select ${memoryJson(db)} as memory
    from (${seenOwners(db, scope)}) o cross join lateral (
      select * from ${db.schema}.memory m
      where m.owner_ref = o.id and m.kind = 'note' and ${isActive(db)}
        and m.category = any (${categories}::text[])
      order by m.trust = 'operator' desc, m.updated_at desc, m.ref limit ${limit}
    ) m
    order by m.trust = 'operator' desc, m.updated_at desc, m.ref`,
    { prepare: true },
  );
}
