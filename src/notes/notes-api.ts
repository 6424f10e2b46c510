import { z } from "zod";
import { MemoryError } from "../errors.js";
import { eraseAppMemories, type Purged } from "../forgetting/erase-app-memories.js";
import { removeMemory } from "../memories/edit/change-memory.js";
import { requireMemory } from "../memories/edit/edit-memory.js";
import { categoryOfKind, readableCategories } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { listMemories } from "../memories/item/memory-row.js";
import type { WriteConfig, WriteRuntime } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import { type AppScope, parseAppScope, scopeField } from "../scope/scope.js";
import { fittingHits } from "../search/answer-query.js";
import { type MemoryQuery, queryMemories } from "../search/query-memories.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { SearchRuntime } from "../search/retrieval-options.js";
import { pageRows, parseInput, revisionNumber, storableText } from "../text/parse-input.js";
import { noteBlock } from "./note-block.rule.js";
import { countNotes, findShownNotes } from "./note-rows.js";
import { appNotes, type NotesOptions } from "./notes-options.js";

/** Which app's notes. */
export interface NotesOf {
  /** Of an app, without a user: its notes are those of all its users. */
  readonly scope: AppScope;
}

/** Which page of an app's notes. */
export interface ListNotes extends NotesOf {
  /** Rows, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  /** The id of the last note of the page before. */
  readonly after?: string | undefined;
}

/** What is looked for among an app's notes. */
export interface SearchNotes extends Omit<MemoryQuery, "scope" | "kinds">, NotesOf {}

/** Who removes a note. */
export interface RemoveNote extends NotesOf {
  /** @default "api" */
  readonly actor?: string | undefined;
  /** Why, for the audit trail. */
  readonly reason?: string | undefined;
  /** As for `memories.remove`. @default any */
  readonly ifRevision?: number | undefined;
}

/** Who deletes all notes of an app. */
export interface PurgeNotes extends NotesOf {
  /** @default "api" */
  readonly actor?: string | undefined;
  /** Why, for the audit trail. */
  readonly reason?: string | undefined;
  /** Only count what would go. @default false */
  readonly dryRun?: boolean | undefined;
}

/** Whom a prompt is written for. */
export interface NotesContext extends NotesOf {
  /** The agent that will read it: nothing, where it may not read the notes' category. @default no restriction */
  readonly agent?: string | undefined;
}

/** An app's notes as a document of its own, in plain JSON: times are text in ISO 8601. */
export interface ExportedNotes {
  readonly scope: AppScope;
  /** What the app is called (`notes.apps`), else its id. */
  readonly appName: string;
  readonly exportedAt: string;
  /** Newest first. */
  readonly notes: readonly ExportedNote[];
}

