import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { eraseAppMemories, type Purged } from "../forgetting/erase-app-memories.js";
import { removeMemory } from "../memories/edit/change-memory.js";
import { requireMemory } from "../memories/edit/edit-memory.js";
import { categoryOfKind, readableCategories } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { isActive, listMemories, memoryJson, readMemories } from "../memories/item/memory-row.js";
import type { WriteConfig, WriteRuntime } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import { type AppScope, parseAppScope, scopeField } from "../scope/scope.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { pageRowsField, parseInput, revisionNumber, storableText } from "../text/parse-input.js";
import { noteBlock } from "./note-block.rule.js";
import { appNotes, type NotesOptions } from "./notes-options.js";

interface NotesOf {
  /** An app without a user: notes belong to all its users. */
  readonly scope: AppScope;
}

interface ListNotes extends NotesOf {
  /** Rows, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  /** The id of the last note of the previous page. */
  readonly after?: string | undefined;
}

interface Who extends NotesOf {
  /** @default "api" */
  readonly actor?: string | undefined;
  /** Why, for the audit trail. */
  readonly reason?: string | undefined;
}

interface RemoveNote extends Who {
  readonly id: string;
  /** As for `memories.remove`. @default any */
  readonly ifRevision?: number | undefined;
}

interface PurgeNotes extends Who {
  /** Only counts what would be deleted. @default false */
  readonly dryRun?: boolean | undefined;
}

export interface NotesContext extends NotesOf {
  /** Empty for an agent that may not read the notes' category. @default no restriction */
  readonly agent?: string | undefined;
}

/**
 * An app's memory of ended conversations: a note each, at most `notes.limit`, separate for each app
 * and tenant. Notes are memories of the kind "note": `memory.memories`, `memory.query({ kinds:
 * ["note"] })` and `memory.export` include them.
 */
export interface NotesApi {
  /** Lists active notes, newest first. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  list(page: ListNotes): Promise<MemoryItem[]>;
  /** Counts active notes. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  count(of: NotesOf): Promise<number>;
  /**
   * Hides one note; until its purge `memories.restore` restores it.
   * @throws MemoryError `NOT_FOUND`, also for another app's; `STALE_REVISION`, `WRONG_STATE` for an
   * inactive note
   */
  remove(input: RemoveNote): Promise<MemoryItem>;
  /**
   * Deletes all notes of an app permanently, also removed and merged ones, with their audit trail;
   * an entry without texts records who did it. Keeps its conversations.
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  purge(what: PurgeNotes): Promise<Purged>;
  /**
   * Formats the notes of an app like `memory.recall`: an operator's first, then the latest; null
   * without notes.
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  context(of: NotesContext): Promise<string | null>;
}

export interface NotesApiRuntime extends WriteRuntime {
  readonly config: WriteConfig & { readonly notes: NotesOptions };
}

const ofSchema = z.strictObject({ scope: scopeField });
const listSchema = ofSchema.extend({ limit: pageRowsField, after: z.string().optional() });
const contextSchema = ofSchema.extend({ agent: z.string().optional() });
const who = { actor: storableText.default("api"), reason: storableText.max(2_000).optional() };
const removeSchema = ofSchema.extend({
  ...who,
  id: z.string(),
  ifRevision: revisionNumber.optional(),
});
const purgeSchema = ofSchema.extend({ ...who, dryRun: z.boolean().default(false) });

export function createNotesApi(deps: NotesApiRuntime): NotesApi {
  const { db } = deps;
  return {
    list: async (page) =>
      listMemories(db, { ...parseOfApp(listSchema, page, "page of notes"), kinds: ["note"] }),
    count: async (of) => countNotes(db, parseOfApp(ofSchema, of, "count of notes").scope),
    async remove(input) {
      const change = parseOfApp(removeSchema, input, "removal of a note");
      const { kind } = await requireMemory(db, { scope: change.scope, id: change.id });
      if (kind !== "note")
        throw new MemoryError("NOT_FOUND", `There is no note ${change.id} of this app.`);
      return removeMemory(deps, change);
    },
    purge: async (what) => {
      const only = { kind: "note", category: categoryOfKind.note } as const;
      return eraseAppMemories(db.patient, {
        ...parseOfApp(purgeSchema, what, "purge of notes"),
        only,
      });
    },
    context: async (of) => notesContext(deps, parseOfApp(contextSchema, of, "context")),
  };
}

function parseOfApp<
  Shape extends z.ZodRawShape & { readonly scope: typeof scopeField },
  Config extends z.core.$ZodObjectConfig,
>(
  schema: z.ZodObject<Shape, Config>,
  input: unknown,
  what: string,
): Omit<z.output<z.ZodObject<Shape, Config>>, "scope"> & { readonly scope: AppScope } {
  const options = parseInput(schema, input, what);
  return { ...options, scope: parseAppScope((options as { scope?: unknown }).scope) };
}

async function notesContext(
  { db, config, logger }: NotesApiRuntime,
  { scope, agent }: NotesContext,
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

async function countNotes(db: Connection, scope: AppScope): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count
    from (${seenOwners(db, scope)}) o
    join ${db.schema}.memory m on m.owner_ref = o.id and m.kind = 'note' and ${isActive(db)}`);
  return row?.count ?? 0;
}
