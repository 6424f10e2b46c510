import sql, { empty, type Sql } from "sql-template-tag";
import { pendingConsents } from "../consents/consent-rows.js";
import type { ReadLimits } from "../conversation/conversation-options.js";
import { type ConversationAddress, conversationRow } from "../conversation/find-conversation.js";
import { memoryJson } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { type ComposedStatement, compose, slot } from "../search/composed-statement.js";
import { memoryHits } from "../search/memory-hits.js";
import type { HitSelection, SearchedVector } from "../search/memory-signals.js";
import { questionTerms, type SeenOwners, seenOwners } from "../search/question-terms.js";
import type { Question } from "../search/read-question.js";

/** What one recall asks for. */
export interface RecallStatement {
  readonly address: ConversationAddress;
  readonly limits: ReadLimits;
  /** Null when nothing is asked: then only what is always shown is found. */
  readonly asked: {
    readonly question: Pick<Question, "terms" | "words" | "correctable">;
    readonly selection: HitSelection;
  } | null;
  readonly profile: {
    /** Slots, and news, are shown from these. */
    readonly categories: readonly string[];
    /** Of these, free statements as well. */
    readonly shownWhole: readonly string[];
    readonly minImportance: number;
    readonly limit: number;
  };
  readonly notes: number;
  readonly changes: number;
  readonly consents: number;
}

/** Of a database and what is asked of it, all that the statement's text depends on. */
type Shape = Readonly<Record<"user" | "app" | "branch" | "clock" | "asked", boolean>> & {
  readonly schema: string;
  readonly language: string;
  readonly vector: readonly string[] | null;
};

function shapeOf(db: Connection, { address: { scope, messageIds }, asked }: RecallStatement): Shape {
  const space = asked?.selection.vector?.space;
  return {
    schema: db.schema.text,
    language: db.language,
    user: scope.userId !== undefined,
    app: scope.appId !== undefined,
    branch: messageIds != null,
    clock: db.now().values.length > 0,
    asked: asked !== null,
    vector: space ? [space.type.text, space.product.text, space.indexed.text] : null,
  };
}

/** A recall with the time that it happens at, where a clock tells that. */
interface RecallCall extends RecallStatement {
  readonly now: unknown;
}

const composed = new Map<string, ComposedStatement<RecallCall>>();

/** Shapes of some dozens of schemas; those of more are composed again. */
const mostComposed = 500;

/** The statement of one recall. Its text is composed once for all that have the same shape. */
export function recallStatement(db: Connection, input: RecallStatement): Sql {
  return composedRecall(db, input).bind({ ...input, now: db.now().values[0] });
}

/** The statement of recalls like `input`, without its values. */
export function composedRecall(db: Connection, input: RecallStatement): ComposedStatement<RecallCall> {
  const shape = shapeOf(db, input);
  const key = JSON.stringify(shape);
  const known = composed.get(key);
  if (known) return known;
  if (composed.size === mostComposed) composed.clear();
  const time = sql`${slot("now", ({ now }: RecallCall) => now)}::timestamptz`;
  const timed: Connection = { ...db, now: shape.clock ? () => time : db.now };
  const made = compose<RecallCall>(composeRecall(timed, slotsOf(shape, input)));
  composed.set(key, made);
  return made;
}

/** `input` with slots in place of all values that the text does not depend on. */
function slotsOf(shape: Shape, { asked }: RecallStatement): RecallStatement {
  const of = <Value>(name: string, read: (input: RecallCall) => Value) => slot(name, read);
  const scope: Scope = {
    tenantId: of("tenant", (i) => i.address.scope.tenantId ?? ""),
    ...(shape.user && { userId: of("user", (i) => i.address.scope.userId as string) }),
    ...(shape.app && { appId: of("app", (i) => i.address.scope.appId as string) }),
  };
  return {
    address: {
      scope,
      threadId: of("thread", (i) => i.address.threadId),
      messageIds: shape.branch ? of("messages", (i) => i.address.messageIds) : null,
    },
    limits: {
      recentMessages: of("recent_messages", (i) => i.limits.recentMessages),
      recentBytes: of("recent_bytes", (i) => i.limits.recentBytes),
      gapMessages: of("gap_messages", (i) => i.limits.gapMessages),
      gapBytes: of("gap_bytes", (i) => i.limits.gapBytes),
    },
    asked: asked && { question: questionSlots(), selection: selectionSlots(scope, asked.selection) },
    profile: {
      categories: of("categories", (i) => i.profile.categories),
      shownWhole: of("shown_whole", (i) => i.profile.shownWhole),
      minImportance: of("least_importance", (i) => i.profile.minImportance),
      limit: of("profile_limit", (i) => i.profile.limit),
    },
    notes: of("notes", (i) => i.notes),
    changes: of("changes", (i) => i.changes),
    consents: of("consents", (i) => i.consents),
  };
}

type Asked = NonNullable<RecallStatement["asked"]>;
/** Read only by statements with a question. */
const ofAsked = <Value>(name: string, read: (asked: Asked) => Value) =>
  slot(name, ({ asked }: RecallCall) => read(asked as Asked));

function questionSlots(): Asked["question"] {
  return {
    terms: ofAsked("terms", ({ question }) => question.terms),
    words: ofAsked("words", ({ question }) => question.words),
    correctable: ofAsked("correctable", ({ question }) => question.correctable),
  };
}

