import { createHash } from "node:crypto";
import sql, { join, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError, messageOf } from "../errors.js";
import { insertEvents } from "../events/event-log.js";
import { reportQuarantined } from "../memories/write/write-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { asTenant } from "../postgres/isolation.js";
import { retryOn } from "../postgres/retry.js";
import type { Runtime } from "../runtime.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import { parseScope, parseScopeIn, type Scope, scopeField } from "../scope/scope.js";
import { isId, lockOwner, scopeColumns } from "../scope/scope-predicates.js";
import { abortSignal, listener, parseInput } from "../text/parse-input.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { rowsOf } from "./export-scope.js";
import { insertRecords } from "./insert-records.js";
import { lineError, linesOf, type NumberedLine, readExport } from "./read-export.js";
import { type RecordType, recordNames, records } from "./records.js";
import { type ImportableLine, importable } from "./screen-line.js";

export interface ImportOptions {
  /** The new owner, with the same ids as the exported scope: a user becomes a user. @default the exported scope */
  readonly scope?: Scope | undefined;
  /** Called after each batch with the lines read. */
  readonly onProgress?: ((progress: { readonly lines: number }) => void) | undefined;
  /** Stops between two transactions, with its reason as the error; run it again to continue. */
  readonly signal?: AbortSignal | undefined;
}

export interface Imported {
  readonly scope: Scope;
  readonly lines: number;
  /** Lines written, by type: none that an earlier run of the same import wrote. */
  readonly written: Readonly<Record<string, number>>;
  readonly total: number;
  /** Of the memories written: those that this import put in quarantine. */
  readonly quarantined: number;
}

/** Lines of one transaction, and characters, so that long messages do not add up. */
const batchLines = 500;
const batchCharacters = 4_000_000;

/** One transaction a batch; the same file again continues after the last batch. Ids, times, trust and consent stay. */
export async function importLines(
  runtime: Pick<Runtime<object>, "db" | "logger" | "redactor" | "screen">,
  input: AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>,
  options: ImportOptions = {},
): Promise<Imported> {
  const { db, logger } = runtime;
  const { onProgress, signal } = parseInput(optionsSchema, options, "import");
  const target = parseScopeIn(options);
  if (!isIterable(input)) {
    throw new MemoryError("INVALID_INPUT", "An import reads lines: pass what `export` gives, or lines of text.");
  }
  const written: Record<string, number> = {};
  let quarantined = 0;
  let lines = 0;
  let source: ImportSource | undefined;
  for await (const batch of batches(readExport(input))) {
    signal?.throwIfAborted();
    source ??= sourceOf(batch, target);
    const into = { ...source, begun: lines > 0 };
    const added = await asTenant(source.scope.tenantId, async () => {
      const done = (await findProgress(db, into)) ?? 0;
      const left: ImportableLine[] = [];
      for (const each of batch) if (each.number > done) left.push(await importable(runtime, each));
      if (left.length > 0) await writeOnce(db, into, left);
      return left;
    });
    for (const { line } of added) {
      if (line.type !== "header" && line.type !== "end") written[line.type] = (written[line.type] ?? 0) + 1;
    }
    const memoryIds = heldOf(added).map(({ line }) => line.id);
    reportQuarantined(logger, { step: "import", memoryIds });
    quarantined += memoryIds.length;
    lines += batch.length;
    onProgress?.({ lines });
  }
  const total = Object.values(written).reduce((sum, each) => sum + each, 0);
  return { scope: (source as ImportSource).scope, lines, written, total, quarantined };
}

function heldOf(lines: readonly ImportableLine[]): NumberedLine<ExportLineOf<"memory">>[] {
  const held = lines.filter((line) => line.held);
  return linesOf(held, "memory");
}

const optionsSchema = z.strictObject({
  scope: scopeField,
  onProgress: listener<NonNullable<ImportOptions["onProgress"]>>().optional(),
  signal: abortSignal.optional(),
});

