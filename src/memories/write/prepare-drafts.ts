import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseInput, smallCount, storableText } from "../../input/parse-input.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { createPauses } from "../../pauses.js";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import { isSharedBy, type Scope } from "../../scope/scope.js";
import { type Redactor, redactFields } from "../../screening/redactor.js";
import { shareOfCounts } from "../../text/shared-words.js";
import { visibleText } from "../../text/storable-text.js";
import type { PersonalField } from "../consent/consent-policy.rule.js";
import {
  type CategoryPolicy,
  categoryOfKind,
  requireCategory,
  slotKey,
} from "../item/category.rule.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryKind,
  memoryHash,
  originOfRole,
  type Provenance,
  trustOf,
} from "../item/memory.js";
import { draftFields, memoryTerms, setFields, wordNames } from "../item/memory-fields.js";
import { defaultConfidence } from "../slot/slot-timeline.rule.js";
import type { MemoryRelation, WriteOutcome, WriteRuntime } from "./write-types.js";
import {
  cutOff,
  hasAnyLength,
  memoryInstructs,
  problemSentences,
  splitAtSentences,
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "./writing-constraints.rule.js";

const draftSchema = z.strictObject({
  ...draftFields,
  source: z
    .strictObject({
      threadId: storableText,
      seqs: z.array(smallCount),
      quote: storableText.transform(visibleText).optional(),
    })
    .optional(),
  turns: z.strictObject({ start: smallCount.min(1), end: smallCount.min(1) }).optional(),
  correction: z.boolean().default(false),
});

/** What is known of a draft beside its fields. */
export interface DraftGrounds {
  /** Whether its quote, if any, counts as the user's plain statement. @default inferred */
  readonly stated?: boolean;
  /** A model's relation of it to an existing memory. @default none */
  readonly relation?: MemoryRelation | null;
  /** Since when the value of a slot holds, if that is earlier. @default `validFrom` */
  readonly holdsSince?: Date | undefined;
  /** In turns of the owner. @default 0 */
  readonly turnsAgo?: number;
  /** The personal field that a model names. @default by its key */
  readonly personal?: PersonalField | null;
}

/** A draft that is ready to be written. */
export interface Statement
  extends Omit<z.output<typeof draftSchema>, "category" | "origin" | "confidence">,
    Provenance,
    DraftGrounds {
  /** Of its draft in the call. */
  readonly index: number;
  readonly scope: Scope;
  readonly category: string;
  readonly confidence: number;
  /** Waits for an approval: it reads as instructions to a model, and no operator wrote it. */
  readonly quarantined: boolean;
  readonly contentHash: string;
  readonly terms: string;
  /** In pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  /** For the comparison with the call's other drafts; null for a single draft. */
  readonly measure: Measure | null;
}

/** A unit vector, or the frequency of each stem. */
export type Measure = readonly number[] | ReadonlyMap<string, number>;

export interface PreparedDrafts {
  /** By draft: "rejected" with its problems, or a placeholder. */
  readonly outcomes: readonly WriteOutcome[];
  /** By owner, users before apps, so that two writers cannot deadlock. */
  readonly byOwner: readonly (readonly Statement[])[];
  readonly space: EmbeddingSpace | null;
  /** Null if drafts are compared by words: without embeddings, or where one has no vector. */
  readonly comparedIn: EmbeddingSpace | null;
}

/** Some seconds in one transaction, which blocks the owner's other writers. */
const maxDrafts = 5_000;
/** Calls of the functions `redact` and `screen` at a time. */
const screenedAtOnce = 10;
/** Default importance of an insight: below statements. */
export const insightImportance = 2;

/** Redacts, checks, screens and embeds `drafts`. @throws MemoryError as `writeMemories` */
export async function prepareDrafts(
  runtime: WriteRuntime,
  input: {
    readonly scope: Scope;
    readonly drafts: readonly MemoryDraft[];
    /** In their order. @default nothing is known */
    readonly grounds?: readonly DraftGrounds[] | undefined;
    /** Keeps facts and insights as long as they are. @default false */
    readonly anyLength?: boolean | undefined;
  },
): Promise<PreparedDrafts> {
  const { redactor, config } = runtime;
  const { scope, drafts, grounds = [], anyLength } = input;
  if (drafts.length > maxDrafts) {
    const problem = `At most ${maxDrafts} memories can be added in one call, got ${drafts.length}`;
    throw new MemoryError(
      "INVALID_INPUT",
      `${problem}: add them in several calls, or import them.`,
    );
  }
  const redacted: MemoryDraft[] = [];
  const screened: (Statement | RejectedDraft)[] = [];
  const pause = createPauses();
  for (let from = 0; from < drafts.length; from += screenedAtOnce) {
    const some = drafts.slice(from, from + screenedAtOnce);
    const safe = await Promise.all(some.map((draft) => redactDraft(redactor, draft)));
    const checked: (Statement | RejectedDraft)[] = [];
    for (const draft of safe) {
      await pause();
      checked.push(prepareDraft(draft, scope, config.policy, anyLength));
    }
    redacted.push(...safe);
    screened.push(...(await Promise.all(checked.map((each) => screenStatement(runtime, each)))));
  }

  const outcomes: WriteOutcome[] = [];
  const accepted: Statement[] = [];
  for (const [index, each] of screened.entries()) {
    const rejected = { outcome: "rejected", id: null, problems: [] } as const;
    if ("problems" in each) {
      outcomes.push({ ...rejected, ...each });
      continue;
    }
    const trimmed = cutOff(redacted[index]?.text ?? "", each.text);
    outcomes.push({ ...rejected, ...(trimmed !== "" && { trimmed }) });
    accepted.push({ ...each, ...grounds[index], index });
  }

  const { statements, space, comparedIn } = await measureStatements(runtime, accepted);
  const isOfUser = (each: Statement) => each.scope.userId !== undefined;
  const byOwner = [statements.filter(isOfUser), statements.filter((each) => !isOfUser(each))];
  return {
    outcomes,
    byOwner: byOwner.filter(({ length }) => length > 0),
    space,
    comparedIn,
  };
}

/** Drafts of the whole sentences of a long fact or insight. A slot has one text. */
export async function splitDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft[]> {
  const { kind = "fact", key, text } = draft;
  if (key !== undefined || !hasAnyLength(kind) || typeof text !== "string") return [draft];
  if (writingProblems(kind, visibleText(text).trim()).length === 0) return [draft];
  // A secret may have several sentences.
  const parts = await splitAtSentences(kind, await redactor.text(text));
  // Of an empty text there is none: the draft is refused by its name.
  if (parts.length < 2) return [draft];
  return parts.map((part) => ({ ...draft, text: part }));
}

/** Redacts the quote too, but not its thread id. */
async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const flat = { ...draft, evidence: draft.source?.quote };
  const { evidence: quote, ...fields } = await redactFields(redactor, flat, wordNames);
  return { ...fields, ...(draft.source && { source: { ...draft.source, quote } }) };
}

