import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { pairs } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { findErasureScope, hasOwner } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { type ExportLine, exportVersion } from "./export-line.js";
import { derivedFields, type ExportPage } from "./record-type.js";
import { type RecordName, recordNames, recordTypeOf } from "./records.js";

const pageRows = 500;

/**
 * Reads in pages without a snapshot, which would stay open as long as its reader takes. An import
 * rebuilds vectors and indexes.
 */
export async function* exportLines(
  db: Connection,
  requested: Scope,
  now: () => Date,
): AsyncGenerator<ExportLine> {
  const exportedAt = now().toISOString();
  const header = { type: "header", format: "mnemograph", version: exportVersion } as const;
  yield { ...header, exportedAt, scope: requested };
  const scope = await findErasureScope(db, requested);
  const exported = createExported();
  let lines = 1;
  for (const name of recordNames) {
    // Summaries and messages follow their thread.
    if (recordTypeOf(name).parent) continue;
    const children = recordNames.filter((each) => recordTypeOf(each).parent === name);
    for await (const { line, cursor } of exportRows(db, name, { scope })) {
      if (!exported.refersTo(line)) continue;
      exported.note(line);
      lines++;
      yield line;
      for (const child of children) {
        for await (const row of exportRows(db, child, { scope, thread: cursor[0] })) {
          exported.note(row.line);
          lines++;
          yield row.line;
        }
      }
    }
  }
  yield { type: "end", lines };
}

/**
 * What the lines so far have. `refersTo` is false for a line of what came while the export was read:
 * of a thread, message or memory that it lacks, or of a later revision than its owner's. An import
 * would refuse it, or number the next turn or change like it.
 */
function createExported() {
  let revision = 0;
  const lastSeqs = new Map<string, number>();
  const memoryIds = new Set<string>();
  const note = (line: ExportLine) => {
    if (line.type === "owner") revision = line.revision;
    if (line.type === "thread") lastSeqs.set(line.threadId, -1);
    if (line.type === "message") lastSeqs.set(line.threadId, line.seq);
    if (line.type === "memory") memoryIds.add(line.id);
  };
  const refersTo = (line: ExportLine) => {
    switch (line.type) {
      case "shown":
        return line.seq <= (lastSeqs.get(line.threadId) ?? -1);
      case "work":
        return lastSeqs.has(line.threadId);
      case "relation":
        return memoryIds.has(line.from) && memoryIds.has(line.to);
      case "change":
        return line.revision <= revision;
      default:
        return true;
    }
  };
  return { note, refersTo };
}

type ExportRow = { readonly line: ExportLine; readonly cursor: readonly string[] };

async function* exportRows(db: Connection, name: RecordName, of: Omit<ExportPage, "after">) {
  const { key, fields } = recordTypeOf(name);
  const cursor = raw(key.map((column) => `${column}::text`).join(", "));
  const keys = raw(key.join(", "));
  const derived = derivedFields(fields, ({ out }) => out);
  const line = sql`${raw(`'type', '${name}'`)}, ${pairs(fields, "x", derived)}`;
  let after: readonly string[] | null = null;
  for (;;) {
    const isAfter: Sql = after === null ? empty : sql`and (${keys}) > (${join(after, ", ")})`;
    const rows: ExportRow[] = await db.query<ExportRow>(sql`
      select array[${cursor}] as cursor, json_build_object(${line}) as line
      from ${rowsOf(db, name, { ...of, after })} ${isAfter}
      order by ${keys} limit ${pageRows}`);
    yield* rows;
    if (rows.length < pageRows) return;
    after = rows.at(-1)?.cursor ?? null;
  }
}

export function rowsOf(db: Connection, name: RecordName, page: ExportPage): Sql {
  const { table, rows } = recordTypeOf(name);
  return rows?.(db, page) ?? sql`${db.schema}.${raw(table)} x where ${hasOwner(page.scope)}`;
}
