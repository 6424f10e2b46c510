import {
  type Connection,
  commandAt,
  countLacking,
  type Database,
  installedVersion,
  isExpired,
  isIdle,
  isSomebody,
  isWaiting,
  type resolveConfig,
  vectorRows,
} from "mnemograph/contract";
import sql from "sql-template-tag";
import { type Check, ok, warn } from "./check.js";
import { counted } from "./output.js";

/**
 * Scans all memories.
 *
 * @param size of the tables where they are on other servers.
 */
export async function checkStored(db: Connection, size?: string | null): Promise<Check> {
  const { schema } = db;
  const [row] = await db.query<{ counts: string; size: string }>(sql`
    select string_agg(concat(what, ' ', count), ', ') as counts, (
        select pg_size_pretty(sum(pg_total_relation_size(c.oid))) from pg_catalog.pg_class c
        where c.relnamespace = to_regnamespace(${schema.text}) and c.relkind = 'r'
      ) as size
    from (
      select 'threads' as what, count(*) from ${schema}.thread t where ${isSomebody("t")}
      union all select 'messages', count(*) from ${schema}.message
      union all (select concat('memories (', kind, ', ', state, ')'), count(*) from ${schema}.memory group by kind, state order by 1)
      union all (select concat('summaries (', status, ')'), count(*) from ${schema}.summary group by status order by 1)
      union all select 'waiting for consent', count(*) from ${schema}.consent_request c
        where c.status = 'pending' and c.expires_at > ${db.now()}
      union all select 'expired and not removed yet', count(*) from ${schema}.memory m where ${isExpired(db)}
    ) c where count > 0`);
  return ok("stored", `${row?.counts ?? "Nothing"}; ${size ?? row?.size} with indexes.`);
}

/** Days and checkpoints that are counted where nothing is set. */
const [usualIdleDays, usualCheckpoints] = [90, 100];

/** What ages, by the settings; without them, what could. Scans all threads and checkpoints. */
export async function checkThreads(
  db: Connection,
  { threads, checkpoints }: Pick<ReturnType<typeof resolveConfig>, "threads" | "checkpoints">,
): Promise<Check> {
  const { schema } = db;
  const { idleDays = usualIdleDays } = threads;
  const { keep = usualCheckpoints } = checkpoints;
  const [row] = await db.query<{ idle: number; waiting: number; long: number }>(sql`
    select count(*)::int as idle, (count(*) filter (where ${isWaiting(db)}))::int as waiting, (
        select count(*)::int from (
          select from ${schema}.checkpoints c where c.checkpoint_ns = '' group by c.thread_id having count(*) > ${keep}::bigint
        ) l
      ) as long
    from ${schema}.thread t where ${isIdle(db, idleDays)}`);
  const { idle = 0, waiting = 0, long = 0 } = row ?? {};
  const stays = threads.idleDays === undefined ? " (threads.idleDays is not set)" : "";
  const all = checkpoints.keep === undefined ? " (checkpoints.keep is not set)" : "";
  return ok(
    "threads",
    `${counted(idle, "thread")} idle for ${idleDays} days${stays}, ${waiting} of them waiting for background work or consent; ` +
      `${long} with more than ${keep} checkpoints${all}.`,
  );
}

type Space = { ref: number; name: string; dimensions: number; vectors: number; size: string };

const spaceLine = ({ vectors, name, dimensions }: Space) =>
  `${vectors} in ${name}, ${dimensions} dimensions`;

/** The space that a process began to use last comes first. */
export async function checkVectors(db: Database): Promise<Check> {
  const { schema } = db;
  const [current, ...others] = await db.query<Space>(sql`
    select s.id as ref, s.name, s.dimensions, v.vectors, v.size
    from ${schema}.embedding_space s cross join lateral (
      select count(*)::int as vectors, pg_size_pretty(sum(pg_column_size(e.embedding))) as size
      from ${schema}.memory_embedding e where e.space_ref = s.id
    ) v
    order by s.used_at desc, s.id desc`);
  if (!current) return ok("vectors", "None are kept yet.");
  const unused = others
    .map((space) => `; unused: ${spaceLine(space)} (${space.size ?? "empty"})`)
    .join("");
  const says = `${spaceLine(current)}${unused}.`;
  const lacking = await countLacking(db, current, vectorRows);
  if (lacking === 0) return ok("vectors", says);
  const todo = `Run \`${commandAt(db, "reembed --embeddings MODULE")}\`.`;
  return warn("vectors", `${says} ${counted(lacking, "text")} without one.`, todo);
}

/** What a worker needs besides a model, and how to get it. */
export function workerNeeds(): string {
  const version = installedVersion("pg-boss");
  return version === undefined
    ? "which needs the package pg-boss: `npm install pg-boss`"
    : `which needs the package pg-boss (${version} is installed)`;
}

/** What to do about work in a state; null: nothing. */
function workAdvice(db: Database): Readonly<Record<string, string | null>> {
  const upkeep = `Run \`${commandAt(db, "upkeep --model MODULE")}\` from cron`;
  const worker = `start \`${commandAt(db, "worker --model MODULE")}\`, ${workerNeeds()}`;
  // The embedded database belongs to one process, so no worker can share it.
  const deed = db.isEmbedded ? upkeep : `${upkeep}, or ${worker}`;
  const list = commandAt(db, `call listJobs --json '{"state":"failed"}'`);
  const retry = commandAt(db, `call retryJob --json '{"id":"ID"}'`);
  return {
    running: null,
    due: `No process does it. ${deed}.`,
    stuck: `Its worker ended, and none took over. ${deed}.`,
    "given up": `\`${list}\` says why, \`${retry}\` tries again.`,
  };
}

/**
 * Stuck: its lease ran out, and no other worker has taken it. What is due for minutes, no process
 * does.
 */
export async function checkWork(db: Database): Promise<Check[]> {
  const rows = await db.query<{ state: string; says: string; isLong: boolean }>(sql`
    select state, min(since) <= ${db.now()} - interval '5 minutes' as "isLong", concat(count(*), ' ', kind, ' by ' || worker,
      ' since ', to_char(min(since) at time zone 'UTC', 'YYYY-MM-DD HH24:MI"Z"')) as says
    from (
      select kind, case when lease_until is not null then worker end as worker,
        case when given_up_at is not null then 'given up' when lease_until is null then 'due'
          when lease_until > ${db.now()} then 'running' else 'stuck' end as state,
        coalesce(given_up_at, case when lease_until is null then retry_at else coalesce(taken_at, lease_until) end) as since
      from ${db.schema}.work where given_up_at is not null or lease_until is not null or retry_at <= ${db.now()}
    ) k group by state, kind, worker order by min(since)`);
  return Object.entries(workAdvice(db)).map(([state, todo]) => {
    const found = rows.filter((row) => row.state === state);
    const says = found.length > 0 ? `${found.map((row) => row.says).join(", ")}.` : "None.";
    const isWrong = todo !== null && found.some(({ isLong }) => isLong || state !== "due");
    return isWrong ? warn(state, says, todo) : ok(state, says);
  });
}

export async function checkOutages(db: Connection): Promise<Check> {
  const rows = await db.query<{ detail: string }>(sql`
    select e.detail from ${db.schema}.event e
    where e.step = 'database' and e.op = 'resume' and e.created_at > ${db.now()} - interval '24 hours' order by e.id desc limit 100`);
  if (rows.length === 0) return ok("outages", "None was noticed in the last day.");
  const says = `${counted(rows.length, "process", "processes")} noticed one in the last day, the last ${rows[0]?.detail}.`;
  return warn("outages", says, "Look in the server's log for restarts.");
}
