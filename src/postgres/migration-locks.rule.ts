/** A table that a migration locks, and how: PostgreSQL's names of its lock modes. */
export interface LockedTable {
  readonly table: string;
  readonly lock:
    | "ACCESS EXCLUSIVE"
    | "SHARE ROW EXCLUSIVE"
    | "SHARE"
    | "SHARE UPDATE EXCLUSIVE"
    | "ROW EXCLUSIVE";
}

/**
 * The lock of each kind of statement that a migration may have; null: none on a table that is there already.
 *
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-TABLES
 */
const kinds: readonly (readonly [beginning: RegExp, lock: LockedTable["lock"] | null])[] = [
  [/^create table /, null],
  [/^(?:create (?:or replace )?|drop )function /, null],
  [/^create (?:unique )?index concurrently .*? on (?<table>\S+)/s, "SHARE UPDATE EXCLUSIVE"],
  [/^create (?:unique )?index .*? on (?<table>\S+)/s, "SHARE"],
  [/^create (?:or replace )?trigger .*? on (?<table>\S+)/s, "SHARE ROW EXCLUSIVE"],
  [/^alter table (?<table>\S+) validate constraint /, "SHARE UPDATE EXCLUSIVE"],
  [/^alter table (?<table>\S+)/, "ACCESS EXCLUSIVE"],
  [/^drop table (?<table>\S+)/, "ACCESS EXCLUSIVE"],
  [/^(?:update|insert into|delete from) (?<table>\S+)/, "ROW EXCLUSIVE"],
];

/**
 * What `statements` lock of the tables of `schema`, a quoted name, in their order; each lock of a table once.
 *
 * @throws RangeError for a statement of another kind: migrations are written so that their locks can be told.
 */
export function locksOf(statements: readonly string[], schema: string): LockedTable[] {
  const locks = new Map<string, LockedTable>();
  for (const statement of statements) {
    const kind = kinds.find(([beginning]) => beginning.test(statement));
    if (!kind)
      throw new RangeError(
        `A migration has a statement whose locks are not known: ${statement.slice(0, 80)}`,
      );
    const [beginning, lock] = kind;
    const table = beginning.exec(statement)?.groups?.table?.replace(`${schema}.`, "");
    if (lock !== null && table !== undefined) locks.set(`${table} ${lock}`, { table, lock });
  }
  return [...locks.values()];
}
