import sql, { raw } from "sql-template-tag";
import type { Json } from "../input/plain-json.js";
import type { Connection } from "../postgres/connection.js";
import { hasCheckpoints } from "./checkpoint-names.js";
import { type MessageChange, withMessageChanged } from "./message-in-json.rule.js";

/** A state with a long conversation has some megabytes, and each checkpoint may have one. */
const statesPerBatch = 20;

const storedValues = [
  { table: "checkpoint_blobs", column: "blob" },
  { table: "checkpoint_writes", column: "blob" },
  { table: "checkpoints", column: "checkpoint" },
  { table: "checkpoints", column: "metadata" },
] as const;

/**
 * Changes a message in every value that the checkpoints `names` store: of subgraphs, pending writes
 * and delta channels too. The caller has locked the thread against writers. Returns the number of
 * changed values.
 */
export async function changeInCheckpoints(
  tx: Connection,
  names: readonly string[],
  change: MessageChange,
): Promise<number> {
  if (names.length === 0 || !(await hasCheckpoints(tx))) return 0;
  let count = 0;
  for (const values of storedValues) count += await changeColumn(tx, names, change, values);
  return count;
}

async function changeColumn(
  tx: Connection,
  names: readonly string[],
  change: MessageChange,
  { table, column: name }: (typeof storedValues)[number],
): Promise<number> {
  const stored = sql`${tx.schema}.${raw(table)}`;
  const column = raw(name);
  const isBytes = name === "blob";
  const id = JSON.stringify(change.messageId);
  const hasId = isBytes
    ? sql`x.type = 'json' and position(convert_to(${id}, 'UTF8') in x.${column}) > 0`
    : sql`strpos(x.${column}::text, ${id}) > 0`;
  const found = await tx.query<{ at: string }>(sql`
    select x.ctid::text as at from ${stored} x where x.thread_id = any (${names}::text[]) and ${hasId}`);
  const whole = isBytes ? sql`convert_from(x.${column}, 'UTF8')` : sql`x.${column}::text`;
  let count = 0;
  for (let first = 0; first < found.length; first += statesPerBatch) {
    const places = found.slice(first, first + statesPerBatch).map(({ at }) => at);
    const rows = await tx.query<{ at: string; whole: string }>(sql`
      select x.ctid::text as at, ${whole} as whole from ${stored} x where x.ctid = any (${places}::tid[])`);
    for (const row of rows) {
      const value = changedValue(JSON.parse(row.whole) as Json, change, table);
      if (value === undefined) continue;
      const text = JSON.stringify(value);
      await tx.query(sql`
        update ${stored} x set ${column} = ${isBytes ? sql`convert_to(${text}, 'UTF8')` : sql`${text}::jsonb`}
        where x.ctid = ${row.at}::tid`);
      count++;
    }
  }
  return count;
}

function changedValue(value: Json, change: MessageChange, table: string): Json | undefined {
  // A value alone in its row of `checkpoint_writes` is what a node gave to a list.
  const isGiven = table === "checkpoint_writes" && !Array.isArray(value);
  if (!isGiven) return withMessageChanged(value, change);
  const list = withMessageChanged([value], change) as Json[] | undefined;
  return list && (list[0] ?? []);
}
