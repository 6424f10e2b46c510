import type pg from "pg";

export interface WatchedStatement {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * `pool` with a record of its statements. A transaction counts as one; its others are in
 * `inTransactions`.
 */
export function watchedPool(pool: pg.Pool) {
  const statements: WatchedStatement[] = [];
  const inTransactions: WatchedStatement[] = [];
  const watched = new Proxy(pool, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (property === "query") statements.push(statementOf(args));
        if (property !== "connect") return value.apply(target, args);
        return value.apply(target, args).then((client: pg.PoolClient) => {
          let list = statements;
          return watchedClient(client, (statement) => {
            list.push(statement);
            list = inTransactions;
          });
        });
      };
    },
  });
  return { pool: watched, statements, inTransactions };
}

function watchedClient(
  client: pg.PoolClient,
  note: (statement: WatchedStatement) => void,
): pg.PoolClient {
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (property === "query") note(statementOf(args));
        return value.apply(target, args);
      };
    },
  });
}

function statementOf([first, values]: unknown[]): WatchedStatement {
  const given = typeof first === "string" ? { text: first, values } : (first as pg.QueryConfig);
  return { text: given.text, values: (given.values as unknown[] | undefined) ?? [] };
}
