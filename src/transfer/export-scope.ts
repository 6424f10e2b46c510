import sql, { join, raw, type Sql } from "sql-template-tag";
import { pairs } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, findErasureScope } from "../scope/erasure-scope.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { type ExportLine, type ExportLineOf, exportVersion } from "./export-line.js";
import {
  type ExportedThread,
  type ExportPage,
  type RecordName,
  type RecordType,
  recordTypes,
  rowsOf,
} from "./record-types.js";

/** Rows read in one statement. */
const pageRows = 500;

/**
 * Everything that `forget` would take of `scope` but events, dead letters and checkpoints, line by line: a header;
 * threads, each with its messages and summaries; memories, their links, their audit trail, the news, and consents;
 * the items of LangGraph's store; and a last line that says how many there were. Vectors and indexes are made anew by import.
 *
 * Read in pages, without a snapshot: what others write meanwhile may be in it or not, and of a memory and what
 * replaced it there may be both. For an exact copy export while nobody writes.
 *
 * @throws MemoryError `SCOPE_REQUIRED`
 */
export function exportScope(
  db: Connection,
  requested: Scope,
  now: () => Date,
): AsyncGenerator<ExportLine, void, undefined> {
  const scope = parseScope(requested);
  return counted(lines(db, scope, now));
}

async function* counted(of: AsyncIterable<ExportLine>): AsyncGenerator<ExportLine, void, undefined> {
  let count = 0;
  for await (const line of of) {
    count++;
    yield line;
  }
  yield { type: "end", lines: count };
}

async function* lines(db: Connection, requested: Scope, now: () => Date): AsyncGenerator<ExportLine> {
  const exportedAt = now().toISOString();
  yield { type: "header", format: "mnemograph", version: exportVersion, exportedAt, scope: requested };
  const scope = await findErasureScope(db, requested);
  // The owner comes first, so that import counts on from the last revision.
  for (const name of [
    "owner",
    "thread",
    "memory",
    "relation",
    "history",
    "change",
    "consent",
    "item",
  ] as const) {
    for await (const { line, cursor } of exportRows(db, name, { scope })) {
      yield line;
      if (line.type !== "thread") continue;
      const thread = { ref: Number(cursor[0]), threadId: line.threadId, lastSeq: -1 };
      for await (const { line: message } of exportRows(db, "message", { scope, thread })) {
        thread.lastSeq = message.seq;
        yield message;
      }
      for await (const { line: summary } of exportRows(db, "summary", { scope, thread })) yield summary;
    }
  }
}

/** A line of an export, and where it stands in the order of its kind. */
interface ExportRow<Line extends ExportLine> {
  readonly line: Line;
  /** The row's key, which the next page goes on from. */
  readonly cursor: readonly string[];
}

/** The records of one type, page after page, until one is not full. */
async function* exportRows<Name extends RecordName>(
  db: Connection,
  name: Name,
  of: { readonly scope: ErasureScope; readonly thread?: ExportedThread },
): AsyncGenerator<ExportRow<ExportLineOf<Name>>> {
  for (let after: readonly string[] | null = null; ; ) {
    const rows: ExportRow<ExportLineOf<Name>>[] = await exportPage(db, name, { ...of, after });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = last.cursor;
  }
}

/** The lines of one page of records, in their order. */
async function exportPage<Name extends RecordName>(
  db: Connection,
  name: Name,
  page: ExportPage,
): Promise<ExportRow<ExportLineOf<Name>>[]> {
  const type: RecordType = recordTypes[name];
  const { key } = type;
  const cursor = raw(key.map((column) => `${column}::text`).join(", "));
  const keys = raw(key.join(", "));
  const after = join(page.after ?? key.map(() => "-1"), ", ");
  return db.query<ExportRow<ExportLineOf<Name>> & Record<string, unknown>>(sql`
    select array[${cursor}] as cursor, ${lineOf(db, name, type, page)} as line
    from ${rowsOf(db, name, page)} and (${keys}) > (${after})
    order by ${keys} limit ${pageRows}`);
}

/** A row as its line. Fields of `jsonb` are ordered by their names' length, those of `json` as they are given. */
function lineOf(
  db: Connection,
  name: RecordName,
  { columns, instead, more, row = "x", form }: RecordType,
  { scope, thread }: ExportPage,
): Sql {
  // 'type', 'memory', 'id', x.id, 'kind', x.kind, …
  const parts = [
    raw(`'type', '${name}'`),
    ...(thread ? [sql`'threadId', ${thread.threadId}::text`] : []),
    pairs(columns, row, instead),
    ...(more ? [more(db)] : []),
  ];
  const fields = join(parts, ", ");
  if (form === "sparse") return sql`json_strip_nulls(json_build_object(${fields}))`;
  if (form !== "app") return sql`json_build_object(${fields})`;
  const app = scope.userId !== "" && scope.whole ? sql`nullif(x.app_id, '')` : sql`null`;
  return sql`(jsonb_build_object(${fields}) || jsonb_strip_nulls(jsonb_build_object('appId', ${app})))`;
}
