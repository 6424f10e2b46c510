import type { Rounds } from "../timing.js";

/** How much is loaded, and how often it is measured. */
export interface Sizes {
  /** Memories of the users who are compared with LangGraph's stores. */
  readonly readers: readonly number[];
  /** Memories in the table, all users together. */
  readonly rows: number;
  /** How many times as many rows there are where the table has grown. */
  readonly growth: number;
  /** Memories in the table whose vectors have 1,536 dimensions. */
  readonly dimensionRows: number;
  /** Memories of the users whose writes are compared. */
  readonly writers: readonly [few: number, many: number];
  /** Messages of the threads whose turns are compared. */
  readonly threads: readonly [short: number, long: number, longest: number];
  /**
   * As many warm-ups as V8 needs to compile what a recall runs: a process that serves has long done
   * that.
   */
  readonly recalls: Rounds;
  /** A p95 needs more of them. */
  readonly growthRecalls: Rounds;
  /** Rounds in threads of thousands of messages, each of which may take a second. */
  readonly longTurns: Rounds;
  readonly adds: Rounds;
  readonly batches: Rounds;
  readonly linkedAdds: Rounds;
}

/**
 * Memories of the user who is measured in every table, and of whoever is compared with that user.
 */
export const facts = 1_000;

/** What README.md quotes. */
export const fullSizes: Sizes = {
  readers: [50, facts, 5_000, 20_000],
  rows: 50_000,
  growth: 20,
  dimensionRows: 10_000,
  writers: [1_100, 5_000],
  threads: [100, 5_000, 10_000],
  recalls: { rounds: 100, warmUps: 200 },
  growthRecalls: { rounds: 300, warmUps: 40 },
  longTurns: { rounds: 20, warmUps: 5 },
  adds: { rounds: 100, warmUps: 40 },
  batches: { rounds: 10, warmUps: 1 },
  linkedAdds: { rounds: 280, warmUps: 20 },
};

/** Enough to see that the benchmark works. */
export const smallSizes: Sizes = {
  readers: [50, facts],
  rows: 6_000,
  growth: 2,
  dimensionRows: 2_000,
  writers: [110, 500],
  threads: [100, 500, 1_000],
  recalls: { rounds: 10, warmUps: 6 },
  growthRecalls: { rounds: 20, warmUps: 6 },
  longTurns: { rounds: 5, warmUps: 2 },
  adds: { rounds: 10, warmUps: 25 },
  batches: { rounds: 3, warmUps: 1 },
  linkedAdds: { rounds: 20, warmUps: 5 },
};
