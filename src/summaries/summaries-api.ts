import sql from "sql-template-tag";
import { z } from "zod";
import { parseInput } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { requiredScope, requiredThread } from "../scope/scope.js";
import { scopeColumns, threadIs } from "../scope/scope-predicates.js";

export interface Summary {
  readonly id: number;
  readonly threadId: string;
  readonly startSeq: number;
  readonly endSeq: number;
  /** The version that this one updates. */
  readonly baseId: number | null;
  readonly baseEndSeq: number | null;
  readonly status: "processing" | "completed" | "failed";
  readonly text: string | null;
  readonly generationTimeMs: number | null;
  /** Error of the last try, only on the latest version. `memory.jobs.list` has its tries. */
  readonly error: string | null;
  readonly createdAt: Date;
}

export interface SummariesApi {
  /**
   * All versions, oldest first; the last completed is in use.
   * @example
   * ```ts
   * const versions = await memory.summaries.list({ scope: { userId: "ana" }, threadId: "t1" });
   * console.log(versions.at(-1)?.text);
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(page: ListSummaries): Promise<Summary[]>;
}

const pageSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** Only the latest, 1 to 1,000. @default all */
  limit: z.int().min(1).max(1_000).optional(),
  before: z.int().min(0).optional(),
  /** Only completed versions. @default false */
  completed: z.boolean().default(false),
});

interface ListSummaries extends z.input<typeof pageSchema> {}

export function createSummariesApi(db: Connection): SummariesApi {
  return {
    async list(page) {
      const { scope, threadId, limit, before, completed } = parseInput(
        pageSchema,
        page,
        "page of summaries",
      );
      const { tenantId, userId, appId } = scopeColumns(scope);
      // float8 holds every bigint that a sequence reaches.
      const latest = await db.query<Summary>(sql`
        select s.id::float8 as id, t.thread_id as "threadId", s.start_seq as "startSeq", s.end_seq as "endSeq",
          s.base_id::float8 as "baseId",
          (select b.end_seq from ${db.schema}.summary b where b.id = s.base_id) as "baseEndSeq",
          s.status, s.content as text, s.generation_time_ms as "generationTimeMs", s.created_at as "createdAt",
          case when s.status = 'failed' and not exists (
            select from ${db.schema}.summary n where n.thread_ref = s.thread_ref and n.id > s.id
          ) then k.error end as error
        from ${db.schema}.summary s
        join ${db.schema}.thread t on t.id = s.thread_ref
        left join ${db.schema}.work k on k.thread_ref = t.id and k.kind = 'summaries' and k.given_up_at is null
        where ${threadIs(tenantId, threadId)}
          and t.user_id = ${userId} and t.app_id = ${appId}
          and (${before ?? null}::bigint is null or s.id < ${before ?? null}::bigint)
          and (not ${completed}::boolean or s.status = 'completed')
        order by s.id desc limit ${limit ?? null}`);
      return latest.reverse();
    },
  };
}
