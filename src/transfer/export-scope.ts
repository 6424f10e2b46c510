import type { Connection } from "../postgres/connection.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { type ExportLine, exportVersion } from "./export-line.js";
import {
  type ExportPage,
  type ExportRow,
  exportChanges,
  exportConsents,
  exportHistory,
  exportMemories,
  exportMessages,
  exportOwner,
  exportRelations,
  exportSummaries,
  exportThreads,
} from "./export-rows.js";

/** Rows read in one statement. */
const pageRows = 500;

/**
 * Everything that `forget` would take of `scope` but events, dead letters and checkpoints, line by line: a header;
 * threads, each with its messages and summaries; memories, their links, their audit trail, the news, and consents;
 * and a last line that says how many there were. Vectors and indexes are made anew by import.
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
  const owner = await exportOwner(db, scope);
  // First, so that import counts on from the last revision.
  if (owner) yield owner;
  const rowsOf = <Row extends ExportRow>(page: (db: Connection, of: ExportPage) => Promise<Row[]>) =>
    allRows((after) => page(db, { scope, after, limit: pageRows }));
  for await (const { line: thread, cursor } of rowsOf(exportThreads)) {
    yield thread;
    const of = { threadRef: cursor[0] ?? "", threadId: thread.threadId, limit: pageRows };
    let lastSeq = -1;
    for await (const { line } of allRows((after) => exportMessages(db, { ...of, after }))) {
      lastSeq = line.seq;
      yield line;
    }
    // A summary of what was said since the messages were read would be one of none.
    const summaries = (after: readonly string[] | null) => exportSummaries(db, { ...of, lastSeq, after });
    for await (const { line } of allRows(summaries)) yield line;
  }
  for (const section of [exportMemories, exportRelations, exportHistory, exportChanges, exportConsents]) {
    for await (const { line } of rowsOf<ExportRow>(section)) yield line;
  }
}

/** Page after page, until one is not full. */
async function* allRows<Row extends ExportRow>(
  page: (after: readonly string[] | null) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let after: readonly string[] | null = null; ; ) {
    const rows: Row[] = await page(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = last.cursor;
  }
}
