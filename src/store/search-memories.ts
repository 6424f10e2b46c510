import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { candidatesOf, type FoundMemory, type MemoryCandidate, memoryHits } from "./memory-hits.js";
import type { HitSelection } from "./memory-signals.js";
import { type LexicalQuestion, questionTerms } from "./question-terms.js";

/** The memories that may answer a question, in no order. One round trip. */
export async function searchMemories(
  db: Connection,
  question: LexicalQuestion,
  selection: HitSelection,
): Promise<MemoryCandidate[]> {
  const rows = await db.query<FoundMemory & Record<string, unknown>>(
    sql`
    with ${questionTerms(db, question)},
    ${memoryHits(db, selection)}
    select * from found`,
    { prepare: true },
  );
  return candidatesOf(rows);
}
