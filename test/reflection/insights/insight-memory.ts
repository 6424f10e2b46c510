import type { Memory } from "../../../src/memory.js";
import { candidate, facts, type TaskReplies, taskModel } from "../../support/task-model.js";
import type { TestDatabase } from "../../support/test-database.js";
import type { Address } from "../../support/thread-facts.js";

export const config = {
  memories: { extract: true },
  insights: { enabled: true },
  upkeep: { retryDelayMs: 0 },
};

/** Facts are what is said of the user, word for word. */
export const learns: TaskReplies = {
  fact_extraction: (prompt) => {
    const [, said = ""] = /<message number="1"[^>]*>([^<]*)</.exec(prompt) ?? [];
    return said.startsWith("The user") ? facts(candidate(said, said)) : facts();
  },
};

/** A model that learns facts, and gives these insights in each run. */
export const understands = (...insights: readonly Record<string, unknown>[]) =>
  taskModel({ ...learns, user_insights: () => ({ structured: { insights } }) });

export const insightsOf = (memory: Memory, { scope }: Pick<Address, "scope">) =>
  memory.memories.list({ scope, kinds: ["insight"] });

/** The work on insights of the user, unless it was given up. */
export async function insightWorkOf(
  { pool, schema }: TestDatabase,
  { scope }: Pick<Address, "scope">,
) {
  const { rows } = await pool.query<{
    attempts: number;
    retry_at: Date | null;
    done_at: Date | null;
  }>(
    `select k.attempts, k.retry_at, k.done_at from "${schema}".work k
     join "${schema}".owner o on o.id = k.owner_ref
     where o.user_id = $1 and k.kind = 'insights' and k.given_up_at is null`,
    [scope.userId],
  );
  return rows[0];
}

export async function insightEventsOf(
  { pool, schema }: TestDatabase,
  { scope }: Pick<Address, "scope">,
) {
  const { rows } = await pool.query<{ op: string; status: string; detail: string | null }>(
    `select op, status, detail from "${schema}".event
     where user_id = $1 and step = 'insights' and memory_id is null and op <> 'search' order by id`,
    [scope.userId],
  );
  return rows.map(({ op, status, detail }) => `${op} ${status} ${detail}`);
}
