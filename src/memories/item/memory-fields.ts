import { z } from "zod";
import { dateOrMoment, nameText, nonBlank, storableText } from "../../input/parse-input.js";
import { type Column, column, only, orNull, type RowOf, without } from "../../postgres/columns.js";
import { searchText } from "../../text/search-text.js";
import { isStorable, visibleText } from "../../text/storable-text.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryPatch,
  type MemorySource,
  type MemoryVersion,
  memoryKinds,
  memoryOrigins,
  memoryStates,
  memoryTrusts,
} from "./memory.js";
import { metadataField } from "./memory-metadata.rule.js";

interface Field {
  readonly column: Column<unknown>;
  /**
   * Marks text, which is redacted, screened, audited, exported, and searched: "ranked" by queries,
   * "contains" by `list`.
   */
  readonly words?: "ranked" | "contains" | "filter";
  /** Why its text may read as instructions to a model. */
  readonly unscreened?: string;
}

interface SetField<Value> extends Field {
  readonly set: z.ZodType<unknown, Value>;
  /** The value of an unset field. @default null, or computed from the others */
  readonly initial?: unknown;
  readonly required?: true;
  /** Its description for agents. @default agents cannot set it */
  readonly agents?: string;
}

/** Fields that are mapped to columns of another form. */
type Mapped = "scope" | "source" | "turns" | "correction" | "earlier" | "inPlace";
const madeNames = [
  "tenantId",
  "userId",
  "appId",
  "threadId",
  "sourceSeqs",
  "evidence",
  "turnStart",
  "turnEnd",
] as const;
/** Internal fields. */
const internalNames = ["contentHash", "assertedTurn", "assertedAt", "accessCount"] as const;

/** The table compiles only with exactly the fields of the interfaces. */
type FieldTable = {
  readonly [Name in
    | Exclude<keyof MemoryItem | keyof MemoryDraft, Mapped>
    | (typeof madeNames | typeof internalNames)[number]]: Name extends keyof MemoryDraft
    ? SetField<NonNullable<MemoryDraft[Name]>> &
        /** Each change makes a version. "orNull": a change may also clear it. */
        (Name extends keyof MemoryPatch
          ? { readonly change: true | "orNull" }
          : { readonly change?: never })
    : Field & { readonly set?: never; readonly change?: never };
};

/** Drops NUL characters, and rejects half of a surrogate pair. */
const sentence = z
  .string()
  .refine((text) => isStorable(text.replaceAll("\u0000", "")), "has half of a surrogate pair")
  .transform(visibleText);
const shownText = (maxCharacters: number) => storableText.max(maxCharacters).transform(visibleText);
/** In characters, above the limits of all kinds. */
const maxFieldCharacters = 10_000;
export const momentField = dateOrMoment.transform((moment) => new Date(moment));

/**
 * The source of rows, drafts, changes, versions, redaction, screening, search, export, import, HTTP
 * and MCP. A new field also needs its lines in memory.ts, a migration, and a line in
 * docs/memories.md.
 */
