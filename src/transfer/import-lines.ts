import { createHash } from "node:crypto";
import sql, { join, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError, messageOf } from "../errors.js";
import { abortSignal, callback, parseInput } from "../input/parse-input.js";
import { reportQuarantined } from "../memories/write/write-memories.js";
import { insertEvents } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { asTenant } from "../postgres/isolation.js";
import type { Runtime } from "../runtime.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import { parseScope, parseScopeIn, type Scope, scopeField } from "../scope/scope.js";
import { isId, lockOwner, scopeColumns } from "../scope/scope-predicates.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { rowsOf } from "./export-scope.js";
import { insertRecords } from "./insert-records.js";
import { lineError, linesOf, type NumberedLine, readExport } from "./read-export.js";
import { recordNames, recordTypeOf } from "./records.js";
import { type ImportableLine, importable } from "./screen-line.js";

const importSchema = z.strictObject({
  /** Each as text, or as `export` yields it. */
  lines: z.custom<AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>>(
    isIterableInput,
    "must be the lines of `export`, or lines of text",
  ),
  scope: scopeField,
  /** Called after each batch with the lines read. */
  onProgress: callback<(progress: { readonly lines: number }) => void>().optional(),
  /** Stops between two transactions, with its reason as the error; run it again to continue. */
  signal: abortSignal.optional(),
});

export interface ImportInput extends Omit<z.input<typeof importSchema>, "scope"> {
  /**
   * The new owner, with the same kinds of ids as the exported scope.
   * @default the exported scope
   */
  readonly scope?: Scope | undefined;
}

export interface Imported {
  readonly scope: Scope;
  readonly lines: number;
  /** Lines that this run wrote, by type. */
  readonly written: Readonly<Record<string, number>>;
  readonly total: number;
  /** Memories that this run put in quarantine. */
  readonly quarantined: number;
}

/** Limits of a transaction. */
const batchLines = 500;
const batchCharacters = 4_000_000;

/**
 * Writes a transaction per batch; the same file continues after its last batch. Keeps ids, times,
 * trust and consent.
 */
export async function importLines(
  runtime: Pick<Runtime<object>, "db" | "logger" | "redactor" | "screen">,
  input: ImportInput,
): Promise<Imported> {
  const { db, logger } = runtime;
  const { onProgress, signal } = parseInput(importSchema, input, "import");
  const target = parseScopeIn(input);
  const written: Record<string, number> = {};
  let [lines, total, quarantined] = [0, 0, 0];
  let source: ImportSource | undefined;
  for await (const batch of batches(readExport(input.lines))) {
    signal?.throwIfAborted();
    source ??= importSource(batch, target);
    const progress = { ...source, hasBegun: lines > 0 };
    const added = await asTenant(source.scope.tenantId, async () => {
      // Skip what an earlier run wrote; redact and screen the others, and write them.
      const done = (await findProgress(db, progress)) ?? 0;
      const remaining: ImportableLine[] = [];
      for (const each of batch)
        if (each.number > done) remaining.push(await importable(runtime, each));
      if (remaining.length > 0) await writeLines(db, progress, remaining);
      return remaining;
    });
    for (const { line } of added) {
      if (line.type === "header" || line.type === "end") continue;
      written[line.type] = (written[line.type] ?? 0) + 1;
      total++;
    }
    const memoryIds = quarantinedIn(added).map(({ line }) => line.id);
    reportQuarantined(logger, { step: "import", memoryIds });
    quarantined += memoryIds.length;
    lines += batch.length;
    onProgress?.({ lines });
  }
  return { scope: (source as ImportSource).scope, lines, written, total, quarantined };
}

const quarantinedIn = (lines: readonly ImportableLine[]) =>
  linesOf(
    lines.filter(({ isQuarantined }) => isQuarantined),
    "memory",
  );

function isIterableInput(input: unknown): boolean {
  return (
    typeof input === "object" &&
    input !== null &&
    (Symbol.iterator in input || Symbol.asyncIterator in input)
  );
}