interface RejectedDraft {
  readonly problems: readonly WritingProblem[];
  readonly message: string;
}

/**
 * Fills in defaults, normalises the key, trims long texts and rejects bad ones. Notes, and
 * categories of level "app", belong to the app.
 * @throws MemoryError `INVALID_INPUT` for a wrong type or range, or an unknown category
 */
export function prepareDraft(
  draft: MemoryDraft,
  scope: Scope,
  policy: CategoryPolicy,
  anyLength = false,
): Statement | RejectedDraft {
  const fields = parseInput(draftSchema, draft, "memory");
  const { kind, source, turns, role } = fields;
  const category = requireCategory(policy, fields.category ?? categoryOfKind[kind]);
  const key = fields.key === undefined ? undefined : slotKey(fields.key);
  if (key === null) {
    const problem = `"${fields.key}" cannot be a key: it has no letters or digits.`;
    throw new MemoryError("INVALID_INPUT", problem);
  }
  const given = fields.text.trim();
  const isWhole = anyLength && hasAnyLength(kind);
  const text = isWhole ? given : (trimToLength(kind, fields.text) ?? given);
  const problems = writingProblems(kind, text).filter((problem) => !isWhole || problem === "empty");
  if (problems.length > 0) return { problems, message: problemSentences(kind, problems) };
  const origin = fields.origin ?? originOfRole(role);
  const owner = memoryScope(kind, category.level, scope);
  const isShared = isSharedBy(scope, owner);
  if (isShared && origin !== "operator") {
    const problem = `\`kind\` is "${kind}", which all users of the app are shown, so a user's scope cannot add one.`;
    const advice = 'Leave `kind` out, or pass the app\'s own scope, or `origin: "operator"`.';
    throw new MemoryError("INVALID_INPUT", `${problem} ${advice}`);
  }
  return {
    ...fields,
    // All users of an app see its memories, so these do not name the speaker or the source.
    ...(isShared && { source: undefined, actorId: undefined }),
    index: 0,
    text,
    key,
    origin,
    quarantined: false,
    ...(kind === "insight" && { importance: draft.importance ?? insightImportance }),
    trust: trustOf(origin, role),
    confidence: fields.confidence ?? defaultConfidence(origin, kind),
    category: category.name,
    scope: owner,
    contentHash: memoryHash({ kind, text, threadId: source?.threadId, turnStart: turns?.start }),
    terms: memoryTerms({ key, text }),
    vector: null,
    measure: null,
  };
}

