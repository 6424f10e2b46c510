import type { ImportedBatch } from "./import-batch.js";
import type { NumberedLine } from "./read-export.js";

type Counts = Record<string, number>;

/** What became of the records of an import. */
export interface ImportCounted {
  /** Lines that stand for something: all but the header and the end. */
  readonly records: number;
  /** Records that were written, by type. */
  readonly written: Readonly<Record<string, number>>;
  readonly total: number;
  /** Records that were there already, by type; of the owner, whose counters were as high. */
  readonly present: Readonly<Record<string, number>>;
  /** Of the memories written: those that wait in quarantine. */
  readonly quarantined: number;
  /** Of the requests written: those that wait for the user's consent. */
  readonly awaitingConsent: number;
  /** Records that were left out, and why. */
  readonly skipped: readonly { readonly type: string; readonly count: number; readonly reason: string }[];
}

/** Counts what an import does, batch by batch. */
export interface ImportTally {
  /** What was written so far, by type. */
  readonly written: Readonly<Counts>;
  add(lines: readonly NumberedLine[], done: ImportedBatch): void;
  result(): ImportCounted;
}

/** Why lines of a type are left out. */
const reasons: Readonly<Record<keyof ImportedBatch["skipped"], string>> = {
  relation: "a memory that it links is not there",
  consent: "another request waits for the same slot",
};

/** A tally of nothing yet. */
export function createTally(): ImportTally {
  const read: Counts = {};
  const written: Counts = {};
  const skipped: Counts = {};
  let quarantined = 0;
  let awaitingConsent = 0;
  return {
    written,
    add(lines, done) {
      for (const { line } of lines) {
        if (line.type !== "header" && line.type !== "end") count(read, line.type, 1);
      }
      for (const [type, added] of Object.entries(done.written)) count(written, type, added);
      for (const [type, left] of Object.entries(done.skipped)) count(skipped, type, left);
      quarantined += done.quarantined.length;
      awaitingConsent += done.awaitingConsent;
    },
    result: () => {
      const present: Counts = {};
      for (const type in read) {
        count(present, type, (read[type] ?? 0) - (written[type] ?? 0) - (skipped[type] ?? 0));
      }
      return {
        ...{ records: sum(read), written, total: sum(written), present, quarantined, awaitingConsent },
        skipped: Object.entries(skipped).map(([type, left]) => ({
          ...{ type, count: left, reason: reasons[type as keyof typeof reasons] },
        })),
      };
    },
  };
}

function count(counts: Counts, type: string, more: number): void {
  if (more > 0) counts[type] = (counts[type] ?? 0) + more;
}

function sum(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((total, each) => total + each, 0);
}
