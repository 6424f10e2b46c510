import type { ClientBase } from "pg";

/**
 * Makes a new session keep one plan for a prepared statement. For `onConnect` of pools of ours, which waits for it:
 * a second query beside a running one is something pg warns of.
 *
 * Recall is one large statement: planning it takes longer than running it, and compiling it (JIT) hundreds of
 * times longer. PostgreSQL would go on planning it anew, since a plan for known values looks a little cheaper.
 */
export async function preferKeptPlans(client: ClientBase): Promise<void> {
  // Its failure shows in the statement that follows on the same client.
  await client
    .query(
      "select set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false)",
    )
    .catch(() => {});
}