function memoryScope(
  kind: MemoryKind,
  level: "user" | "app",
  { tenantId, userId, appId }: Scope,
): Scope {
  const tenant = tenantId === undefined ? {} : { tenantId };
  const app = appId !== undefined && { appId };
  if (kind === "note" && !app) {
    throw new MemoryError("SCOPE_REQUIRED", "A note belongs to an app: its scope needs an appId.");
  }
  if (kind === "note" || userId === undefined) return { ...tenant, ...app };
  return { ...tenant, userId, ...(level === "app" && app) };
}

/** Quarantines what reads as instructions to a model, unless an operator wrote it. */
async function screenStatement(
  { screen }: WriteRuntime,
  statement: Statement | RejectedDraft,
): Promise<Statement | RejectedDraft> {
  if ("problems" in statement || statement.origin === "operator") return statement;
  if (!(await memoryInstructs(screen, statement))) return statement;
  const { trust } = statement;
  return { ...statement, quarantined: true, trust: trust === "operator" ? "untrusted" : trust };
}

/** Embeds statements, or counts their words where one has no vector. In quarantine neither. */
async function measureStatements(
  { db, embedder }: WriteRuntime,
  statements: readonly Statement[],
): Promise<{ statements: Statement[] } & Pick<PreparedDrafts, "space" | "comparedIn">> {
  const plain = statements.filter(({ quarantined }) => !quarantined);
  const texts = plain.map(({ text }) => text);
  const embedded = embedder && texts.length > 0 ? await embedder.documents(texts) : null;
  const space = embedded?.space ?? null;
  const isWhole = embedded?.vectors.every((vector) => vector !== null) ?? false;
  const isByWords = plain.length > 1 && !isWhole;
  const measures = isByWords ? await stemMeasures(db, plain) : embedded?.units;
  const measured = new Map(
    plain.map(({ index }, at) => {
      return [index, { vector: embedded?.vectors[at] ?? null, measure: measures?.[at] ?? null }];
    }),
  );
  return {
    statements: statements.map((each) => ({ ...each, ...measured.get(each.index) })),
    space,
    comparedIn: isWhole ? space : null,
  };
}

/** A millisecond or two. */
const rowsAtOnce = 10_000;

/** Stem frequencies. Comparing in the database would take a hundred times as long. */
async function stemMeasures(db: Connection, statements: readonly Statement[]): Promise<Measure[]> {
  const terms = statements.map((each) => each.terms);
  const rows = await db.query<{ place: number; lexeme: string; frequency: number }>(
    sql`
    select t.place::int - 1 as place, w.lexeme, w.frequency
    from unnest(${terms}::text[]) with ordinality as t (terms, place)
    cross join lateral ${lexemes(db, sql`t.terms`)} w`,
    { prepare: true },
  );
  const measures = terms.map(() => new Map<string, number>());
  const pause = createPauses();
  for (const [at, { place, lexeme, frequency }] of rows.entries()) {
    measures[place]?.set(lexeme, frequency);
    if (at % rowsAtOnce === 0) await pause();
  }
  return measures;
}

/** The similarity of two drafts, as `findExisting` computes it for stored memories. */
export function similarity(one: Measure | null, other: Measure | null): number {
  if (one === null || other === null) return 0;
  if (!("length" in one)) return "length" in other ? 0 : shareOfCounts(one, other);
  if (!("length" in other)) return 0;
  let product = 0;
  for (let at = 0; at < one.length; at++) product += (one[at] as number) * (other[at] as number);
  return Math.min(1, product);
}

/** The draft that a request for consent keeps. */
export function draftOf(statement: Statement): MemoryDraft {
  const fields = Object.entries(statement).filter(([name]) => name in draftSchema.shape);
  return Object.fromEntries(fields) as unknown as MemoryDraft;
}

/** Without `validFrom`: it is valid from the write. */
export function itemDraft(memory: MemoryItem): MemoryDraft {
  const { source, turns } = memory;
  const { validFrom: _, ...fields } = { ...setFields(memory), source, turns };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value != null),
  ) as unknown as MemoryDraft;
}
