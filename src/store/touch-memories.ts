import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryOrigin, MemoryTrust } from "../domain/trust.js";
import { ownTargets } from "./active-targets.js";

/** A memory that was said again. */
export interface Sighting {
  readonly id: string;
  /** How many more times. */
  readonly times: number;
  readonly confidence: number;
  readonly importance: number;
  readonly assertedTurn: number;
  /** When it was said to hold; null where whoever says so is believed less than who said it before. */
  readonly assertedAt: string | null;
  /** Whose word it is from then on, where they are believed more; null: whose it was. */
  readonly origin: MemoryOrigin | null;
  readonly trust: MemoryTrust | null;
  /** Of several who say it, the highest is taken for whose word it is. */
  readonly rank: number;
}

/** Counts memories of an owner as seen again, closed ones as well; the higher confidence and importance stay. One statement. */
export async function touchMemories(
  tx: Connection,
  input: { ownerRef: number; sightings: readonly Sighting[] },
): Promise<void> {
  if (input.sightings.length === 0) return;
  await tx.query(sql`
    with input as (
      select id, sum(times) as times, max(confidence) as confidence, max(importance) as importance,
        max("assertedTurn") as "assertedTurn", max("assertedAt") as "assertedAt",
        (array_agg(origin order by rank desc))[1] as origin, (array_agg(trust order by rank desc))[1] as trust
      from json_to_recordset(${JSON.stringify(input.sightings)}::json) as s (
        id uuid, times integer, confidence real, importance real, "assertedTurn" bigint,
        "assertedAt" timestamptz, origin text, trust text, rank integer
      )
      group by id
    ),
    ${ownTargets(tx, input.ownerRef)}
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, confidence = greatest(m.confidence, i.confidence),
      importance = greatest(m.importance, i.importance),
      asserted_turn = greatest(m.asserted_turn, i."assertedTurn"),
      asserted_at = greatest(m.asserted_at, m.valid_from, i."assertedAt"),
      origin = coalesce(i.origin, m.origin), trust = coalesce(i.trust, m.trust),
      last_accessed_at = ${tx.now()}, updated_at = ${tx.now()}
    from target i where m.ref = i.ref`);
}
