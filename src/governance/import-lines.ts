import type { Database } from "../database/database.js";
import { asTenant } from "../database/tenancy.js";
import type { ExportLine } from "../domain/export-line.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { MemoryError } from "../errors.js";
import type { ResolvedConfig } from "../options.js";
import type { Redactor } from "../remember/redactor.js";
import { insertEvent } from "../store/insert-event.js";
import { lockOwner } from "../store/lock-owner.js";
import { type ImportCounts, importBatch } from "./import-batch.js";
import { lineError, type NumberedLine, readExport } from "./read-export.js";
import { redactLine } from "./redact-line.js";
import { screenLine } from "./screen-line.js";

/** How to import. */
export interface ImportOptions {
  /** Whose the memories become. It has the ids that the exported scope has: a user becomes a user. @default whose they were */
  readonly scope?: Scope | undefined;
  /** Told after each batch. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Stops between two transactions, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

/** How far an import has come. */
export interface ImportProgress {
  /** Lines read. */
  readonly lines: number;
}

/** What an import did. */
export interface Imported {
  readonly scope: Scope;
  /** Lines read. */
  readonly lines: number;
  /** Lines that were written, by type; the others were there already. */
  readonly written: Readonly<Record<string, number>>;
  readonly total: number;
}

/** Lines of one transaction, and characters, so that long messages do not add up. */
const batchLines = 500;
const batchCharacters = 4_000_000;

/**
 * Writes an export, in batches of which each is one transaction. Importing again what is there writes nothing, so an
 * import that was interrupted is finished by the next.
 *
 * Ids stay. What is known already stays as it is: a memory whose slot is taken, or that says what is known, comes in as
 * superseded. Indexes and counters are made anew, revisions go on; vectors are made by `reembed`.
 *
 * An export comes from the operator of another installation, and whoever imports it vouches for it: what it says of
 * origin, trust and state is kept, and so are sensitive fields, to which the user consented there. But what reads as
 * instructions to a model and no operator vouched for waits in quarantine: the rules
 * there may have been other ones.
 *
 * @throws MemoryError `INVALID_INPUT` that names the line; `CONFLICT` when an id belongs to somebody else here, or a
 *   thread holds other messages; `REDACTION_FAILED`: then what came before its batch is imported, else what came before that line.
 */
export async function importLines(
  deps: { readonly db: Database; readonly config: ResolvedConfig; readonly redactor: Redactor },
  input: AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>,
  { scope: wanted, onProgress, signal }: ImportOptions = {},
): Promise<Imported> {
  const target = wanted === undefined ? undefined : parseScope(wanted);
  const written: Record<string, number> = {};
  let scope: Scope | undefined;
  let ownerRef = 0;
  let lines = 0;
  for await (const batch of batches(screenedLines(deps.redactor, readExport(input)))) {
    signal?.throwIfAborted();
    const [first] = batch;
    if (!scope && first?.line.type === "header") {
      scope = targetScope(first.line.scope, target);
      // Apart from the batches: they lock threads first, as those who record do.
      const owner = scope;
      ownerRef = (await inTenant(owner, () => deps.db.transaction((tx) => lockOwner(tx, owner)))).ref;
    }
    const into = { scope: scope as Scope, ownerRef };
    const counts = await inTenant(into.scope, () => importBatch(deps, into, batch));
    for (const [type, count] of Object.entries<number>(counts)) {
      if (count > 0) written[type] = (written[type] ?? 0) + count;
    }
    lines += batch.length;
    onProgress?.({ lines });
  }
  const total = Object.values(written).reduce((sum, count) => sum + count, 0);
  const into = scope as Scope;
  if (total > 0) await inTenant(into, () => insertEvent(deps.db, importEvent(into, written)));
  return { scope: into, lines, written, total };
}

/** Whose lines they are is known only once they are read. */
const inTenant = <Result>({ tenantId }: Scope, work: () => Result): Result => asTenant(tenantId, work);

async function* screenedLines(
  redactor: Redactor,
  lines: AsyncIterable<NumberedLine>,
): AsyncGenerator<NumberedLine> {
  for await (const each of lines) {
    yield { number: each.number, line: screenLine(await redactLine(redactor, each)) };
  }
}

/** What comes before an error is a batch as well: the error follows it. */
async function* batches(lines: AsyncIterable<NumberedLine>): AsyncGenerator<NumberedLine[]> {
  let batch: NumberedLine[] = [];
  let characters = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const line of lines) {
      batch.push(line);
      if (line.line.type === "message") characters += line.line.serialised.length;
      if (batch.length < batchLines && characters < batchCharacters) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  } catch (error) {
    failure = { error };
  }
  if (batch.length > 0) yield batch;
  if (failure) throw failure.error;
}

/** @throws MemoryError `INVALID_INPUT` when the two do not have the same ids. */
function targetScope(exported: unknown, target: Scope | undefined): Scope {
  const from = parseExported(exported);
  if (!target) return from;
  const shape = ({ userId, appId }: Scope) => [
    userId !== undefined && "userId",
    appId !== undefined && "appId",
  ];
  if (String(shape(from)) === String(shape(target))) return target;
  const ids = (scope: Scope) => shape(scope).filter(Boolean).join(" and ");
  throw new MemoryError(
    "INVALID_INPUT",
    `This is an export of a scope with ${ids(from)}; \`scope\` must have the same, and has ${ids(target)}.`,
  );
}

function parseExported(scope: unknown): Scope {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw lineError(1, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function importEvent(scope: Scope, written: Partial<ImportCounts>) {
  const detail = Object.entries(written).map(([type, count]) => `${type}=${count}`);
  return { scope, step: "import", op: "create", status: "ok", detail: detail.join(" ") } as const;
}