export const memoryFields = {
  id: { column: column.uuid("id") },
  tenantId: { column: column.text("tenant_id") },
  userId: { column: column.text("user_id") },
  appId: { column: column.text("app_id") },
  kind: {
    column: column.text("kind", z.enum(memoryKinds)),
    set: z.enum(memoryKinds),
    initial: "fact",
  },
  category: {
    column: column.text("category", nonBlank),
    set: z.string(),
    change: true,
    agents: "One of the configured categories.",
  },
  key: {
    column: orNull(column.text("key", nonBlank)),
    words: "ranked",
    set: storableText.trim().min(1).max(200).transform(visibleText),
    agents: "With a key there is one value: a new one takes the old one's place.",
  },
  value: {
    column: orNull(column.text("value")),
    words: "contains",
    set: shownText(2_000),
    change: true,
    agents: "With a key, the value alone.",
  },
  text: {
    column: column.text("content", nonBlank.max(maxFieldCharacters)),
    words: "ranked",
    set: sentence,
    required: true,
    change: true,
    agents: "One self-contained sentence in the third person.",
  },
  contentHash: { column: column.text("content_hash") },
  importance: {
    column: column.real("importance"),
    set: z.number().min(1).max(5),
    initial: 3,
    change: true,
    agents: "1 (trivia) to 5 (vital).",
  },
  confidence: { column: column.real("confidence"), set: z.number().min(0).max(1), change: true },
  pinned: { column: column.boolean("pinned"), set: z.boolean(), initial: false, change: true },
  state: { column: column.text("state", z.enum(memoryStates)) },
  origin: { column: column.text("origin", z.enum(memoryOrigins)), set: z.enum(memoryOrigins) },
  trust: { column: column.text("trust", z.enum(memoryTrusts)) },
  tags: {
    column: column.texts("tags"),
    words: "contains",
    set: z.array(shownText(100)).max(32),
    initial: [],
    change: true,
  },
  metadata: {
    column: column.json("metadata", metadataField),
    words: "filter",
    set: metadataField,
    initial: {},
    change: true,
    unscreened: "no model is shown it",
  },
  expiresAt: { column: orNull(column.time("expires_at")), set: momentField, change: "orNull" },
  doubtedAt: { column: orNull(column.time("doubted_at")) },
  agentId: { column: orNull(column.text("agent_id", nameText)), words: "filter", set: nameText },
  runId: { column: orNull(column.text("run_id", nameText)), words: "filter", set: nameText },
  actorId: {
    column: orNull(column.text("actor_id", nameText)),
    words: "filter",
    set: nameText.transform(visibleText),
  },
  role: { column: orNull(column.text("role", nameText)), words: "filter", set: nameText },
  /** The thread's id; statements map it to and from its ref. */
  threadId: { column: orNull(column.text("thread_ref")) },
  sourceSeqs: { column: column.integers("source_seqs") },
  /** The quote of a `MemorySource`. */
  evidence: {
    column: orNull(column.text("evidence")),
    words: "contains",
    unscreened: "it is a quote: models see none that reads as instructions",
  },
  turnStart: { column: orNull(column.integer("turn_start")) },
  turnEnd: { column: orNull(column.integer("turn_end")) },
  /** The owner's turn of the last sighting. */
  assertedTurn: { column: column.bigint("asserted_turn") },
  validFrom: { column: column.time("valid_from"), set: momentField },
  validTo: { column: orNull(column.time("valid_to")) },
  /** Time of the last sighting; null: `validFrom`. */
  assertedAt: { column: orNull(column.time("asserted_at")) },
  supersededBy: { column: orNull(column.uuid("superseded_by")) },
  seenCount: { column: column.integer("seen_count") },
  accessCount: { column: column.integer("access_count") },
  lastAccessedAt: { column: column.time("last_accessed_at") },
  purgeAt: { column: orNull(column.time("purge_at")) },
  createdAt: { column: column.time("created_at") },
  updatedAt: { column: column.time("updated_at") },
  revision: { column: column.bigint("revision") },
} as const satisfies FieldTable;

type Fields = typeof memoryFields;
type Name = keyof Fields;
export type SetName = Exclude<keyof MemoryDraft, Mapped>;

const table: readonly (readonly [
  Name,
  Field & Partial<SetField<unknown>> & { change?: true | "orNull" },
])[] = Object.entries(memoryFields) as never;
const namesWhere = <Of extends Name>(is: (field: (typeof table)[number][1]) => boolean) =>
  table.filter(([, field]) => is(field)).map(([name]) => name as Of);

const setNames = namesWhere<SetName>(({ set }) => set !== undefined);
/** Fields that can be changed and reverted. */
export const versionNames = namesWhere<keyof MemoryVersion>(({ change }) => change !== undefined);
export const wordNames = namesWhere(({ words }) => words !== undefined);
/** Fields whose text must not read as instructions to a model. */
export const screenedNames = namesWhere(
  ({ words, unscreened }) => words !== undefined && !unscreened,
);
const rankedNames = namesWhere(({ words }) => words === "ranked");

/** All columns of `memory` but its refs. */
export const memoryColumns = Object.fromEntries(
  table.map(([name, field]) => [name, field.column]),
) as {
  readonly [Of in Name]: Fields[Of]["column"];
};

export const versionColumns = only(memoryColumns, ...versionNames);

const foundNames = namesWhere(({ words }) => words === "ranked" || words === "contains");
export const foundColumns = only(memoryColumns, ...foundNames);

