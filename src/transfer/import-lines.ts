import { z } from "zod";
import { MemoryError, messageOf } from "../errors.js";
import { insertEvent } from "../events/event-log.js";
import { tellOfQuarantined } from "../memories/write/quarantine-statements.js";
import { asTenant } from "../postgres/isolation.js";
import type { Runtime } from "../runtime.js";
import { parseScope, parseScopeIn, type Scope, scopeField } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { abortSignal, listener, parseInput } from "../text/parse-input.js";
import type { Redactor } from "../text/redactor.js";
import type { ExportLine } from "./export-line.js";
import { type ImportCounts, importBatch } from "./import-batch.js";
import { createTally, type ImportCounted } from "./import-tally.js";
import { type ImportConfig, type ImportTrust, lowering } from "./lower-line.js";
import { lineError, type NumberedLine, noMessage, readExport } from "./read-export.js";
import { screenItem } from "./screen-item.js";
import { redactLine, type Screened, screenLine, screenMessage } from "./screen-line.js";

/** How to import. */
export interface ImportOptions {
  /**
   * Whose the memories become. It has the ids that the exported scope has: a user becomes a user. Without it the file
   * itself names whose they become: give it for every file that somebody handed in. @default whose they were
   */
  readonly scope?: Scope | undefined;
  /**
   * How far the file is believed. "operator": whoever imports it vouches for it, and all is kept as it was.
   * "untrusted": its words come in, what it claims for them does not. @default "untrusted"
   */
  readonly trust?: ImportTrust | undefined;
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
export interface Imported extends ImportCounted {
  readonly scope: Scope;
  /** Lines read. */
  readonly lines: number;
  /**
   * Lines that were not taken at their word, by type: memories that wait in quarantine, messages, summaries and news
   * without their words, requests for consent that have expired. Unset when there are none.
   */
  readonly withheld?: Readonly<Record<string, number>>;
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
 * A file claims what it likes, so unless an operator vouches for it only its words come in, as what they are: an
 * import's. See `lowering`: its memories are untrusted, its sensitive fields wait in quarantine until the user
 * consents, its requests for consent have expired, its system messages are quotations. With `trust: "operator"` what
 * the file says of origin, trust, state and consent is kept. But in either case what reads as instructions to a model,
 * and is not said to be an operator's own, reaches no prompt: the rules where it comes from may have been other ones.
 *
 * @throws MemoryError `INVALID_INPUT` that names the line; `ID_TAKEN` when an id belongs to somebody else
 *   here, `THREAD_DIFFERS` when a thread holds other messages; `REDACTION_FAILED`: then what came before its batch is imported, else what came before that line.
 */
export async function importLines(
  runtime: Runtime<ImportConfig>,
  input: AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>,
  options: ImportOptions = {},
): Promise<Imported> {
  const { trust, onProgress, signal } = parseInput(optionsSchema, options, "import");
  const target = parseScopeIn(options);
  if (!isIterable(input)) {
    throw new MemoryError(
      "INVALID_INPUT",
      "An import reads lines: pass what `export` gives, or lines of text.",
    );
  }
  const tally = createTally();
  const { written } = tally;
  const withheld: Record<string, number> = {};
  let scope: Scope | undefined;
  let ownerRef = 0;
  let lines = 0;
  const taken =
    trust === "operator" ? screenLine : lowering({ config: runtime.config, now: runtime.clock() });
  const screen = screening({ redactor: runtime.redactor, taken, untrusted: trust === "untrusted" }, withheld);
  for await (const batch of batches(screened(screen, readExport(input)))) {
    signal?.throwIfAborted();
    const [first] = batch;
    if (!scope && first?.line.type === "header") {
      scope = targetScope(first.line.scope, target);
      // Apart from the batches: they lock threads first, as those who record do.
      const owner = scope;
      ownerRef = (await inTenant(owner, () => runtime.db.transaction((tx) => lockOwner(tx, owner)))).ref;
    }
    const into = { scope: scope as Scope, ownerRef, trust };
    const done = await inTenant(into.scope, () => importBatch(runtime.db, into, batch));
    tellOfQuarantined(runtime.logger, { step: "import", memoryIds: done.quarantined });
    tally.add(batch, done);
    lines += batch.length;
    onProgress?.({ lines });
  }
  const counted = tally.result();
  const into = scope as Scope;
  if (counted.total > 0) await inTenant(into, () => insertEvent(runtime.db, importEvent(into, written)));
  return { scope: into, lines, ...counted, ...(Object.keys(withheld).length > 0 && { withheld }) };
}

const optionsSchema = z.strictObject({
  scope: scopeField,
  trust: z.enum(["untrusted", "operator"]).default("untrusted"),
  onProgress: listener<(progress: ImportProgress) => void>().optional(),
  signal: abortSignal.optional(),
});

function isIterable(input: unknown): boolean {
  return (
    typeof input === "object" && input !== null && (Symbol.iterator in input || Symbol.asyncIterator in input)
  );
}

/** Whose lines they are is known only once they are read. */
const inTenant = <Result>({ tenantId }: Scope, work: () => Result): Result => asTenant(tenantId, work);

type Screen = (each: NumberedLine) => Promise<NumberedLine>;

/** How lines become those that are written: redacted, then as far as the file is believed. Counts what it held back. */
function screening(
  how: { redactor: Redactor; taken: (line: ExportLine) => Screened; untrusted: boolean },
  withheld: Record<string, number>,
): Screen {
  return async (each) => {
    const { line, held } = how.taken(await redactLine(how.redactor, each));
    const message =
      how.untrusted && line.type === "message"
        ? await screenMessage(line).catch((cause: unknown) => {
            throw noMessage(each.number, cause);
          })
        : null;
    const item = how.untrusted && line.type === "item" ? await screenItem(line) : null;
    if (held || message?.held || item?.held) withheld[line.type] = (withheld[line.type] ?? 0) + 1;
    return {
      ...each,
      ...(message ? { line: message.line, quoted: message.quoted } : { line: item?.line ?? line }),
    };
  };
}

async function* screened(
  screen: Screen,
  lines: AsyncIterable<NumberedLine>,
): AsyncGenerator<NumberedLine, void, undefined> {
  for await (const each of lines) yield screen(each);
}

/** What comes before an error is a batch as well: the error follows it. */
async function* batches(lines: AsyncIterable<NumberedLine>): AsyncGenerator<NumberedLine[]> {
  let batch: NumberedLine[] = [];
  let characters = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const line of lines) {
      batch.push(line);
      characters += line.characters;
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
  const problem = `this is an export of a scope with ${ids(from)}; \`scope\` must have the same, and has ${ids(target)}.`;
  throw lineError(1, problem);
}

function parseExported(scope: unknown): Scope {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw lineError(1, messageOf(cause), cause);
  }
}

function importEvent(scope: Scope, written: Partial<ImportCounts>) {
  const detail = Object.entries(written).map(([type, count]) => `${type}=${count}`);
  return { scope, step: "import", op: "create", status: "ok", detail: detail.join(" ") } as const;
}
