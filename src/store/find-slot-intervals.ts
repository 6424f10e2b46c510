import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { HeldInterval } from "../domain/slot-interval.js";
import { isId } from "./scope-columns.js";

/** A slot of an owner. */
export interface Slot {
  readonly appId: string;
  readonly category: string;
  readonly key: string;
}

/** A stretch of time for which a slot held a value. */
export interface SlotInterval extends HeldInterval, Slot {
  readonly active: boolean;
}

/**
 * For which times the values of `slots` held that are, or were, believed; those of the memory `except` left out. Values
 * that were removed, merged or never approved held for none.
 *
 * Belongs in the transaction of the write, after `lockOwner`. Reads all of the owner's memories: for edits and imports.
 */
export async function findSlotIntervals(
  tx: Connection,
  input: { ownerRef: number; slots: readonly Slot[]; except?: string | undefined },
): Promise<SlotInterval[]> {
  return tx.query<SlotInterval & Record<string, unknown>>(sql`
    select m.app_id as "appId", m.category, m.key, m.state = 'active' as active, to_json(m.valid_from) #>> '{}' as "from",
      case when m.state = 'superseded' then to_json(coalesce(m.valid_to, m.valid_from)) #>> '{}' end as "to"
    from (
      select distinct "appId", category, key
      from json_to_recordset(${JSON.stringify(input.slots)}::json) as s ("appId" text, category text, key text)
    ) s
    join ${tx.schema}.memory m on m.owner_ref = ${input.ownerRef} and ${isId(sql`m.app_id`, sql`s."appId"`)}
      and m.category = s.category and m.key = s.key and m.state in ('active', 'superseded')
    where ${input.except ?? null}::uuid is null or m.id <> ${input.except ?? null}::uuid
    order by m.ref`);
}
