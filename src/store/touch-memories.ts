import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { activeTargets } from "./active-targets.js";

/** A memory that was said again. */
export interface Sighting {
  readonly id: string;
  /** How many more times. */
  readonly times: number;
  readonly confidence: number;
  readonly importance: number;
  readonly assertedTurn: number;
}

/** Counts memories as seen again; the higher confidence and importance stay. One statement. */
export async function touchMemories(
  tx: Connection,
  input: { ownerRef: number; sightings: readonly Sighting[] },
): Promise<void> {
  if (input.sightings.length === 0) return;
  await tx.query(sql`
    with input as (
      select id, sum(times) as times, max(confidence) as confidence, max(importance) as importance,
        max("assertedTurn") as "assertedTurn"
      from json_to_recordset(${JSON.stringify(input.sightings)}::json) as s (
        id uuid, times integer, confidence real, importance real, "assertedTurn" bigint
      )
      group by id
    ),
    ${activeTargets(tx, input.ownerRef)}
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, confidence = greatest(m.confidence, i.confidence),
      importance = greatest(m.importance, i.importance),
      asserted_turn = greatest(m.asserted_turn, i."assertedTurn"),
      last_accessed_at = ${tx.now()}, updated_at = ${tx.now()}
    from target i where m.ref = i.ref`);
}
