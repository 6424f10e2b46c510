import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryKind } from "../domain/memory.js";
import { isId } from "./scope-columns.js";

/** A memory in quarantine, by what it says. */
export interface QuarantinedWords {
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly contentHash: string;
}

/** A memory in quarantine that was counted as seen again. */
export interface SightedWords extends QuarantinedWords, Record<string, unknown> {
  readonly id: string;
  readonly category: string;
  readonly seenCount: number;
}

/** Counts memories in quarantine as seen again, and returns those of `sightings` that are there. One statement. */
export async function sightQuarantined(
  tx: Connection,
  input: { ownerRef: number; sightings: readonly (QuarantinedWords & { readonly times: number })[] },
): Promise<SightedWords[]> {
  return tx.query<SightedWords>(sql`
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, updated_at = ${tx.now()}
    from json_to_recordset(${JSON.stringify(input.sightings)}::json) as i (
      "appId" text, kind text, "contentHash" text, times integer
    )
    where m.owner_ref = ${input.ownerRef} and ${isId(sql`m.app_id`, sql`i."appId"`)}
      and m.kind = i.kind and m.content_hash = i."contentHash" and m.state = 'quarantined'
    returning m.id, m.category, m.seen_count as "seenCount", m.app_id as "appId", m.kind, m.content_hash as "contentHash"`);
}
