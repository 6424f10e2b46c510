import { MemoryError } from "../errors.js";
import { memoryHash, memoryTerms } from "../memories/item/memory.js";
import { findSlotIntervals, type SlotInterval } from "../memories/slot/slot-intervals.js";
import { freeInterval, freeSince } from "../memories/slot/slot-timeline.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { type LockedOwner, lockOwner } from "../scope/lock-owner.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeColumns, scopeColumns } from "../scope/scope-predicates.js";
import { searchName } from "../text/search-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { findKnownMemories, type ImportedMemory, importMemories } from "./import-memories.js";
import {
  findForeignConsents,
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

/** Lines written, by type. */
export type ImportCounts = Record<Exclude<ExportLine["type"], "header" | "end">, number>;

/** Whose the lines become. */
export interface ImportTarget {
  readonly scope: Scope;
  readonly ownerRef: number;
  /** How far the file is believed. */
  readonly trust: ImportTrust;
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
): Promise<ImportCounts> {
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
  { scope, ownerRef, trust }: ImportTarget,
  lines: readonly NumberedLine[],
): Promise<ImportCounts> {
  const columns = scopeColumns(scope);
  const threads = linesOf(lines, "thread").map(({ line }) => withApp(columns, line));
  const thread = await importThreads(tx, { scope: columns, ownerRef, threads });
  // From here on nobody else changes the owner's memories.
  const locked = await lockOwner(tx, scope);
  if (locked.ref !== ownerRef) throw forgottenMeanwhile();
  const [owner] = linesOf(lines, "owner");
  const counters = owner
    ? await importOwner(tx, { ownerRef, ...countersOf(owner.line, trust, locked) })
    : false;
  const transcript = await importTranscript(tx, { columns, ownerRef, trust }, lines);
  const memory = await addMemories(tx, { columns, ownerRef }, linesOf(lines, "memory"));
  const relations = linesOf(lines, "relation").map(({ line }) => line);
  const entries = linesOf(lines, "history").map(({ line }) => withApp(columns, line));
  const changes = linesOf(lines, "change").map(({ line }) => withApp(columns, line));
  return {
    ...transcript,
    ...{ thread, owner: counters ? 1 : 0, memory },
    relation: relations.length > 0 ? await importRelations(tx, { ownerRef, relations }) : 0,
    history: entries.length > 0 ? await importHistory(tx, { ownerRef, entries }) : 0,
    change: changes.length > 0 ? await importChanges(tx, { ownerRef, changes }) : 0,
    consent: await addConsents(tx, { columns, ownerRef }, linesOf(lines, "consent")),
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

/** A line of a scope with an app is of that app, whatever it says. */
function withApp<Line extends { readonly appId?: string | undefined }>(
  { userId, appId }: ScopeColumns,
  line: Line,
) {
  return { ...line, appId: appId !== "" || userId === "" ? appId : (line.appId ?? "") };
}

async function addMemories(
  tx: Connection,
  { columns, ownerRef }: { columns: ScopeColumns; ownerRef: number },
  lines: NumberedLine<Extract<ExportLine, { type: "memory" }>>[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const known = await findKnownMemories(tx, { ownerRef, ids: lines.map(({ line }) => line.id) });
  const foreign = lines.find(({ line }) => known.get(line.id) === false);
  if (foreign) throw taken(foreign.number, `memory ${foreign.line.id}`);
  const fresh = lines
    .filter(({ line }) => !known.has(line.id))
    .map(({ line }): ImportedMemory => {
      const terms = {
        terms: memoryTerms(line, tx.language),
        actorTerms: searchName(line.actorId ?? "", tx.language),
      };
      return { ...withApp(columns, line), ...terms, contentHash: memoryHash(line) };
    });
  let memories = await inFreeIntervals(tx, ownerRef, fresh);
  let added = 0;
  while (memories.length > 0) {
    const ids = new Set(await importMemories(tx, { scope: columns, ownerRef, memories }));
    const left = memories.filter(({ id }) => !ids.has(id));
    if (left.length === memories.length) {
      // Twice the same id in the file; or one of a tenant that this one cannot see.
      const own = await findKnownMemories(tx, { ownerRef, ids: left.map(({ id }) => id) });
      const unseen = lines.find(
        ({ line: { id } }) => left.some((memory) => memory.id === id) && !own.has(id),
      );
      if (unseen) throw taken(unseen.number, `memory ${unseen.line.id}`);
      break;
    }
    added += ids.size;
    memories = left;
  }
  return added;
}

/** `memories` with times at which their slots held nothing else: what is known already keeps its own. */
async function inFreeIntervals(
  tx: Connection,
  ownerRef: number,
  memories: readonly ImportedMemory[],
): Promise<ImportedMemory[]> {
  const slots = memories.flatMap(({ appId, category, key }) =>
    key === null ? [] : { appId, category, key },
  );
  const held = slots.length === 0 ? [] : await findSlotIntervals(tx, { ownerRef, slots });
  const bySlot = new Map<string, SlotInterval[]>();
  const intervalsOf = (slot: {
    readonly appId: string;
    readonly category: string;
    readonly key: string | null;
  }) => {
    const name = JSON.stringify([slot.appId, slot.category, slot.key]);
    const intervals = bySlot.get(name) ?? [];
    bySlot.set(name, intervals);
    return intervals;
  };
  for (const interval of held) intervalsOf(interval).push(interval);
  return memories.map((memory) => {
    const { appId, category, key, state, validFrom, validTo } = memory;
    if (key === null || (state !== "active" && state !== "superseded")) return memory;
    const others = intervalsOf({ appId, category, key });
    const holder = state === "active" && others.some(({ active }) => active);
    // What comes for a slot that is held is closed, and held it at most until then.
    const placed =
      state === "active" && !holder
        ? { from: freeSince(validFrom, others), to: null }
        : freeInterval({ from: validFrom, to: validTo ?? (holder ? null : validFrom) }, others);
    // How the file's own values stand to each other is left as it says.
    if (state === "active" && !holder) others.push({ ...{ appId, category, key }, ...placed, active: true });
    return { ...memory, validFrom: placed.from, validTo: placed.to };
  });
}

async function addConsents(
  tx: Connection,
  { columns, ownerRef }: { columns: ScopeColumns; ownerRef: number },
  lines: NumberedLine<Extract<ExportLine, { type: "consent" }>>[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const [foreign] = await findForeignConsents(tx, { ownerRef, ids: lines.map(({ line }) => line.id) });
  const first = lines.find(({ line }) => line.id === foreign);
  if (first) throw taken(first.number, `consent request ${first.line.id}`);
  const consents = lines.map(({ line }) => withApp(columns, line));
  return importConsents(tx, { scope: columns, ownerRef, consents });
}

/** It does not say whose. */
function taken(number: number, what: string): MemoryError {
  return new MemoryError(
    "ID_TAKEN",
    `Line ${number}: ${what} belongs to another scope of this database. Import it into another schema or database.`,
  );
}

function forgottenMeanwhile(): MemoryError {
  return new MemoryError("FORGOTTEN", "The scope was forgotten while it was imported: import it again.");
}
