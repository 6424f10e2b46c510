import sql from "sql-template-tag";
import { countTranscripts } from "../conversation/list-threads.js";
import type { WorkKind } from "../jobs/work-kinds.rule.js";
import { unexpired } from "../memories/item/memory-row.js";
import { isExpired } from "../memories/write/expire-memories.js";
import type { Database } from "../postgres/database.js";
import { tableSizes } from "../postgres/table-sizes.js";
import { usedToday } from "../usage/usage-statements.js";
import { type Check, ok, warn } from "./check.js";
import { counted, listed, megabytes } from "./output.js";

/** Scans all memories. */
export async function checkStored(db: Database): Promise<Check> {
  const { threads, messages } = await countTranscripts(db);
  const rows = await db.query<{ count: number; kind: string; state: string }>(sql`
    select count(*)::int as count, kind, state from ${db.schema}.memory group by kind, state
    union all select count(*)::int, 'summary', status from ${db.schema}.summary group by status order by kind, state`);
  const others = listed(rows, ({ count, kind, state }) => `${count} ${kind} ${state}`);
  return ok(
    "stored",
    `${counted(threads, "thread")}, ${counted(messages, "message")}; memories and summaries: ${others}.`,
  );
}

const largestTables = 5;

export async function checkSizes(db: Database): Promise<Check> {
  const tables = await tableSizes(db);
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  const largest = listed(tables.slice(0, largestTables), ({ table, rows, bytes }) => {
    return `${table} ${megabytes(bytes)}${rows === null ? "" : ` (some ${counted(rows, "row")})`}`;
  });
  return ok("size", `${megabytes(bytes)} with indexes; the largest: ${largest}.`);
}

interface SpaceRow extends Record<string, unknown> {
  readonly name: string;
  readonly dimensions: number;
  readonly lacking: number;
  readonly vectors: number;
  readonly bytes: number;
}

/** The space of the newest vector comes first: it is the one in use. */
export async function checkVectors(db: Database): Promise<Check> {
  const { schema } = db;
  const [current, ...others] = await db.query<SpaceRow>(sql`
    select s.name, s.dimensions, v.count as vectors, v.bytes, (
        select count(*)::int from ${schema}.store_item i
        where i.index_fields is not null and (i.expires_at is null or i.expires_at > ${db.now()}) and not exists (
          select from ${schema}.store_embedding e
          where e.space_ref = s.id and e.item_ref = i.ref and e.revision = i.revision
        )
      ) + (
        select count(*)::int from ${schema}.memory m
        where m.state = 'active' and ${unexpired(db)} and not exists (
          select from ${schema}.memory_embedding e where e.space_ref = s.id and e.memory_ref = m.ref and e.active
        )
      ) as lacking
    from ${schema}.embedding_space s cross join lateral (
      select count(*)::int as count, coalesce(sum(pg_column_size(e.embedding)), 0)::float8 as bytes, max(e.memory_ref) as newest
      from ${schema}.memory_embedding e where e.space_ref = s.id
    ) v
    order by v.newest desc nulls last, s.id desc`);
  if (!current) return ok("vectors", "None are kept yet.");
  const old = listed(others, ({ name, vectors, bytes }) => `${name} (${vectors}, ${megabytes(bytes)})`);
  const also = others.length === 0 ? "" : `; unused: ${old}`;
  const says = `${current.vectors} in ${current.name}, ${current.dimensions} dimensions`;
  if (current.lacking === 0) return ok("vectors", `${says}${also}.`);
  const todo = "Run `npx mnemograph reembed --embeddings MODULE`.";
  return warn("vectors", `${says}; ${counted(current.lacking, "text")} have none there${also}.`, todo);
}

/** Due for longer, and no process works. */
const longDueMs = 300_000;

interface WorkRow extends Record<string, unknown> {
  readonly state: "due" | "running" | "stuck" | "given up";
  readonly kind: WorkKind;
  readonly worker: string | null;
  readonly count: number;
  readonly since: Date;
  readonly waitedMs: number;
}

export async function checkWork(db: Database): Promise<Check[]> {
  // Stuck: its lease ran out, and no other worker has taken it.
  const rows = await db.query<WorkRow>(sql`
    select *, extract(epoch from ${db.now()} - since)::float8 * 1000 as "waitedMs" from (
      select kind, state, worker, count(*)::int as count, min(since) as since from (
        select kind, case when lease_until is not null then worker end as worker,
          case when given_up_at is not null then 'given up' when lease_until is null then 'due'
            when lease_until > ${db.now()} then 'running' else 'stuck' end as state,
          case when given_up_at is not null then given_up_at when lease_until is null then retry_at
            else coalesce(taken_at, lease_until) end as since
        from ${db.schema}.work where given_up_at is not null or lease_until is not null or retry_at <= ${db.now()}
      ) k group by kind, state, worker
    ) g order by since`);
  const line = (state: WorkRow["state"], todo?: string, longMs = 0) => {
    const found = rows.filter((row) => row.state === state);
    if (found.length === 0) return ok(state, "None.");
    const says = listed(found, ({ count, kind, worker, since }) => {
      return `${count} ${kind}${worker === null ? "" : ` by ${worker}`} since ${since.toISOString()}`;
    });
    const isWrong = todo !== undefined && found.some(({ waitedMs }) => waitedMs >= longMs);
    return isWrong ? warn(state, `${says}.`, todo) : ok(state, `${says}.`);
  };
  const start =
    "start `npx mnemograph worker --model MODULE`, or run `npx mnemograph upkeep --model MODULE` from cron.";
  const list = `\`npx mnemograph call listJobs --json '{"state":"failed"}'\``;
  return [
    line("running"),
    line("due", `No process does it: ${start}`, longDueMs),
    line("stuck", `The worker ended, and none took over: ${start}`),
    line("given up", `${list} says why, \`npx mnemograph call retryJob --json '{"id":"ID"}'\` tries again.`),
  ];
}

export async function checkWaiting(db: Database): Promise<Check[]> {
  type Counts = Record<"consents" | "quarantine" | "expired" | "outages", number>;
  const [row] = await db.query<Counts>(sql`
    select (
        select count(*)::int from ${db.schema}.consent_request c where c.status = 'pending' and c.expires_at > ${db.now()}
      ) as consents,
      (select count(*)::int from ${db.schema}.memory m where m.state = 'quarantined') as quarantine,
      (select count(*)::int from ${db.schema}.memory m where ${isExpired(db)}) as expired,
      (
        select count(*)::int from ${db.schema}.event e
        where e.step = 'database' and e.op = 'resume' and e.created_at > ${db.now()} - interval '24 hours'
      ) as outages`);
  const { consents, quarantine, expired, outages } = row as Counts;
  const { units, calls } = await usedToday(db);
  return [
    ok("waiting", `${consents} for consent, ${quarantine} in quarantine, ${expired} expired and not removed yet.`),
    ok("used today", `${counted(Math.round(units), "unit")} in ${counted(calls, "call")}.`),
    outages === 0
      ? ok("outages", "None was noticed in the last day.")
      : warn("outages", `Processes noticed ${outages} in the last day.`, "Look in the server's log for restarts."),
  ];
}
