import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { isId } from "../../scope/scope-predicates.js";
import type { MemoryItem } from "../item/memory.js";
import type { ValidityInterval } from "./slot-timeline.rule.js";

/** The validity of superseded values in the slot of `memory`, without itself. */
export async function findEndedIntervals(
  tx: Connection,
  ownerRef: number,
  { id, scope, category, key }: MemoryItem,
): Promise<ValidityInterval[]> {
  return tx.query<ValidityInterval & Record<string, unknown>>(sql`
    select to_json(valid_from) #>> '{}' as "from", to_json(coalesce(valid_to, valid_from)) #>> '{}' as "to"
    from ${tx.schema}.memory
    where owner_ref = ${ownerRef} and ${isId(sql`app_id`, scope.appId ?? "")} and category = ${category} and key = ${key}
      and state = 'superseded' and id <> ${id}`);
}
