import {
  commandAt,
  countLacking,
  type Database,
  hasCheckpoints,
  installedVersion,
  isIdle,
  isWaiting,
  type resolveConfig,
  vectorRows,
} from "mnemograph/contract";
import sql from "sql-template-tag";
import { type Check, ok, warn } from "./check.js";
import { counted } from "./output.js";

/** In the space that a process began to use last. */
export async function checkVectors(db: Database): Promise<Check> {
  const { schema } = db;
  const [space] = await db.query<{ ref: number; says: string }>(sql`
    select s.id as ref, concat(s.name, ', ', s.dimensions, ' dimensions') as says
    from ${schema}.embedding_space s order by s.used_at desc, s.id desc limit 1`);
  if (!space) return ok("vectors", "None are kept yet.");
  const lacking = await countLacking(db, space, vectorRows);
  if (lacking === 0) return ok("vectors", `All texts have one in ${space.says}.`);
  const todo = `Run \`${commandAt(db, "reembed --embeddings MODULE")}\`.`;
  return warn("vectors", `${counted(lacking, "text")} without one in ${space.says}.`, todo);
}

/** What a worker needs besides a model, and how to get it. */
function workerNeeds(): string {
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
  const dismiss = commandAt(db, `call dismissJob --json '{"id":"ID","reason":"WHY"}'`);
  return {
    running: null,
    due: `No process does it. ${deed}.`,
    stuck: `Its worker ended, and none took over. ${deed}.`,
    "given up": `\`${list}\` says why, \`${retry}\` tries again, \`${dismiss}\` leaves it undone.`,
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

/** Maintenance deletes idle threads each hour: a day later, no process does. */
const overdueDays = 1;

/** Threads and checkpoints that go by age. Counts only what a setting is about. */
export async function checkThreads(
  db: Database,
  { threads, checkpoints }: Pick<ReturnType<typeof resolveConfig>, "threads" | "checkpoints">,
): Promise<Check[]> {
  const says: string[] = [];
  let overdue = 0;
  const { schema } = db;
  const { idleDays } = threads;
  const { keep } = checkpoints;
  if (idleDays !== undefined) {
    const kept = await hasCheckpoints(db);
    const isIdleFor = (days: number) => isIdle(db, { days, hasCheckpoints: kept });
    const [row] = await db.query<{ idle: number; waiting: number; overdue: number }>(sql`
      select count(*)::int as idle, (count(*) filter (where i.waits))::int as waiting,
        (count(*) filter (where i.overdue and not i.waits))::int as overdue
      from (
        select ${isWaiting(db)} as waits, ${isIdleFor(idleDays + overdueDays)} as overdue
        from ${schema}.thread t where ${isIdleFor(idleDays)}
      ) i`);
    overdue = row?.overdue ?? 0;
    says.push(
      `${counted(row?.idle ?? 0, "thread")} idle for ${idleDays} days, ${row?.waiting ?? 0} of them waiting for background work or consent.`,
    );
  }
  if (keep !== undefined) {
    const [row] = await db.query<{ long: number }>(sql`
      select count(*)::int as long from (
        select from ${schema}.checkpoints c where c.checkpoint_ns = '' group by c.thread_id having count(*) > ${keep}::bigint
      ) l`);
    says.push(`${counted(row?.long ?? 0, "thread")} with more than ${keep} checkpoints.`);
  }
  if (says.length === 0) return [];
  if (overdue === 0) return [ok("threads", says.join(" "))];
  const todo = `No process deletes ${overdue} of them. Run \`${commandAt(db, "upkeep")}\` from cron.`;
  return [warn("threads", says.join(" "), todo)];
}
