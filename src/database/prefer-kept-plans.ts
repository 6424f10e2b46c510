import type pg from "pg";

/**
 * Makes each new session of a pool of ours keep one plan for a prepared statement.
 *
 * Recall is one large statement: planning it takes longer than running it, and compiling it (JIT) hundreds of
 * times longer. PostgreSQL would go on planning it anew, since a plan for known values looks a little cheaper.
 */
export function preferKeptPlans(pool: pg.Pool): void {
  pool.on("connect", (client) => {
    // Its failure shows in the statement that follows on the same client.
    client
      .query("select set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false)")
      .catch(() => {});
  });
}
