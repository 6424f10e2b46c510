import sql, { empty, type Sql } from "sql-template-tag";
import type { ReadLimits } from "../conversation/conversation-options.js";
import { type ConversationAddress, conversationRow } from "../conversation/find-conversation.js";
import { givingWay, memoryJson, unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { type ComposedStatement, compose, slot } from "../search/composed-statement.js";
import { importanceRank } from "../search/important-memories.js";
import { memoryHits } from "../search/memory-hits.js";
import type { HitSelection, SearchedVector } from "../search/memory-signals.js";
import { asksForAll, questionTerms, type SeenOwners, seenOwners } from "../search/question-terms.js";
import type { Question } from "../search/read-question.js";

export interface RecallStatement {
  readonly address: ConversationAddress;
  readonly limits: ReadLimits;
  /** Null when nothing is asked: then only what is always shown is found. */
  readonly asked: {
    readonly question: Pick<Question, "terms" | "telling" | "words" | "correctable">;
    readonly selection: HitSelection;
  } | null;
  readonly known: {
    /** Memories, and news, are shown from these. */
    readonly categories: readonly string[];
    /** Most of each of these that are shown; null for no limit. */
    readonly lengths: readonly (number | null)[];
    /** Those that are always shown, statements and slots of whatever importance. */
    readonly shownWhole: readonly string[];
    /** Slots of the other categories are always shown from this importance on. */
    readonly minImportance: number;
    readonly most: number;
    readonly rest: number;
    /** Most free statements of a category that are looked at. */
    readonly statements: number;
  };
  readonly notes: number;
  readonly changes: number;
  readonly consents: number;
}

type Shape = Readonly<ReturnType<typeof shapeOf>>;

function shapeOf(db: Connection, { address: { scope, messageIds }, asked }: RecallStatement) {
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

interface RecallCall extends RecallStatement {
  readonly now: unknown;
}

const composed = new Map<string, ComposedStatement<RecallCall>>();

/** Shapes of some dozens of schemas; those of more are composed again. */
const mostComposed = 500;

/** Its text is composed once for each shape. */
export function recallStatement(db: Connection, input: RecallStatement): Sql {
  return composedRecall(db, input).bind({ ...input, now: db.now().values[0] });
}

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
    known: {
      categories: of("categories", (i) => i.known.categories),
      lengths: of("category_lengths", (i) => i.known.lengths),
      shownWhole: of("shown_whole", (i) => i.known.shownWhole),
      minImportance: of("least_importance", (i) => i.known.minImportance),
      most: of("always_shown", (i) => i.known.most),
      rest: of("rest_shown", (i) => i.known.rest),
      statements: of("statements", (i) => i.known.statements),
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
    telling: ofAsked("telling", ({ question }) => question.telling),
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

function composeRecall(db: Connection, input: RecallStatement): Sql {
  const { known, asked, address, limits } = input;
  const appId = address.scope.appId ?? "";
  // Of another scope's thread, nothing else is read either.
  const seen = seenOwners(db, address.scope, sql`coalesce((select owned from conversation), true)`);
  const terms = asked && questionTerms(db, seen.owners, asked.question);
  const hits = asked && terms && memoryHits(db, { ...seen, ...terms }, asked.selection);
  return sql`
    with
    -- The thread, its summary and what was said since.
    conversation as materialized (${conversationRow(db, address, limits)}),
    ${seen.ctes},
    -- The owner that news and revisions are of.
    told_owner as materialized (
      select id, revision, changes_trimmed_to from ${seen.owners} order by is_user desc limit 1
    ),
    -- What this thread was not told of, and what waits for the user's consent.
    news as materialized (
      select * from ${db.schema}.thread_changes(
        array(select id from ${seen.owners}), (select id from told_owner), (select rev_seen::bigint from conversation),
        ${known.categories}::text[], ${address.scope.tenantId ?? ""}, ${appId}, ${address.threadId},
        ${input.changes}, ${input.consents}, ${db.now()}
      )
    ),
    ${terms && hits ? sql`${terms.ctes},${hits.ctes},` : empty}
    ${knownMemories(db, seen.owners, appId, known)},
    -- All memories of this recall; those of a list with their places in it. What is a hit as well is written once.
    listed as (
      select l.list, l.ref::float8 as ref, to_json(l.place) as signals,
        ${hits ? sql`case when l.ref not in (select ref from hit) then ${memoryJson(db)} end` : memoryJson(db)} as memory
      from listed_known l cross join lateral (select * from ${db.schema}.memory where ref = l.ref limit 1) m
      ${appId === "" ? empty : noteRows(db, seen.owners, input)}
      ${hits ? sql`union all select list, ref, signals, memory from ${hits.found}` : empty}
    )
    select
      (select row_to_json(c) from conversation c) as conversation,
      (select revision from told_owner)::float8 as revision,
      (select changes_trimmed_to from told_owner)::float8 as trimmed_to,
      (select change_count from news) as change_count,
      (select changes from news) as changes,
      (select consents from news) as consents,
      ${asked ? asksForAll(db, asked.question) : sql`true`} as broad,
      (select count(*) from known_memory)::int as known_count,
      exists (
        select from known_memory where not pinned and not slot group by owner_ref, category
        having count(*) >= ${known.statements}
      ) as known_cut,
      coalesce((select json_agg(f) from listed f), '[]') as memories`;
}

/**
 * CTE `listed_known` (list, ref, place): "profile" is always shown, pinned memories first; "rest" fills the room.
 * Most important, then latest; insights last. Slots are few, and all read; of free statements as many as may be
 * shown.
 */
function knownMemories(
  db: Connection,
  owners: SeenOwners,
  appId: string,
  known: RecallStatement["known"],
): Sql {
  const { schema, now } = db;
  const columns = sql`m.owner_ref, m.ref, m.category, m.pinned, m.key is not null as slot, ${givingWay} as last, m.importance,
    m.updated_at`;
  const holds = sql`m.state = 'active' and ${unexpired(db)} and m.app_id in ('', ${appId}) and m.valid_from <= ${now()}`;
  const readable = sql`m.category = any (${known.categories}::text[])`;
  const order = sql`importance desc, updated_at desc, ref`;
  return sql`
    -- What is known, whatever is asked: slots, what is pinned, and of each category the most important statements.
    known_memory as materialized (
      select k.* from ${owners} s cross join lateral (
        select ${columns} from ${schema}.memory m
        where m.owner_ref = s.id and m.key is not null and m.kind in ('fact', 'insight') and ${readable} and ${holds}
        offset 0
      ) k
      union all
      select p.* from ${owners} s cross join lateral (
        select ${columns} from ${schema}.memory m
        where m.owner_ref = s.id and ${importanceRank} > 10 and m.pinned and (m.key is null or m.kind = 'episode')
          and m.kind in ('fact', 'insight', 'episode') and ${readable} and ${holds}
        order by ${importanceRank} desc, m.updated_at desc, m.ref limit ${known.most}
      ) p
      union all
      select w.* from ${owners} s cross join unnest(${known.categories}::text[]) as each (category)
      cross join lateral (
        select ${columns} from ${schema}.memory m
        where m.owner_ref = s.id and m.category = each.category and m.key is null and not m.pinned
          and m.kind in ('fact', 'insight') and ${holds}
        order by m.importance desc, m.updated_at desc, m.ref limit ${known.statements}
      ) w
    ),
    -- The same with their places in their categories, and whether they are always shown.
    placed_memory as (
      select k.*, k.pinned or k.category = any (${known.shownWhole}::text[]) or k.slot and k.importance >= ${known.minImportance} as always,
        row_number() over (partition by k.category order by k.pinned desc, k.last, k.importance desc, k.updated_at desc, k.ref) as nth
      from known_memory k
    ),
    -- As many of them as the block has room for.
    listed_known as materialized (
      select case when always then 'profile' else 'rest' end as list, ref, place
      from (
        select always, ref, row_number() over (partition by always order by pinned desc, last, ${order}) as place
        from placed_memory
        left join unnest(${known.categories}::text[], ${known.lengths}::int[]) as each (category, most) using (category)
        where pinned or each.most is null or nth <= each.most
      ) k
      where place <= case when always then ${known.most}::int else ${known.rest}::int end
    )`;
}

function noteRows(db: Connection, owners: SeenOwners, { known, notes }: RecallStatement): Sql {
  return sql`
      union all
      select 'note', m.ref, to_json(row_number() over (order by m.trust = 'operator' desc, m.updated_at desc, m.ref)), ${memoryJson(db)}
      from (
        select m.* from ${db.schema}.memory m
        where m.owner_ref = (select id from ${owners} where not is_user) and m.kind = 'note' and m.state = 'active'
          and ${unexpired(db)}
          and m.category = any (${known.categories}::text[])
        order by m.trust = 'operator' desc, m.updated_at desc, m.ref limit ${notes}
      ) m`;
}
