import type pg from "pg";
import { candidate } from "./task-model.js";
import type { TestConfig } from "./test-memory.js";

export interface DueJobsPlace {
  readonly pool: Pick<pg.Pool, "query">;
  readonly schema: string;
}

/**
 * Makes `threads` users of seven tenants, each with a conversation of two turns and two due jobs:
 * facts and an episode.
 */
export async function makeDueJobs({ pool, schema }: DueJobsPlace, threads: number): Promise<void> {
  await pool.query(
    `insert into "${schema}".owner (tenant_id, user_id, app_id, turns)
     select 'tenant ' || n % 7, 'user ' || n, '', 2 from generate_series(1, $1::int) n`,
    [threads],
  );
  await pool.query(
    `insert into "${schema}".thread (tenant_id, thread_id, user_id, app_id, owner_ref, turns)
     select o.tenant_id, 'thread of ' || o.user_id, o.user_id, '', o.id, 2 from "${schema}".owner o
     where o.user_id like 'user %'`,
  );
  await pool.query(
    `insert into "${schema}".message (thread_ref, seq, message_id, role, content, serialised)
     select t.id, m.seq, m.seq || ' of ' || t.thread_id, m.role, m.content,
       json_build_object('role', m.role, 'content', m.content)
     from "${schema}".thread t cross join (values
       (0, 'user', 'My name is Ana and I live in Lisbon.'), (1, 'assistant', 'Noted.'),
       (2, 'user', 'What is the weather like?'), (3, 'assistant', 'Fine.')
     ) m (seq, role, content)
     where t.user_id like 'user %'`,
  );
  await pool.query(
    `insert into "${schema}".work (thread_ref, kind, done_until, retry_at)
     select t.id, k.kind, k.done_until, now() from "${schema}".thread t
     cross join (values ('facts', -1), ('episodes', 0)) k (kind, done_until)
     where t.user_id like 'user %'`,
  );
}

/** Jobs still open, memories by kind, missing memories and duplicates. */
type JobEffects = Record<"open" | "facts" | "episodes" | "lost" | "duplicates", number>;

/** The effects of the jobs of `makeDueJobs`. */
export async function readEffects({ pool, schema }: DueJobsPlace): Promise<JobEffects> {
  const { rows } = await pool.query<JobEffects>(
    `with made as (
       select o.id, count(h.*) filter (where h.kind = 'fact') as facts, count(h.*) filter (where h.kind = 'episode') as episodes
       from "${schema}".owner o left join "${schema}".memory h on h.owner_ref = o.id
       group by o.id
     )
     select
       (select count(*)::int from "${schema}".work where retry_at is not null or lease_until is not null) as open,
       sum(facts)::int as facts, sum(episodes)::int as episodes,
       (sum((facts = 0)::int) + sum((episodes = 0)::int))::int as lost,
       (sum(greatest(facts - 1, 0)) + sum(greatest(episodes - 1, 0)))::int as duplicates
     from made`,
  );
  return rows[0] ?? { open: 0, facts: 0, episodes: 0, lost: 0, duplicates: 0 };
}

/** The answers of a model to the jobs of `makeDueJobs`: one fact and one episode. */
export const instantAnswers = {
  fact_extraction: () => ({
    reasoning: "",
    facts: [candidate("Lives in Lisbon.", "I live in Lisbon")],
  }),
  episode_summary: () => ({ reasoning: "", summary: "They spoke of Lisbon." }),
};

/** Settings with which only the two jobs of `makeDueJobs` become due. */
export const dueJobsConfig = {
  memories: { extract: true, episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 },
  insights: { enabled: false },
  consolidation: { enabled: false },
} satisfies TestConfig;