async function* batches(lines: AsyncIterable<NumberedLine>): AsyncGenerator<NumberedLine[]> {
  let batch: NumberedLine[] = [];
  let characters = 0;
  for await (const line of lines) {
    batch.push(line);
    characters += line.characters;
    if (batch.length < batchLines && characters < batchCharacters) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

type ImportSource = ReturnType<typeof importSource>;

/** `file` identifies the file, so that a later run finds the progress of this one. */
function importSource([first]: readonly NumberedLine[], target: Scope | undefined) {
  const header = first?.line as ExportLineOf<"header">;
  const digest = createHash("sha256")
    .update(JSON.stringify([header.exportedAt, header.scope]))
    .digest("hex");
  const file = `file=${digest.slice(0, 32)} `;
  const from = parseExported(header.scope);
  const ids = (scope: Scope) => ["userId", "appId"].filter((id) => id in scope).join(" and ");
  if (!target || ids(from) === ids(target)) return { scope: target ?? from, file };
  const wanted = `\`scope\` must have the same, and has ${ids(target)}`;
  throw lineError(1, `this is an export of a scope with ${ids(from)}; ${wanted}.`);
}

function parseExported(scope: unknown): Scope {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw lineError(1, messageOf(cause), cause);
  }
}

/** The last line that an import of this file wrote into the scope; null without any. */
async function findProgress(db: Connection, source: ImportSource): Promise<number | null> {
  const [row] = await db.query<{ lines: number | null }>(sql`
    select max(split_part(e.detail, 'lines=', 2)::int) as lines from ${db.schema}.event e
    where ${isProgress(source)}`);
  return row?.lines ?? null;
}

function isProgress({ scope, file }: ImportSource): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`${isId(sql`e.tenant_id`, tenantId)} and ${isId(sql`e.user_id`, userId)} and e.app_id = ${appId}
    and e.step = 'import' and e.op = 'create' and starts_with(e.detail, ${file})`;
}

interface ImportProgress extends ImportSource {
  /** Whether this run has written a batch. */
  readonly hasBegun: boolean;
}

async function writeLines(
  db: Database,
  progress: ImportProgress,
  lines: readonly ImportableLine[],
) {
  const write = (tx: Connection) => writeBatch(tx, progress, lines);
  await db.transaction(write).catch((error: unknown) => {
    throw refusal(error, lines);
  });
}

async function writeBatch(
  tx: Connection,
  progress: ImportProgress,
  lines: readonly ImportableLine[],
): Promise<void> {
  const { scope, file, hasBegun } = progress;
  const [first, last] = [lines[0] as ImportableLine, lines.at(-1) as ImportableLine];
  const { ref: ownerRef } = await lockOwner(tx, scope);
  const done = await findProgress(tx, progress);
  if (done === null && hasBegun)
    throw new MemoryError(
      "FORGOTTEN",
      "The scope was forgotten while it was imported: import it again.",
    );
  if (done === null) await requireEmpty(tx, scope);
  if (done !== null && done >= first.number)
    throw new MemoryError("BUSY", "Another call imports the same file at the moment.");
  // Apps of notes may have no owner row yet.
  const apps = new Set(
    linesOf(lines, "noteSource").flatMap(({ line }) => scope.appId ?? line.appId ?? []),
  );
  const { userId: _, ...tenant } = scope;
  for (const appId of apps) await lockOwner(tx, { ...tenant, appId });
  await insertRecords(tx, { ...scopeColumns(scope), ownerRef }, lines);
  await tx.query(sql`delete from ${tx.schema}.event e where ${isProgress(progress)}`);
  await insertEvents(tx, [
    { scope, step: "import", op: "create", status: "ok", detail: `${file}lines=${last.number}` },
    ...quarantinedIn(lines).map(({ line: { id: memoryId, category } }) => {
      return { scope, memoryId, category, step: "import", op: "quarantine", status: "ok" } as const;
    }),
  ]);
}

async function requireEmpty(tx: Connection, requested: Scope): Promise<void> {
  const scope = await findErasureScope(tx, requested);
  const exists = recordNames
    .filter((name) => recordTypeOf(name).insert?.ownerColumns !== undefined)
    .map((name) => sql`exists (select from ${rowsOf(tx, name, { scope, after: null })})`);
  const [row] = await tx.query<{ any: boolean }>(sql`select ${join(exists, " or ")} as any`);
  if (!row?.any) return;
  const whatToDo = "Forget the scope first, or add to it with memory.memories.add.";
  throw new MemoryError(
    "WRONG_STATE",
    `The scope has data, and imports need an empty one. ${whatToDo}`,
  );
}

/** SQLSTATE classes of invalid values, violated constraints and exceeded limits. */
const refusedStates = /^(?:22|23|54)...$/;

function refusal(error: unknown, lines: readonly NumberedLine[]): unknown {
  const code = MemoryError.is(error, "DATABASE_ERROR") ? errorCodeOf(error.cause) : "";
  if (!refusedStates.test(code)) return error;
  const where = `Lines ${lines[0]?.number} to ${lines.at(-1)?.number}`;
  if (code !== "23505") {
    const problem = `${where}: the database does not take one of them (SQLSTATE ${code}).`;
    return new MemoryError("INVALID_INPUT", problem, { cause: error });
  }
  const problem = `${where}: the id of one of them belongs to another scope of this database, or is twice in the file.`;
  return new MemoryError("ID_TAKEN", `${problem} Import into another schema or database.`, {
    cause: error,
  });
}
