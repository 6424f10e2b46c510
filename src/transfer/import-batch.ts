import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { type LockedOwner, lockOwner } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";
import { importItems } from "./import-items.js";
import { importMemories } from "./import-memories.js";
import {
  importChanges,
  importConsents,
  importHistory,
  importOwner,
  importRelations,
} from "./import-records.js";
import { importThreads } from "./import-threads.js";
import { importTranscript } from "./import-transcript.js";
import type { ImportTrust } from "./lower-line.js";
import { lineError, linesOf, type NumberedLine } from "./read-export.js";
import type { ImportTarget, RecordName } from "./record-types.js";

/** Lines written, by type. */
export type ImportCounts = Record<RecordName, number>;

/** What became of the lines of one transaction. */
export interface ImportedBatch {
  readonly written: ImportCounts;
  /** Of those that were written: ids of memories in quarantine, and how many requests wait. */
  readonly quarantined: readonly string[];
  readonly awaitingConsent: number;
  /** Lines that were left out. */
  readonly skipped: { readonly relation: number; readonly consent: number };
}

/**
 * Writes what is new of `lines`, in one transaction.
 *
 * @throws MemoryError `ID_TAKEN`, `THREAD_DIFFERS`, `FORGOTTEN`; `INVALID_INPUT` that names the line, also for what the database does not take.
 */
export async function importBatch(
  db: Database,
  target: ImportTarget,
  lines: readonly NumberedLine[],
): Promise<ImportedBatch> {
  try {
    return await db.transaction((tx) => writeLines(tx, target, lines));
  } catch (error) {
    throw isRefusal(error) ? await refusedLine(db, target, lines, error) : error;
  }
}

/** SQLSTATE classes of values, of values and rows that a table does not take, and of what is too large or too complex. */
const refusals = /^(?:22...|23502|23514|54...)$/;

/** Whether the database did not take what it was given, so that a line is to blame. */
function isRefusal(error: unknown): error is MemoryError {
  return MemoryError.is(error, "DATABASE_ERROR") && refusals.test(errorCodeOf(error.cause));
}

/** The error of the first line with which `lines` are refused, found by halves; nothing stays of what is tried. */
async function refusedLine(
  db: Database,
  target: ImportTarget,
  lines: readonly NumberedLine[],
  error: MemoryError,
): Promise<MemoryError> {
  const undone = new Error("undone");
  const isTaken = async (count: number): Promise<boolean> => {
    const tried = db.transaction(async (tx) => {
      await writeLines(tx, target, lines.slice(0, count));
      throw undone;
    });
    const failure: unknown = await tried.catch((cause: unknown) => cause);
    if (failure !== undone && !isRefusal(failure)) throw failure;
    return failure === undone;
  };
  let taken = 0;
  let refused = lines.length;
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (await isTaken(middle)) taken = middle;
    else refused = middle;
  }
  const number = lines[refused - 1]?.number ?? 0;
  return lineError(number, `the database does not take it (SQLSTATE ${errorCodeOf(error.cause)}).`, error);
}

async function writeLines(
  tx: Connection,
  target: ImportTarget,
  lines: readonly NumberedLine[],
): Promise<ImportedBatch> {
  const { scope, ownerRef, trust } = target;
  const thread = await importThreads(tx, target, linesOf(lines, "thread"));
  // From here on nobody else changes the owner's memories.
  const locked = await lockOwner(tx, scope);
  if (locked.ref !== ownerRef) throw forgottenMeanwhile();
  const [owner] = linesOf(lines, "owner");
  const counters = owner && { ownerRef, ...countersOf(owner.line, trust, locked) };
  const counted = counters && (await importOwner(tx, counters)) ? 1 : 0;
  const transcript = await importTranscript(tx, target, lines);
  const memories = await importMemories(tx, target, linesOf(lines, "memory"));
  const relations = await importRelations(tx, target, linesOf(lines, "relation"));
  const history = await importHistory(tx, target, linesOf(lines, "history"));
  const change = await importChanges(tx, target, linesOf(lines, "change"));
  const consents = await importConsents(tx, target, linesOf(lines, "consent"));
  const item = await importItems(tx, target, linesOf(lines, "item"));
  return {
    written: {
      ...{ thread, owner: counted, ...transcript, memory: memories.added, relation: relations.added },
      ...{ history, change, consent: consents.added, item },
    },
    quarantined: memories.quarantined,
    awaitingConsent: consents.pending,
    skipped: { relation: relations.skipped, consent: consents.skipped },
  };
}

/** Turns let confidence fade: a file that nobody vouches for cannot age what is known here. */
function countersOf(
  { revision, turns, changesTrimmedTo }: ExportLineOf<"owner">,
  trust: ImportTrust,
  { turns: known }: LockedOwner,
): { revision: number; turns: number; changesTrimmedTo: number } {
  return { revision, changesTrimmedTo, turns: trust === "operator" || known === 0 ? turns : known };
}

function forgottenMeanwhile(): MemoryError {
  return new MemoryError("FORGOTTEN", "The scope was forgotten while it was imported: import it again.");
}
