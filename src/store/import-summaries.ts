import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ExportLineOf } from "../domain/export-line.js";

/** A summary to import. */
export type ImportedSummary = Omit<ExportLineOf<"summary">, "type"> & { readonly threadRef: string };

/**
 * Adds the summaries that are not there yet, in their order, which their ids keep. Returns how many.
 *
 * A summary is told by its thread, window and time: its id is only this database's.
 */
export async function importSummaries(
  tx: Connection,
  summaries: readonly ImportedSummary[],
): Promise<number> {
  const { schema } = tx;
  const input = sql`(
    select row_number() over () as position, i.*, (i.base ->> 'startSeq')::int as base_start,
      (i.base ->> 'endSeq')::int as base_end, (i.base ->> 'createdAt')::timestamptz as base_at
    from json_to_recordset(${JSON.stringify(summaries)}::json) as i (
      "threadRef" bigint, "startSeq" integer, "endSeq" integer, "createdAt" timestamptz, base json, status text,
      text text, "generationTimeMs" integer, attempts integer, error text, "rolledBackAt" timestamptz,
      "startRound" integer, "endRound" integer
    )
  )`;
  const added = await tx.query<{ id: string }>(sql`
    insert into ${schema}.summary (thread_ref, start_seq, end_seq, status, content, generation_time_ms, attempts, error,
      rolled_back_at, created_at, start_round, end_round)
    select i."threadRef", i."startSeq", i."endSeq", i.status, i.text, i."generationTimeMs", i.attempts, i.error,
      i."rolledBackAt", i."createdAt", i."startRound", i."endRound"
    from ${input} i
    where not exists (
      select from ${schema}.summary s
      where s.thread_ref = i."threadRef" and s.start_seq = i."startSeq" and s.end_seq = i."endSeq"
        and s.created_at = i."createdAt"
    )
    order by i.position
    returning id`);
  if (added.length === 0) return 0;
  // Those they were made from are there by now, in this batch or an earlier one.
  await tx.query(sql`
    update ${schema}.summary s set base_id = b.id
    from ${input} i
    join ${schema}.summary b
      on b.thread_ref = i."threadRef" and b.start_seq = i.base_start and b.end_seq = i.base_end
      and b.created_at = i.base_at
    where s.id = any (${added.map(({ id }) => id)}::bigint[]) and b.id < s.id and s.thread_ref = i."threadRef"
      and s.start_seq = i."startSeq" and s.end_seq = i."endSeq" and s.created_at = i."createdAt"`);
  return added.length;
}
