import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { pairs } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { findErasureScope, hasOwner } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { type ExportLine, exportVersion } from "./export-line.js";
import { derivedFields, type ExportPage, type RecordType } from "./record-type.js";
import { type RecordName, recordNames, records } from "./records.js";

const pageRowsField = 500;

/** Reads in pages without a snapshot. An import rebuilds vectors and indexes. */
export async function* exportLines(
  db: Connection,
  requested: Scope,
  now: () => Date,
): AsyncGenerator<ExportLine> {
  const exportedAt = now().toISOString();
  yield {
    type: "header",
    format: "mnemograph",
    version: exportVersion,
    exportedAt,
    scope: requested,
  };
  const scope = await findErasureScope(db, requested);
  let count = 1;
  for (const name of recordNames.filter((each) => typeOf(each).parent === undefined)) {
    const children = recordNames.filter((each) => typeOf(each).parent === name);
    for await (const { line, cursor } of exportRows(db, name, { scope })) {
      count++;
      yield line;
      for (const child of children) {
        for await (const { line: childLine } of exportRows(db, child, {
          scope,
          thread: cursor[0],
        })) {
          count++;
          yield childLine;
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

async function* exportRows(db: Connection, name: RecordName, page: Omit<ExportPage, "after">) {
  for (let after: readonly string[] | null = null; ; ) {
    const rows: ExportRow[] = await exportPage(db, name, { ...page, after });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRowsField) return;
    after = last.cursor;
  }
}

async function exportPage(
  db: Connection,
  name: RecordName,
  page: ExportPage,
): Promise<ExportRow[]> {
  const { key, fields } = typeOf(name);
  const cursor = raw(key.map((column) => `${column}::text`).join(", "));
  const keys = raw(key.join(", "));
  const isAfter = page.after === null ? empty : sql`and (${keys}) > (${join(page.after, ", ")})`;
  const derived = derivedFields(fields, ({ out }) => out);
  const line = sql`${raw(`'type', '${name}'`)}, ${pairs(fields, "x", derived)}`;
  return db.query<ExportRow & Record<string, unknown>>(sql`
    select array[${cursor}] as cursor, json_build_object(${line}) as line
    from ${rowsOf(db, name, page)} ${isAfter}
    order by ${keys} limit ${pageRowsField}`);
}

export function rowsOf(db: Connection, name: RecordName, page: ExportPage): Sql {
  const { table, rows } = typeOf(name);
  return rows?.(db, page) ?? sql`${db.schema}.${raw(table)} x where ${hasOwner(page.scope)}`;
}
