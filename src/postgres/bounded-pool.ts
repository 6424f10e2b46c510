import type pg from "pg";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import type { OpenPool } from "./acquire-client.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import { isConnectionError, toMemoryError } from "./database-error.js";
import { reconnect, retrying } from "./retry.js";
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

/** What a library asks of a pool for a transaction. */
export type ClientSource = Pick<pg.Pool, "connect">;

/** What a library that takes a pool is given, as LangGraph's checkpointer: its clients and statements have bounds. */
export interface BoundedPool {
  /**
   * The pool, which refuses at once while the database is left alone: otherwise one that swallows packets would stall a
   * turn before memory is even asked. Its errors are `MemoryError`s. Statements of its own, which are to be such as may
   * be repeated, are tried again on another connection where one was lost.
   */
  readonly pool: pg.Pool;
  /** `work`, begun anew with other clients where it lost its connection: for what may be done twice. */
  repeatable<Result>(work: (clients: ClientSource) => Promise<Result>): Promise<Result>;
}

/** `pool` for a library that takes one. */
export function boundedPool(pool: pg.Pool, bounds: PoolBounds): BoundedPool {
  const { breaker, opened, statementTimeoutMs, schemaName } = bounds;
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  const ask = (client: ClientBase, args: unknown[]) =>
    withinDeadline(client, statementTimeoutMs, () => (client.query as unknown as Ask).apply(client, args));

  const query: Ask = (...args) => {
    const once = () => opened.use((client) => ask(client, args));
    return breaker.guard(() => retrying(once, reconnect)).catch(reported);
  };
  const connect = async () => {
    breaker.refuse();
    // That a client is there says nothing of a database that has fallen silent; that none comes does.
    const client = await opened
      .acquire()
      .catch((error: unknown) => breaker.watch((): Promise<never> => Promise.reject(error)).catch(reported));
    return lent(client, (args) => breaker.watch(() => ask(client, args)).catch(reported));
  };
  const clients: ClientSource = {
    async connect() {
      const client = await opened.acquire();
      return lent(client, (args) => ask(client, args));
    },
  };
  return {
    pool: replaced(pool, { query, connect }),
    repeatable: (work) => breaker.guard(() => retrying(() => work(clients), reconnect)).catch(reported),
  };
}

/** `client` for a library, which asks it by `ask` and gives it back. */
function lent(client: pg.PoolClient, ask: (args: unknown[]) => Promise<unknown>): pg.PoolClient {
  let failure: unknown;
  const ignore = () => {};
  client.on("error", ignore);
  return replaced(client, {
    // On a lost connection the rollback fails as well: why, the first error says.
    query: (...args: unknown[]) =>
      ask(args).catch((error: unknown) => {
        failure ??= error;
        throw failure;
      }),
    release(error?: Error | boolean) {
      client.removeListener("error", ignore);
      client.release(error ?? isConnectionError(MemoryError.is(failure) ? failure.cause : failure));
    },
  });
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