export const itemColumns = without(memoryColumns, ...internalNames);
/** Columns of `scope`, `source` and `turns`. */
export const madeColumns = only(memoryColumns, ...madeNames);
export const plainColumns = without(itemColumns, ...madeNames);

/** What the audit trail keeps of a memory after each change; its id and scope are the entry's. */
export const snapshotColumns = without(
  memoryColumns,
  "id",
  "tenantId",
  "userId",
  "appId",
  ...internalNames,
);

type SetShape = {
  [Of in SetName]: Fields[Of] extends { readonly initial: unknown }
    ? z.ZodDefault<Fields[Of]["set"]>
    : Fields[Of] extends { readonly required: true }
      ? Fields[Of]["set"]
      : z.ZodOptional<Fields[Of]["set"]>;
};

export const draftFields = Object.fromEntries(
  table.flatMap(([name, { set, initial, required }]) => {
    if (set === undefined) return [];
    return [[name, initial !== undefined ? set.default(initial) : required ? set : set.optional()]];
  }),
) as SetShape;

export const changeFields = Object.fromEntries(
  table.flatMap(([name, { set, change }]) => {
    if (set === undefined || change === undefined) return [];
    return [[name, change === "orNull" ? set.nullish() : set.optional()]];
  }),
) as { [Of in keyof MemoryVersion]: z.ZodOptional<z.ZodType<MemoryVersion[Of]>> };

type AgentName = {
  [Of in SetName]: Fields[Of] extends { readonly agents: string } ? Of : never;
}[SetName];

export const agentFields = Object.fromEntries(
  table.flatMap(([name, { set, agents, required }]) => {
    if (set === undefined || agents === undefined) return [];
    return [[name, (required ? set : set.optional()).describe(agents)]];
  }),
) as {
  [Of in AgentName]: Of extends "text" ? Fields[Of]["set"] : z.ZodOptional<Fields[Of]["set"]>;
};

/** Unset fields become null. */
export function setFields(memory: MemoryWords): Pick<RowOf<typeof memoryColumns, Date>, SetName> {
  return Object.fromEntries(setNames.map((name) => [name, memory[name] ?? null])) as never;
}

export function versionOf(memory: MemoryWords): MemoryVersion {
  return Object.fromEntries(versionNames.map((name) => [name, memory[name] ?? null])) as never;
}

/**
 * A new memory for the audit trail, without its quote, which goes with the conversation. All users of an
 * app read it, so it does not name the speaker.
 */
export function contentOf(memory: MemoryWords): object {
  const { userId, key = null, origin, trust } = memory;
  const names = wordNames.filter(
    (name) => name !== "evidence" && (userId !== "" || name !== "actorId"),
  );
  const texts = names.flatMap((name) => (memory[name] == null ? [] : [[name, memory[name]]]));
  return { ...Object.fromEntries(texts), ...versionOf(memory), key, origin, trust };
}

/** For the audit trail, which outlives the row: searches omit the messages of a forgotten fact. */
export function learnedFrom(
  memory: Pick<MemoryItem, "kind"> & { source?: MemorySource | null | undefined },
): object {
  const { kind, source } = memory;
  if (kind !== "fact" || !source) return {};
  const { threadId, seqs = [], quote } = source;
  if (seqs.length > 0) return { source: { threadId, seqs } };
  // During a turn its message has no seq yet, but the quote identifies it.
  return quote ? { source: { threadId, seqs, quote } } : {};
}

/** A memory, draft or export line. */
export type MemoryWords = { readonly [Of in Name]?: unknown };

export function memoryWords(memory: MemoryWords, names: readonly Name[]): string[] {
  return names.flatMap((name) => {
    const words = memory[name];
    if (Array.isArray(words)) return words as string[];
    if (typeof words !== "string" || words === "") return [];
    return name === "key" ? words.replaceAll("_", " ") : words;
  });
}

export function setsWords(patch: MemoryWords): boolean {
  return screenedNames.some((name) => patch[name] !== undefined);
}

/** The ranked text of `memory`, prepared for `to_tsvector`. */
export function memoryTerms(memory: MemoryWords): string {
  return searchText(memoryWords(memory, rankedNames).join(" "));
}
