/** One round of the demo's conversation. */
export interface Round {
  readonly says: string;
  /** The user thinks first, and the summary of the rounds before is completed meanwhile. */
  readonly afterPause?: true;
}

/** Ten rounds; from the fourth on every other one comes too fast for the summary to catch up. */
export const rounds: readonly Round[] = [
  { says: "I want a web shop in Python, on FastAPI." },
  { says: "The database is PostgreSQL 17." },
  { says: "What is the database?" },
  { says: "Design the user table.", afterPause: true },
  { says: "Create the user table." },
  { says: "Plan the order table.", afterPause: true },
  { says: "Orders get an index on user and date." },
  { says: "What is the index of orders?", afterPause: true },
  { says: "Deploy it." },
  { says: "What is the database?", afterPause: true },
];

/** The eleventh, in another process. */
export const nextRound: Round = { says: "Which index do orders get?" };
