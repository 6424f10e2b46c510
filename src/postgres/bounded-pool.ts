import type pg from "pg";
import type { ClientBase } from "pg";
import type { OpenPool } from "./acquire-client.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import { toMemoryError } from "./database-error.js";
import { withinDeadline } from "./statement-deadline.js";

/** How long what goes through a pool may take. */
export interface PoolBounds {
  readonly schemaName: string;
  readonly breaker: CircuitBreaker;
  /** Where its clients come from. */
  readonly opened: OpenPool;
  /** Longest time of a statement. @default none */
  readonly statementTimeoutMs: number | undefined;
}

type Ask = (...args: unknown[]) => Promise<unknown>;

/**
 * `pool` for a library that takes one, as LangGraph's checkpointer: its clients and statements have bounds, and while
 * the database is left alone it is refused at once. Otherwise a database that swallows packets would stall a turn
 * before memory is even asked. Its errors are `MemoryError`s.
 */
export function boundedPool(pool: pg.Pool, bounds: PoolBounds): pg.Pool {
  const { breaker, opened, statementTimeoutMs, schemaName } = bounds;
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  const ask = (client: ClientBase, args: unknown[]) =>
    withinDeadline(client, statementTimeoutMs, () => (client.query as unknown as Ask).apply(client, args));

  const query: Ask = (...args) =>
    breaker.guard(() => opened.use((client) => ask(client, args))).catch(reported);
  const connect = async () => {
    breaker.refuse();
    // That a client is there says nothing of a database that has fallen silent; that none comes does.
    const client = await opened
      .acquire()
      .catch((error: unknown) => breaker.watch((): Promise<never> => Promise.reject(error)).catch(reported));
    const ignore = () => {};
    client.on("error", ignore);
    return replaced(client, {
      query: (...args: unknown[]) => breaker.watch(() => ask(client, args)).catch(reported),
      release(error?: Error | boolean) {
        client.removeListener("error", ignore);
        client.release(error);
      },
    });
  };
  return replaced(pool, { query, connect });
}

/** `target` with other methods of these names; the rest is its own. */
function replaced<Target extends object>(target: Target, methods: Readonly<Record<string, unknown>>): Target {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && Object.hasOwn(methods, name)) return methods[name];
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
