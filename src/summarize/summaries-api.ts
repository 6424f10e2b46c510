import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { parseInput, spanMs } from "../domain/parse-input.js";
import { parseScoped, parseScopeIn, type Scope, scopeField } from "../domain/scope.js";
import { parseThreadId } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import {
  listStuckSummaries,
  listSummaries,
  listSummaryChain,
  listSummaryProgress,
  type Summary,
  type SummaryProgress,
} from "../store/list-summaries.js";
import { rollbackSummary } from "../store/rollback-summary.js";
import { type SummaryStats, summaryStats } from "../store/summary-stats.js";

/** A conversation and whom it belongs to. */
export interface ThreadAddress {
  readonly scope: Scope;
  readonly threadId: string;
}

/** The versions of conversations' summaries. */
export interface SummariesApi {
  /** Every version of a thread's summary, oldest first, failed ones too. */
  list(thread: ThreadAddress): Promise<Summary[]>;
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
const addressSchema = z.strictObject({ scope: scopeField, threadId: z.unknown() });
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
    list: async (thread) => listSummaries(db, address(thread)),
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
