import type { Memory } from "../../src/memory.js";
import { shownBy } from "../../src/prompt/shown-by.js";
import type { TestDatabase } from "./test-database.js";

/** Who asked about nuts, once in all conversations. */
export const nina = { userId: "user-77" } as const;

const [users, conversations, memoriesOfUser, failedJobs] = [100, 300, 500, 5];

/**
 * A database as of some months: 300 conversations, 50,000 memories and 5 jobs that failed. What
 * takes no part in the tasks is loaded straight into the tables: adding looks for duplicates, which
 * would take minutes here.
 */
export async function fillLargeSample(
  memory: Memory,
  { pool, schema }: TestDatabase,
): Promise<void> {
  for (let place = 0; place < conversations; place++) {
    const messages = Array.from({ length: 8 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: `${at % 2 === 0 ? "Which train goes to" : "There is one to"} stop ${place} on day ${at}?`,
      id: `${place}-${at}`,
    }));
    await memory.record({
      scope: { userId: `user-${place % users}` },
      threadId: `trip-${place}`,
      messages,
    });
  }
  await pool.query(
    `with added as (
       insert into "${schema}".memory
         (id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash, importance, confidence)
       select gen_random_uuid(), o.id, '', o.user_id, '', 'fact', (array['knowledge', 'preferences', 'projects'])[1 + n % 3],
         'Likes dish ' || n || ' of the menu of ' || n % 40 || ' in town ' || o.id, 'load-' || n, 1 + n % 4, 0.8
       from "${schema}".owner o cross join generate_series(1, $1::int) n
       returning ref, owner_ref, content
     )
     insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
     select a.owner_ref, v.lexeme, a.ref, cardinality(v.positions), sum(cardinality(v.positions)) over (partition by a.ref)
     from added a cross join lateral unnest(to_tsvector('english', a.content)) v`,
    [memoriesOfUser],
  );
  await pool.query(
    `update "${schema}".owner o set memory_count = c.memories, memory_length = c.length
     from (select owner_ref, count(*) as memories, sum(length) as length
       from (select distinct owner_ref, memory_ref, length from "${schema}".memory_term) d group by owner_ref) c
     where c.owner_ref = o.id`,
  );
  await pool.query(
    `insert into "${schema}".work (thread_ref, kind, done_until, attempts, error, retry_at)
     select id, 'facts', -1, 3, 'MODEL_FAILED: 429 the quota is used up', now() + interval '1 hour'
     from "${schema}".thread where thread_id like 'trip-1_' order by id limit $1
     on conflict (thread_ref, kind) where given_up_at is null do update
       set attempts = 3, error = excluded.error, retry_at = excluded.retry_at`,
    [failedJobs],
  );
  await pool.query(`analyze`);
  await talkOfNuts(memory);
}

async function talkOfNuts(memory: Memory): Promise<void> {
  const scope = nina;
  await memory.memories.add({
    scope,
    memories: { text: "Is allergic to walnuts.", category: "constraints", importance: 5 },
  });
  const query = "What could I bake? Mind that nuts make me ill.";
  const recalled = await memory.recall({ scope, threadId: "baking", query });
  const messages = [
    { role: "user", content: query, id: "b-0" },
    { role: "assistant", content: "A lemon cake: there are no walnuts in it.", id: "b-1" },
  ];
  await memory.remember({ scope, threadId: "baking", messages, shown: shownBy(recalled) });
  for (const place of [1, 2, 3]) {
    const draft = {
      text: `The user's preferred name is N${place}.`,
      category: "profile",
      key: "preferred_name",
    };
    await memory.memories.add({
      scope: { userId: `user-${place}` },
      memories: { ...draft, value: `N${place}` },
    });
  }
  await memory.idle();
}
