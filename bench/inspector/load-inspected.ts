import type pg from "pg";
import { vacuumSchema } from "../bench-database.js";
import { sentences } from "../data/corpus.js";
import { loadMemories } from "../data/load-memories.js";

/** How much there is of the one user. */
export interface InspectedSizes {
  readonly memories: number;
  readonly threads: number;
  /** Of the one long thread. */
  readonly messages: number;
}

/** Messages that each summary of the long thread covers, and by how many each is later than the one before. */
const [windowMessages, stepMessages] = [14, 20];

/** Loads one user's memories, threads and one long thread with its summaries straight into the tables of `schema`. */
export async function loadInspected(pool: pg.Pool, schema: string, sizes: InspectedSizes): Promise<void> {
  await pool.query(
    `insert into "${schema}".thread (tenant_id, thread_id, user_id, app_id, last_activity_at)
     select '', case n when 0 then 'long' else 'thread ' || n end, 'ana', '', now() - n * interval '1 minute'
     from generate_series(0, $1::int - 1) n`,
    [sizes.threads],
  );
  await pool.query(
    `insert into "${schema}".message (thread_ref, seq, message_id, role, content, serialised)
     select t.id, n, 'm' || n, case n % 2 when 0 then 'user' else 'assistant' end,
       'Message ' || n || ' ' || repeat('says something about a green boat. ', 8), '{}'
     from "${schema}".thread t, generate_series(0, $1::int - 1) n where t.thread_id = 'long'`,
    [sizes.messages],
  );
  await pool.query(
    `insert into "${schema}".summary (thread_ref, start_seq, end_seq, status, content, generation_time_ms)
     select t.id, greatest(0, n * $2::int - $3::int), n * $2::int, 'completed',
       'Summary ' || n || ': ' || repeat('what was said about the boat. ', 60), 900
     from "${schema}".thread t, generate_series(1, ($1::int - 1) / $2::int) n where t.thread_id = 'long'`,
    [sizes.messages, stepMessages, windowMessages],
  );
  const texts = sentences(sizes.memories, 17);
  await loadMemories(
    pool,
    schema,
    texts.map((text, index) => ({
      userId: "ana",
      text: `${text} (number ${index})`,
      vector: [],
      source: null,
    })),
  );
  await vacuumSchema(pool, schema);
}
