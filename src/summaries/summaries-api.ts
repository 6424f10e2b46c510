import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import {
  parseScoped,
  parseScopeIn,
  parseThreadId,
  type Scope,
  scopeField,
  type ThreadAddress,
  threadField,
} from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { parseInput, spanMs } from "../text/parse-input.js";
import {
  listStuckSummaries,
  listSummaries,
  listSummaryChain,
  listSummaryProgress,
  type Summary,
  type SummaryPage,
  type SummaryProgress,
  type SummaryStats,
  summaryStats,
} from "./list-summaries.js";

/**
 * Makes a completed summary the one in use again, by marking every later one of its thread as rolled back;
 * one in the making is failed. False when the thread has no such completed summary.
 */
async function rollbackSummary(
  db: Connection,
  input: { scope: Scope; threadId: string; summaryId: number },
): Promise<boolean> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const [row] = await db.query<{ found: boolean }>(sql`
    with target as (
      select s.id, s.thread_ref
      from ${db.schema}.summary s join ${db.schema}.thread t on t.id = s.thread_ref
      where s.id = ${input.summaryId} and s.status = 'completed'
        and t.tenant_id = ${tenantId} and t.thread_id = ${input.threadId}
        and t.user_id = ${userId} and t.app_id = ${appId}
    ),
    later as (
      update ${db.schema}.summary s
      set rolled_back_at = ${db.now()},
        status = case when s.status = 'processing' then 'failed' else s.status end,
        error = case when s.status = 'processing' then 'rolled back' else s.error end,
        lease_until = null, retry_at = null
      from target
      where s.thread_ref = target.thread_ref and s.id > target.id and s.rolled_back_at is null
      returning s.id
    ),
    restored as (
      update ${db.schema}.summary s set rolled_back_at = null from target where s.id = target.id returning s.id
    )
    select exists (select from target) as found, (select count(*) from later), (select count(*) from restored)`);
  return row?.found ?? false;
}

/** The versions of conversations' summaries. */
export interface SummariesApi {
  /**
   * Every version of a thread's summary, oldest first, failed ones too; or the latest `limit` of them, and those before.
   *
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(thread: ThreadAddress & SummaryPage): Promise<Summary[]>;
  /** The summary in use and those it was made from, newest first. */
  chain(thread: ThreadAddress): Promise<Summary[]>;
  /** Summaries of all threads still `processing` after `olderThanMs`, up to 100 years. @default 300000: twice the lease */
  stuck(olderThanMs?: number): Promise<Summary[]>;
  /**
   * How the windows move: the summaries completed last, latest first, of a scope's threads or of all.
   *
   * @param of.limit rows, 1 to 1,000. @default 20
   * @throws MemoryError `INVALID_INPUT`
   */
  progress(of?: { readonly scope?: Scope; readonly limit?: number }): Promise<SummaryProgress[]>;
  /** Counts and model times over all threads. */
  stats(): Promise<SummaryStats>;
  /** Makes an earlier completed version the one in use. @throws MemoryError `NOT_FOUND` */
  rollback(input: ThreadAddress & { readonly summaryId: number }): Promise<void>;
}

const progressSchema = z.strictObject({
  scope: scopeField,
  limit: z.int().min(1).max(1_000).default(20),
});
const addressSchema = z.strictObject({ scope: scopeField, threadId: threadField });
const pageSchema = addressSchema.extend({
  limit: z.int().min(1).max(1_000).optional(),
  before: z.int().min(0).optional(),
});
const versionSchema = addressSchema.extend({ summaryId: z.int() });

function addressOf({
  scope,
  threadId,
}: {
  readonly scope: Scope;
  readonly threadId?: unknown;
}): ThreadAddress {
  return { scope, threadId: parseThreadId(threadId) };
}

/** The `SummariesApi` on `db`. */
export function createSummariesApi(db: Connection): SummariesApi {
  const address = (thread: ThreadAddress) => addressOf(parseScoped(addressSchema, thread, "thread"));
  return {
    async list(page) {
      const { limit, before, ...thread } = parseScoped(pageSchema, page, "page of summaries");
      return listSummaries(db, { ...addressOf(thread), limit, before });
    },
    chain: async (thread) => listSummaryChain(db, address(thread)),
    stuck: async (olderThanMs = 300_000) =>
      listStuckSummaries(db, parseInput(spanMs, olderThanMs, "age in milliseconds")),
    async progress(of = {}) {
      const { limit } = parseInput(progressSchema, of, "list of summaries");
      return listSummaryProgress(db, { scope: parseScopeIn(of) ?? null, limit });
    },
    stats: () => summaryStats(db),
    async rollback(version) {
      const { summaryId, ...thread } = parseScoped(versionSchema, version, "version");
      if (await rollbackSummary(db, { ...addressOf(thread), summaryId })) return;
      throw new MemoryError(
        "NOT_FOUND",
        `Thread "${thread.threadId}" has no completed summary ${summaryId}.`,
      );
    },
  };
}
