import sql, { type Sql } from "sql-template-tag";
import { pairs, without } from "../../postgres/columns.js";
import { snapshotColumns } from "../item/memory-fields.js";

/** Nulls within metadata are the caller's. */
const strippedColumns = without(snapshotColumns, "metadata");
const sourceFields = sql`'{threadId,sourceSeqs,evidence}'::text[]`;

/**
 * JSON of the row `m` of `memory`, for the audit trail. An app's names no speaker and no
 * conversation: the trail outlives the row, and all users of the app read it.
 */
export const snapshot: Sql = sql`jsonb_strip_nulls(
      jsonb_build_object('ref', m.ref, ${pairs(strippedColumns, "m")})
        - case when m.user_id = '' then '{actorId}'::text[] || ${sourceFields} else '{}'::text[] end
    ) || jsonb_build_object('metadata', m.metadata)`;

/** The same of a record with the fields' names, as an export has it. */
export function importedSnapshot(ref: Sql, threadRef: Sql): Sql {
  return sql`jsonb_strip_nulls(to_jsonb(s) - 'metadata' || jsonb_build_object('ref', ${ref}, 'threadId', ${threadRef}))
      || jsonb_build_object('metadata', s.metadata)`;
}

/** Whether the memory of an entry `i` is deleted after it. */
export const isGone: Sql = sql`(i.event = 'DELETE' and coalesce(i.new ->> 'state' in ('purged', 'rejected'), false))`;

/** The snapshot of an entry `h` without the conversation that the memory is from. */
export const withoutSource: Sql = sql`h.snapshot - ${sourceFields}`;

/**
 * What an entry `h` has of the conversation that its `source` names: where a memory was said again, the
 * words are those of another sighting than its own.
 */
export const learnedWords: Sql = sql`case when h.event = 'MERGE' then '{source,text}'::text[] else '{source}'::text[] end`;
