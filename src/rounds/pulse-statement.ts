import sql, { raw, type Sql } from "sql-template-tag";
import { mostRoundMessages } from "../conversation/conversation-context.rule.js";
import type { ReadLimits } from "../conversation/conversation-options.js";
import type { ConversationAddress } from "../conversation/find-conversation.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import { type ScopeColumns, scopeColumns } from "../scope/scope-predicates.js";
import { type ComposedStatement, compose, slot } from "../search/composed-statement.js";
import { heldMemoryJson } from "../search/held/held-memory-row.js";
import { heldThreadJson } from "../search/held/held-message-row.js";
import type { Question } from "../search/read-question.js";

/** An owner that this process holds, by `owner.id`, as it stood at `tick`. */
export interface HeldTick {
  readonly ref: number;
  readonly tick: number;
}

/** What one pulse asks for. */
export interface PulseStatement {
  readonly address: ConversationAddress;
  readonly limits: ReadLimits;
  /** Null when nothing is asked. */
  readonly question: Pick<Question, "terms" | "telling"> | null;
  /** The question's words that are known to name a speaker. */
  readonly speakers: readonly string[];
  readonly held: readonly HeldTick[];
  /** The vectors that are held; null for none. */
  readonly space: Pick<EmbeddingSpace, "ref" | "type"> | null;
  /** News is told of these. */
  readonly categories: readonly string[];
  /** Most changes, and most requests for consent, that are told. */
  readonly changes: number;
  readonly consents: number;
}

/**
 * Rows of an owner that a pulse carries: a megabyte with vectors of 384 dimensions. After a larger change the owner is read
 * anew, in pages and beside the answer.
 */
export const mostChangedRows = 500;

/** A pulse with its scope as columns, and the time that it happens at, where a clock tells that. */
interface PulseCall extends PulseStatement {
  readonly scope: ScopeColumns;
  readonly now: unknown;
}

const composed = new Map<string, ComposedStatement<PulseCall>>();

/** Shapes of some hundred schemas; those of more are composed again. */
const mostComposed = 500;

/**
 * The statement that brings held owners up to date, and tells all of a round but what is known. It is small enough to be
 * planned with each call, as behind PgBouncer.
 */
export function pulseStatement(db: Connection, input: PulseStatement): Sql {
  const scope = scopeColumns(input.address.scope);
  return composedPulse(db, input).bind({ ...input, scope, now: db.now().values[0] });
}

/** The statement of pulses like `input`, without its values: composed once for all that have the same shape. */
export function composedPulse(
  db: Connection,
  { space }: Pick<PulseStatement, "space">,
): ComposedStatement<PulseCall> {
  const hasClock = db.now().values.length > 0;
  const key = JSON.stringify([db.schema.text, db.language, hasClock, space?.type.text]);
  const known = composed.get(key);
  if (known) return known;
  if (composed.size === mostComposed) composed.clear();
  const time = sql`${of("now", ({ now }) => now)}::timestamptz`;
  const made = compose<PulseCall>(composePulse(hasClock ? { ...db, now: () => time } : db, space));
  composed.set(key, made);
  return made;
}

/** Stands for a value that comes with each call. */
const of = <Value>(name: string, read: (input: PulseCall) => Value) => slot(name, read);

/** The statement that `pulse.sql` shows: what the schema's function `pulse` tells, with the rows that it found. */
function composePulse(db: Connection, space: PulseStatement["space"]): Sql {
  const { schema } = db;
  const asked = space && { ...space, ref: of("space", (i) => i.space?.ref as number) };
  return sql`
    select p.conversation, p.revision, p.trimmed_to, p.change_count, p.changes, p.consents,
      p.broad, p.lexemes, p.named, p.owners, (date_part('epoch', ${db.now()}) * 1000)::float8 as now,
      -- The memories that changed, each with its owner.
      (
        select json_agg(json_build_array(c.owner_ref, ${heldMemoryJson(db, asked)}))
        from unnest(p.changed_owners, p.changed_memories) c (owner_ref, ref)
        cross join lateral (select * from ${schema}.memory where ref = c.ref limit 1) m
      ) as memories,
      -- The threads in which something was said, with that.
      (
        select json_agg(json_build_array(c.owner_ref, ${heldThreadJson(db, sql`c.first_seq`)}))
        from unnest(p.heard_owners, p.heard_threads, p.heard_from) c (owner_ref, ref, first_seq)
        cross join lateral (select * from ${schema}.thread where id = c.ref limit 1) t
      ) as threads
    from ${schema}.pulse(
      ${of("tenant", ({ scope }) => scope.tenantId)}, ${of("user", ({ scope }) => scope.userId)},
      ${of("app", ({ scope }) => scope.appId)}, ${of("thread", (i) => i.address.threadId)},
      ${of("messages", (i) => i.address.messageIds ?? null)}::text[],
      ${of("recent_messages", (i) => i.limits.recentMessages)}, ${of("recent_bytes", (i) => i.limits.recentBytes)},
      ${raw(`${mostRoundMessages}`)},
      ${of("gap_messages", (i) => i.limits.gapMessages)}, ${of("gap_bytes", (i) => i.limits.gapBytes)},
      ${of("categories", (i) => i.categories)}::text[],
      ${of("changes", (i) => i.changes)}, ${of("consents", (i) => i.consents)},
      ${of("language", () => db.language)}::regconfig,
      ${of("terms", (i) => i.question?.terms ?? null)}::text, ${of("telling", (i) => i.question?.telling ?? null)}::text,
      ${of("speakers", (i) => i.speakers)}::text[],
      ${of("held_owners", (i) => i.held.map(({ ref }) => ref))}::bigint[],
      ${of("held_ticks", (i) => i.held.map(({ tick }) => tick))}::bigint[],
      ${raw(`${mostChangedRows}`)}, ${db.now()}
    ) p`;
}
