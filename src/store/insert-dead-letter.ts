import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ThreadTask } from "./claim-thread-task.js";

/** Work that was given up: what it was about, and what the model last said. */
export interface DeadLetter {
  readonly threadRef: number;
  readonly task: ThreadTask;
  /** The messages it was about, both ends included. */
  readonly startSeq: number;
  readonly endSeq: number;
  /** The model's output, where there was one. */
  readonly output: string | null;
  readonly error: string;
}

/** Keeps `letter` for people to look at. */
export async function insertDeadLetter(db: Connection, letter: DeadLetter): Promise<void> {
  await db.query(sql`
    insert into ${db.schema}.dead_letter (thread_ref, task, start_seq, end_seq, output, error, created_at)
    values (${letter.threadRef}, ${letter.task}, ${letter.startSeq}, ${letter.endSeq}, ${letter.output},
      ${letter.error}, ${db.now()})`);
}
