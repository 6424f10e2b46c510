export interface LockedTable {
  readonly table: string;
  readonly lock: `${"ACCESS" | "SHARE ROW" | "SHARE UPDATE" | "ROW"} EXCLUSIVE` | "SHARE";
}

/**
 * null: none on existing tables.
 * @see https://www.postgresql.org/docs/current/explicit-locking.html
 */
const kinds: readonly (readonly [beginning: RegExp, lock: LockedTable["lock"] | null])[] = [
  [/^create (?:table|type) /, null],
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
 * Locks on tables of `schema`, a quoted name, each once.
 * @throws RangeError for unknown statements
 */
export function locksOf(statements: readonly string[], schema: string): LockedTable[] {
  const locks = new Map<string, LockedTable>();
  for (const statement of statements) {
    const kind = kinds.find(([beginning]) => beginning.test(statement));
    const start = statement.slice(0, 80);
    if (!kind)
      throw new RangeError(`A migration has a statement whose locks are not known: ${start}`);
    const [beginning, lock] = kind;
    const table = beginning.exec(statement)?.groups?.table?.replace(`${schema}.`, "");
    if (lock !== null && table !== undefined) locks.set(`${table} ${lock}`, { table, lock });
  }
  return [...locks.values()];
}