function isIterable(input: unknown): boolean {
  return typeof input === "object" && input !== null && (Symbol.iterator in input || Symbol.asyncIterator in input);
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

type ImportSource = ReturnType<typeof sourceOf>;

/** `file` names the file: a later run finds by it how far this one came. */
function sourceOf([first]: readonly NumberedLine[], target: Scope | undefined) {
  const header = first?.line as ExportLineOf<"header">;
  const digest = createHash("sha256")
    .update(JSON.stringify([header.exportedAt, header.scope]))
    .digest("hex");
  const file = `file=${digest.slice(0, 32)} `;
  const from = parseExported(header.scope);
  const ids = ({ userId, appId }: Scope) =>
    [userId !== undefined && "userId", appId !== undefined && "appId"].filter(Boolean).join(" and ");
  if (!target || ids(from) === ids(target)) return { scope: target ?? from, file };
  throw lineError(
    1,
    `this is an export of a scope with ${ids(from)}; \`scope\` must have the same, and has ${ids(target)}.`,
  );
}

function parseExported(scope: unknown): Scope {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw lineError(1, messageOf(cause), cause);
  }
}

/** The number of the last line that an import of the same file wrote into the scope; null where there was none. */
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

async function writeOnce(
  db: Database,
  into: ImportSource & { readonly begun: boolean },
  lines: readonly ImportableLine[],
): Promise<void> {
  const write = () => db.transaction((tx) => writeBatch(tx, into, lines));
  // Others lock threads before owners.
  const busy = "Others kept writing to the scope while it was imported. Import it again.";
  await retryOn(["40P01"], write, { most: 5, busy }).catch((error: unknown) => {
    throw refusal(error, lines);
  });
}

async function writeBatch(
  tx: Connection,
  source: ImportSource & { readonly begun: boolean },
  lines: readonly ImportableLine[],
): Promise<void> {
  const { scope, file, begun } = source;
  const [first, last] = [lines[0] as ImportableLine, lines.at(-1) as ImportableLine];
  const { ref: ownerRef } = await lockOwner(tx, scope);
  const done = await findProgress(tx, source);
  if (done === null && begun)
    throw new MemoryError("FORGOTTEN", "The scope was forgotten while it was imported: import it again.");
  if (done === null) await requireEmpty(tx, scope);
  if (done !== null && done >= first.number)
    throw new MemoryError("BUSY", "Another call imports the same file at the moment.");
  // The apps of notes, which need not have any of their own yet.
  const apps = new Set(linesOf(lines, "noteSource").flatMap(({ line }) => scope.appId ?? line.appId ?? []));
  const { userId: _, ...tenant } = scope;
  for (const appId of apps) await lockOwner(tx, { ...tenant, appId });
  await insertRecords(tx, { ...scopeColumns(scope), ownerRef }, lines);
  await tx.query(sql`delete from ${tx.schema}.event e where ${isProgress(source)}`);
  await insertEvents(tx, [
    { scope, step: "import", op: "create", status: "ok", detail: `${file}lines=${last.number}` },
    ...heldOf(lines).map(({ line: { id, category } }) => ({
      scope,
      memoryId: id,
      category,
      ...({ step: "import", op: "quarantine", status: "ok" } as const),
    })),
  ]);
}

async function requireEmpty(tx: Connection, requested: Scope): Promise<void> {
  const scope = await findErasureScope(tx, requested);
  const kept = recordNames
    .filter((name) => (records[name] as RecordType).insert?.whose !== undefined)
    .map((name) => sql`exists (select from ${rowsOf(tx, name, { scope, after: null })})`);
  const [row] = await tx.query<{ any: boolean }>(sql`select ${join(kept, " or ")} as any`);
  if (!row?.any) return;
  throw new MemoryError(
    "WRONG_STATE",
    "The scope has data, and import restores into an empty one. Forget the scope first, or add to it with memory.memories.add.",
  );
}

/** SQLSTATE classes of values and rows that a table does not take, and of what is too large or too complex. */
const refusals = /^(?:22|23|54)...$/;

function refusal(error: unknown, lines: readonly NumberedLine[]): unknown {
  const code = MemoryError.is(error, "DATABASE_ERROR") ? errorCodeOf(error.cause) : "";
  if (!refusals.test(code)) return error;
  const where = `Lines ${lines[0]?.number} to ${lines.at(-1)?.number}`;
  if (code !== "23505") {
    const problem = `${where}: the database does not take one of them (SQLSTATE ${code}).`;
    return new MemoryError("INVALID_INPUT", problem, { cause: error });
  }
  const problem = `${where}: the id of one of them belongs to another scope of this database, or stands twice in the file.`;
  return new MemoryError("ID_TAKEN", `${problem} Import into another schema or database.`, { cause: error });
}
