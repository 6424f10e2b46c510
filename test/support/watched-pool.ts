import type pg from "pg";

/** A statement as it was sent. */
export interface WatchedStatement {
  readonly text: string;
  readonly values: unknown[];
}

/** `pool`, with every statement that goes through it noted. Checked out clients count as one statement. */
export function watchedPool(pool: pg.Pool): { pool: pg.Pool; statements: WatchedStatement[] } {
  const statements: WatchedStatement[] = [];
  const watched = new Proxy(pool, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (property === "query") statements.push(statementOf(args));
        if (property === "connect") statements.push({ text: "(a client)", values: [] });
        return value.apply(target, args);
      };
    },
  });
  return { pool: watched, statements };
}

/** Of `query(text, values)` or `query({ text, values })`. */
function statementOf([first, values]: unknown[]): WatchedStatement {
  const given = typeof first === "string" ? { text: first, values } : (first as pg.QueryConfig);
  return { text: given.text, values: (given.values as unknown[] | undefined) ?? [] };
}
