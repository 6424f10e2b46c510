import sql, { type Sql } from "sql-template-tag";
import type { PendingConsent } from "../consents/consent-lines.rule.js";
import {
  type Conversation,
  type ConversationRow,
  conversationOf,
} from "../conversation/find-conversation.js";
import type { ChangeEvent } from "../memories/changes/change-line.js";
import type { Connection } from "../postgres/connection.js";
import type { SeenOwners } from "../search/question-terms.js";

/** A line of the delta header. */
export interface RecalledChange {
  readonly rev: number;
  readonly event: ChangeEvent;
  readonly line: string;
}

/** What a round is told, whatever is asked and wherever the memories come from. */
export interface ToldNews {
  /** Undefined for a thread not seen before, null for another scope's: then nothing else was read. */
  readonly conversation: Conversation | null | undefined;
  /** Revision of the owner's memories. */
  readonly revision: number;
  /** The revision the thread was last told of. */
  readonly revSeen: number;
  readonly changeCount: number;
  /** The most important changes since, most important first. */
  readonly changes: readonly RecalledChange[];
  /** What waits for the user's consent, newest first. */
  readonly consents: readonly PendingConsent[];
}

/** Which news is told. */
export interface NewsSelection {
  readonly appId: string;
  readonly categories: readonly string[];
  /** Most changes. */
  readonly changes: number;
  /** Most requests for consent. */
  readonly consents: number;
}

/** The columns that tell the news. */
export interface NewsRow {
  conversation: ConversationRow | null;
  revision: number | null;
  trimmed_to: number | null;
  change_count: number;
  changes: RecalledChange[];
  consents: PendingConsent[];
}

/** CTEs and columns of a statement that has the CTE `conversation`: what its thread was not told of `owners`. */
export function toldNews(
  db: Connection,
  owners: SeenOwners,
  { appId, categories, changes, consents }: NewsSelection,
): { readonly ctes: Sql; readonly columns: Sql } {
  return {
    ctes: sql`
    -- The owner that news and revisions are of.
    told_owner as materialized (
      select id, revision, changes_trimmed_to from ${owners} order by is_user desc limit 1
    ),
    -- What this thread was not told of, and what waits for the user's consent.
    news as materialized (
      select * from ${db.schema}.round_news(
        array(select id from ${owners}), (select id from told_owner), (select rev_seen::bigint from conversation),
        ${categories}::text[], ${appId}, ${changes}, ${consents}, ${db.now()}
      )
    )`,
    columns: sql`
      (select row_to_json(c) from conversation c) as conversation,
      (select revision from told_owner)::float8 as revision,
      (select changes_trimmed_to from told_owner)::float8 as trimmed_to,
      (select change_count from news) as change_count,
      (select changes from news) as changes,
      (select consents from news) as consents`,
  };
}

/** The news of `row`. */
export function newsOf(row: NewsRow): ToldNews {
  return {
    conversation: conversationOf(row.conversation),
    revision: row.revision ?? 0,
    // A new thread is told of no changes: all that is known is news to it.
    revSeen: Math.max(row.conversation?.rev_seen ?? row.revision ?? 0, row.trimmed_to ?? 0),
    changeCount: row.change_count,
    changes: row.changes,
    consents: row.consents,
  };
}