/** A note in such a document. */
export interface ExportedNote
  extends Pick<MemoryItem, "id" | "text" | "category" | "importance" | "pinned" | "tags"> {
  readonly metadata: MemoryItem["metadata"];
  /** The conversation it was made of, where that is the app's own. */
  readonly threadId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * What an app remembers of conversations that ended: a note each, as many as `notes.limit`. Apps and tenants never see
 * each other's. Notes are memories of the kind "note": whatever `memory.memories` does, it does with them as well.
 */
export interface NotesApi {
  /** Notes in use, newest first. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  list(page: ListNotes): Promise<MemoryItem[]>;
  /** The notes that fit a question, best first, as `memory.query` finds them. @throws MemoryError as `memory.query` */
  search(query: SearchNotes): Promise<MemoryHit[]>;
  /** How many notes are in use. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  count(of: NotesOf): Promise<number>;
  /**
   * Hides one note; for 30 days `memories.restore` brings it back.
   *
   * @throws MemoryError `NOT_FOUND`, also for another app's; `STALE_REVISION`, `WRONG_STATE` when it is not in use
   */
  remove(id: string, access: RemoveNote): Promise<MemoryItem>;
  /**
   * Deletes all notes of an app for good, those that were removed or merged before as well, with their audit trail; an
   * entry without words tells who did it. Its conversations stay, and new ones leave notes again.
   *
   * @example
   * ```ts
   * const { deletedCount } = await memory.notes.purge({ scope: { appId: "calendar" }, actor: "admin" });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  purge(what: PurgeNotes): Promise<Purged>;
  /**
   * The notes of an app as a part of a prompt, the latest first; null without any. `memory.recall` shows the same: this
   * is for callers that write their prompts themselves.
   *
   * @example
   * ```ts
   * const notes = await memory.notes.context({ scope: { appId: "calendar" } }); // "(memories for app: calendar)…"
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  context(of: NotesContext): Promise<string | null>;
  /** All notes in use, to be written to a file. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  export(of: NotesOf): Promise<ExportedNotes>;
}

/** What the `NotesApi` takes. */
export interface NotesApiRuntime extends WriteRuntime {
  readonly config: WriteConfig & SearchRuntime["config"] & { readonly notes: NotesOptions };
}

const ofSchema = z.strictObject({ scope: scopeField });
const listSchema = ofSchema.extend({ limit: pageRows, after: z.string().optional() });
// What is asked, `queryMemories` looks at.
const searchSchema = z.looseObject({
  scope: scopeField,
  kinds: z.never("only notes are searched here: use memory.query").optional(),
  return: z.never("hits come as they are: memory.query writes them as models are given them").optional(),
});
const contextSchema = ofSchema.extend({ agent: z.string().optional() });
const who = { actor: storableText.default("api"), reason: storableText.max(2_000).optional() };
const removeSchema = ofSchema.extend({ ...who, ifRevision: revisionNumber.optional() });
const purgeSchema = ofSchema.extend({ ...who, dryRun: z.boolean().default(false) });

/** The `NotesApi` on `deps`. */
export function createNotesApi(deps: NotesApiRuntime): NotesApi {
  const { db } = deps;
  return {
    list: async (page) => listNotes(db, parseOfApp(listSchema, page, "page of notes")),
    search: async (query) => {
      const asked = parseOfApp(searchSchema, query, "search of notes");
      const { hits, budgetTokens } = await queryMemories(deps, { ...query, ...asked, kinds: ["note"] });
      return fittingHits(hits, budgetTokens);
    },
    count: async (of) => countNotes(db, parseOfApp(ofSchema, of, "count of notes").scope),
    remove: async (id, access) => {
      const change = {
        ...parseOfApp(removeSchema, access, "access"),
        id: parseInput(z.string(), id, "note id"),
      };
      const { kind } = await requireMemory(db, { scope: change.scope, id: change.id });
      if (kind !== "note") throw new MemoryError("NOT_FOUND", `There is no note ${change.id} of this app.`);
      return removeMemory(deps, change);
    },
    purge: async (what) => {
      const only = { kind: "note", category: categoryOfKind.note } as const;
      return eraseAppMemories(db.patient, { ...parseOfApp(purgeSchema, what, "purge of notes"), only });
    },
    context: async (of) => notesContext(deps, parseOfApp(contextSchema, of, "context")),
    export: async (of) => exportNotes(deps, parseOfApp(ofSchema, of, "export of notes").scope),
  };
}

/** `input`, the options of a call for one app, as `schema` reads them. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
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

function listNotes(db: Connection, page: ListNotes): Promise<MemoryItem[]> {
  return listMemories(db, { ...page, kinds: ["note"] });
}

async function notesContext({ db, config, logger }: NotesApiRuntime, { scope, agent }: NotesContext) {
  const { name, limit } = appNotes(config.notes, scope.appId);
  const categories = [...readableCategories(config.policy, agent ?? null)];
  const notes = await findShownNotes(db, { scope, categories, limit });
  const fields = { step: "recall", appId: scope.appId, notes: notes.length };
  logger.info(`🧠 Retrieved ${notes.length} memories for app ${scope.appId}`, fields);
  return noteBlock(notes, name);
}

const mostListed = 1_000;

async function exportNotes({ db, config, clock }: NotesApiRuntime, scope: AppScope): Promise<ExportedNotes> {
  const notes: MemoryItem[] = [];
  for (let page = mostListed; page === mostListed; ) {
    const found = await listNotes(db.patient, { scope, limit: mostListed, after: notes.at(-1)?.id });
    notes.push(...found);
    page = found.length;
  }
  const { name: appName } = appNotes(config.notes, scope.appId);
  return { scope, appName, exportedAt: clock().toISOString(), notes: notes.map(exportedNote) };
}

function exportedNote(note: MemoryItem): ExportedNote {
  const { id, text, category, importance, pinned, tags, metadata, source, createdAt, updatedAt } = note;
  return {
    ...{ id, text, category, importance, pinned, tags, metadata, threadId: source?.threadId ?? null },
    ...{ createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
  };
}
