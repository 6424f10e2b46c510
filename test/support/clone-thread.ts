import { randomUUID } from "node:crypto";
import type { TestDatabase } from "./test-database.js";

/** Copies the checkpoints of a thread to a new one. Returns its id. */
export async function cloneThread(
  { pool, schema }: TestDatabase,
  threadId: string,
): Promise<string> {
  const copy = randomUUID();
  const tables = {
    checkpoints: "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    checkpoint_blobs: "checkpoint_ns, channel, version, type, blob",
    checkpoint_writes: "checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob",
  };
  for (const [table, columns] of Object.entries(tables)) {
    await pool.query(
      `insert into "${schema}".${table} (thread_id, ${columns})
       select $2, ${columns} from "${schema}".${table} where thread_id = $1`,
      [threadId, copy],
    );
  }
  return copy;
}
