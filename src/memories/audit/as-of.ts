import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { isoDay, isoTimeMs } from "../../clock.js";
import { MemoryError } from "../../errors.js";
import { storableDate } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";

const form =
  'must be a Date, a time in ISO 8601 with its offset ("2026-03-01T12:00:00Z"), or a day ("2026-03-01"), ' +
  "or { validAt, knownAt } with one or both of such times";

const pastTime = z.union([
  storableDate,
  z
    .string()
    .transform((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text))
    .refine((text) => isoTimeMs(text) !== null)
    .transform((text) => new Date(text)),
]);

export const asOfField = z.union(
  [
    pastTime.transform((time) => ({ validAt: time, knownAt: time })),
    z
      .strictObject({ validAt: pastTime.optional(), knownAt: pastTime.optional() })
      // An invalid Date is an object with neither.
      .refine(({ validAt, knownAt }) => validAt ?? knownAt, form),
  ],
  form,
);

/**
 * Asks memory about its past. A time: what was known then, and was true then. `knownAt` alone: what
 * was known then. `validAt` alone: what was true then, by what is known today. A time is a `Date`,
 * ISO 8601 with an offset, or a day, whose first moment in UTC is meant.
 */
export type AsOf = z.input<typeof asOfField>;

/** Unset `validAt`: true at any time. Unset `knownAt`: known today. */
export type AsOfTimes = z.output<typeof asOfField>;

/** @throws MemoryError `INVALID_INPUT` for a time that has not come yet */
export function requirePast(asOf: AsOfTimes, now: Date): AsOfTimes {
  for (const [name, time] of Object.entries(asOf)) {
    if (time === undefined || time <= now) continue;
    const problem = `Invalid asOf: \`${name}\` is ${time.toISOString()}, which is in the future`;
    throw new MemoryError("INVALID_INPUT", `${problem}: pass a past time.`);
  }
  return asOf;
}

/** The end of the millisecond `time`, since stored times are more precise. */
export const endOf = (time: Date): Sql =>
  sql`${new Date(time.getTime() + 1).toISOString()}::timestamptz`;

/** `db` at that time: what has expired since had not expired yet. */
export const clockAt = (db: Connection, { knownAt }: AsOfTimes): Connection =>
  knownAt === undefined ? db : { ...db, now: () => sql`${knownAt.toISOString()}::timestamptz` };

/** Whether the statement of the row `m` was true at `validAt`. */
export const wasTrue = (validAt: Date): Sql =>
  sql`m.valid_from < ${endOf(validAt)} and (m.valid_to >= ${endOf(validAt)} or (m.valid_to is null and m.state <> 'superseded'))`;

/** What memory cannot say any more of that time: counts and times, never words. */
export type MissingPast =
  | {
      readonly reason: "forgotten";
      /** How many memories of that time were deleted for good on request. */
      readonly count: number;
      /** The reason as a sentence. */
      readonly detail: string;
    }
  | {
      readonly reason: "audit_purged";
      /** From when on the audit trail is whole. */
      readonly before: Date;
      readonly detail: string;
    };

/** What an answer about the past says of itself. */
export interface KnownThen {
  /** Null `validAt`: true at any time. */
  readonly asOf: { readonly validAt: Date | null; readonly knownAt: Date };
  /** Whether everything that was known then is still there to be listed or searched. */
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly missing: readonly MissingPast[];
}

/** @param row of `missingColumns` */
export function knownThen(asOf: AsOfTimes, row: MissingRow, now: Date): KnownThen {
  const missing: MissingPast[] = [];
  const { forgotten, wholeFrom } = row;
  if (forgotten > 0) {
    const memories = forgotten === 1 ? "1 memory was" : `${forgotten} memories were`;
    missing.push({ reason: "forgotten", count: forgotten, detail: `${memories} forgotten.` });
  }
  if (wholeFrom !== null) {
    const detail = `The audit trail before ${isoDay(wholeFrom)} was purged.`;
    missing.push({ reason: "audit_purged", before: wholeFrom, detail });
  }
  const times = { validAt: asOf.validAt ?? null, knownAt: asOf.knownAt ?? now };
  return { asOf: times, complete: missing.length === 0, missing };
}

export interface MissingRow {
  readonly forgotten: number;
  readonly wholeFrom: Date | null;
}