function selectionSlots(scope: Scope, { filter, vector }: HitSelection): HitSelection {
  const ofVector = <Value>(name: string, read: (vector: SearchedVector) => Value) =>
    ofAsked(name, ({ selection }) => read(selection.vector as SearchedVector));
  return {
    scope,
    kinds: ofAsked("kinds", ({ selection }) => selection.kinds),
    categories: ofAsked("searched_categories", ({ selection }) => selection.categories),
    // A recall filters nothing.
    filter,
    vector: vector && {
      space: { ...vector.space, ref: ofVector("space", ({ space }) => space.ref) },
      value: ofVector("vector", ({ value }) => value),
      from: ofVector("related_from", ({ from }) => from),
    },
    times: {
      since: ofAsked("times_since", ({ selection }) => selection.times.since),
      before: ofAsked("times_before", ({ selection }) => selection.times.before),
    },
    limit: ofAsked("candidates", ({ selection }) => selection.limit),
  };
}

/** The statement that `recall.sql` shows. */
function composeRecall(db: Connection, input: RecallStatement): Sql {
  const { profile, asked, address, limits } = input;
  const appId = address.scope.appId ?? "";
  // Of another scope's thread, nothing else is read either.
  const seen = seenOwners(db, address.scope, sql`coalesce((select owned from conversation), true)`);
  const terms = asked && questionTerms(db, seen.owners, asked.question);
  const hits = asked && terms && memoryHits(db, { ...seen, ...terms }, asked.selection);
  const consents = { appId, categories: profile.categories, limit: input.consents };
  return sql`
    with
    -- The thread, its summary and what was said since.
    conversation as materialized (${conversationRow(db, address, limits)}),
    ${seen.ctes},
    -- The owner that news and revisions are of.
    told_owner as materialized (
      select id, revision, changes_trimmed_to from ${seen.owners} order by is_user desc limit 1
    ),
    ${terms && hits ? sql`${terms.ctes},${hits.ctes},` : empty}
    ${profileFacts(db, seen.owners, appId, profile)},
    -- All memories of this recall; those of a list with their places in it.
    listed as (
      select 'profile' as list, m.ref::float8 as ref,
        to_json(row_number() over (order by m.importance desc, m.updated_at desc, m.ref)) as signals,
        ${memoryJson(db)} as memory
      from (
        select * from profile_fact order by importance desc, updated_at desc, ref limit ${profile.limit}
      ) m
      ${appId === "" ? empty : noteRows(db, seen.owners, input)}
      ${hits ? sql`union all select list, ref, signals, memory from ${hits.found}` : empty}
    ),
    -- Changes that this thread was not told of.
    unseen_change as (
      select c.rev, c.event, c.line, c.importance
      from told_owner join ${db.schema}.change_log c on c.owner_ref = told_owner.id
      where c.rev > (select rev_seen::bigint from conversation) and c.category = any (${profile.categories}::text[])
        and c.app_id in ('', ${appId})
    ),
    -- What waits for the user's consent.
    due_consent as (${pendingConsents(db, seen.owners, consents)})
    select
      (select row_to_json(c) from conversation c) as conversation,
      (select revision from told_owner)::float8 as revision,
      (select changes_trimmed_to from told_owner)::float8 as trimmed_to,
      (select count(*) from unseen_change)::int as change_count,
      coalesce((
        select json_agg(json_build_object('rev', rev, 'event', event, 'line', line)) from (
          select * from unseen_change order by importance desc, rev desc limit ${input.changes}
        ) c
      ), '[]') as changes,
      coalesce((select json_agg(f) from listed f), '[]') as memories,
      coalesce((select json_agg(c) from due_consent c), '[]') as consents`;
}

/** What is always shown: slots, and of some categories the most important free statements as well. */
function profileFacts(
  { schema }: Connection,
  owners: SeenOwners,
  appId: string,
  { categories, shownWhole, minImportance, limit }: RecallStatement["profile"],
): Sql {
  const shown = sql`m.state = 'active' and m.kind = 'fact' and m.app_id in ('', ${appId}) and m.importance >= ${minImportance}`;
  return sql`
    -- What is always shown.
    profile_fact as (
      select m.* from ${owners} s join ${schema}.memory m on m.owner_ref = s.id
      where m.key is not null and m.category = any (${categories}::text[]) and ${shown}
      union all
      select w.* from ${owners} s cross join unnest(${shownWhole}::text[]) as whole (category)
      cross join lateral (
        select m.* from ${schema}.memory m
        where m.owner_ref = s.id and m.category = whole.category and m.key is null and ${shown}
        order by m.importance desc, m.updated_at desc, m.ref limit ${limit}
      ) w
    )`;
}

/** The app's notes, latest first. */
function noteRows(db: Connection, owners: SeenOwners, { profile, notes }: RecallStatement): Sql {
  return sql`
      union all
      select 'note', m.ref, to_json(row_number() over (order by m.updated_at desc, m.ref)), ${memoryJson(db)}
      from (
        select m.* from ${db.schema}.memory m
        where m.owner_ref = (select id from ${owners} where not is_user) and m.kind = 'note' and m.state = 'active'
          and m.category = any (${profile.categories}::text[])
        order by m.updated_at desc, m.ref limit ${notes}
      ) m`;
}
