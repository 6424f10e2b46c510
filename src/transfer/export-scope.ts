import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { pairs } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { findErasureScope, hasOwner } from "../scope/erasure-scope.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { type ExportLine, exportVersion } from "./export-line.js";
import { type ExportPage, madeFields, type RecordName, type RecordType, recordNames, records } from "./records.js";

const pageRows = 500;

/** Read in pages without a snapshot. Import makes vectors and indexes anew. @throws MemoryError `SCOPE_REQUIRED` */
export function exportScope(
  db: Connection,
  requested: Scope,
  now: () => Date,
): AsyncGenerator<ExportLine, void, undefined> {
  return lines(db, parseScope(requested), now);
}

async function* lines(db: Connection, requested: Scope, now: () => Date): AsyncGenerator<ExportLine, void> {
  const exportedAt = now().toISOString();
  yield { type: "header", format: "mnemograph", version: exportVersion, exportedAt, scope: requested };
  const scope = await findErasureScope(db, requested);
  let count = 1;
  for (const name of recordNames.filter((each) => typeOf(each).parent === undefined)) {
    const children = recordNames.filter((each) => typeOf(each).parent === name);
    for await (const { line, cursor } of exportRows(db, name, { scope })) {
      count++;
      yield line;
      for (const child of children) {
        for await (const { line: own } of exportRows(db, child, { scope, thread: cursor[0] })) {
          count++;
          yield own;
        }
      }
    }
  }
  yield { type: "end", lines: count };
}

const typeOf = (name: RecordName): RecordType => records[name];

interface ExportRow {
  readonly line: ExportLine;
  readonly cursor: readonly string[];
}

async function* exportRows(db: Connection, name: RecordName, of: Omit<ExportPage, "after">): AsyncGenerator<ExportRow> {
  for (let after: readonly string[] | null = null; ; ) {
    const rows: ExportRow[] = await exportPage(db, name, { ...of, after });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = last.cursor;
  }
}

async function exportPage(db: Connection, name: RecordName, page: ExportPage): Promise<ExportRow[]> {
  const { key, fields } = typeOf(name);
  const cursor = raw(key.map((column) => `${column}::text`).join(", "));
  const keys = raw(key.join(", "));
  const isAfter = page.after === null ? empty : sql`and (${keys}) > (${join(page.after, ", ")})`;
  const made = madeFields(fields, ({ out }) => out);
  const line = sql`${raw(`'type', '${name}'`)}, ${pairs(fields, "x", made)}`;
  return db.query<ExportRow & Record<string, unknown>>(sql`
    select array[${cursor}] as cursor, json_build_object(${line}) as line
    from ${rowsOf(db, name, page)} ${isAfter}
    order by ${keys} limit ${pageRows}`);
}

export function rowsOf(db: Connection, name: RecordName, page: ExportPage): Sql {
  const { table, rows } = typeOf(name);
  return rows?.(db, page) ?? sql`${db.schema}.${raw(table)} x where ${hasOwner(page.scope)}`;
}
