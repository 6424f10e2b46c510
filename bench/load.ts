import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import type pg from "pg";
import { createMemory, type Memory } from "../src/index.js";
import { OfflineChatModel } from "../src/testing/index.js";
import { openBenchDatabase, vacuumSchema } from "./bench-database.js";
import { addMemories, messagesOf } from "./bench-memory.js";
import { copyRows } from "./data/copy-rows.js";
import { fixedName } from "./data/corpus.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";
import { timing } from "./timing.js";

// What one process does for many users at once, on a server with many owners.
//   DATABASE_URL=... npm run bench:load [-- --minutes 10 --owners 100000 --users 200 --requests 1000000]
// Each of the users takes turns without pauses, each turn for another owner, in its second, third, …
// turn of a thread: recall, then remember. Facts, summaries and episodes are made in the same process,
// by a model that answers at once.

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    owners: { type: "string", default: "100000" },
    users: { type: "string", default: "200" },
    /** Turns at most. */
    requests: { type: "string", default: "1000000" },
  },
});
const minutes = Number(values.minutes);
const owners = Number(values.owners);
const users = Number(values.users);
const requests = Number(values.requests);
const numbers = { minutes, owners, users, requests };
if (Object.values(numbers).some((each) => !(each > 0)))
  throw new Error(`Each option is a number above 0: ${JSON.stringify(numbers)}`);

const facts = [
  "The user lives in Lisbon and works as an architect.",
  "The user is allergic to peanuts and shellfish.",
  "The user plays chess every Thursday evening.",
];
const turnsOfThread = 5;
const said = [
  "My name is Ana and I live in Lisbon. What should I cook tonight?",
  "I am allergic to peanuts, so leave those out, please.",
  "What do you know about my hobbies, and when do I play?",
  "I prefer short answers. Please remember that for later.",
  "Which restaurant in Lisbon would you recommend for Thursday?",
];
const answer = "There are several good ones, and I keep in mind what you told me about yourself.";

const database = await openBenchDatabase();
try {
  if (database.server === null)
    throw new Error("bench:load needs a server: set DATABASE_URL to its connection string.");
  printEnvironment(database);
  await measure(database.pool, database.server, database.schema);
} finally {
  await database.close();
}

async function measure(pool: pg.Pool, server: string, schema: string): Promise<void> {
  const memory = createMemory({ database: server, schema, model: new OfflineChatModel() });
  await memory.setup();
  const loading = performance.now();
  await loadOwners(memory, pool, schema);
  const loadSeconds = (performance.now() - loading) / 1_000;

  const levels = watchLevels(pool, schema);
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  const ms = await takeTurns(memory);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = process.memoryUsage().rss;
  const { connections, backlog } = await levels.stop();
  const atEnd = await backlogOf(pool, schema);
  await requireRecorded(pool, schema, ms.length);
  // What is still due ends with the schema: doing it is not what is measured.
  await pool.query(`update "${schema}".work set retry_at = null`);
  await memory.close();

  const { p50, p95 } = timing(ms);
  const megabytes = (bytes: number) => Math.round(bytes / 1_000_000);
  const measured = {
    owners,
    users,
    minutes: seconds / 60,
    turns: ms.length,
    "turns a second": ms.length / seconds,
    "p50 ms": p50,
    "p95 ms": p95,
    "RSS at start MB": megabytes(before),
    "RSS at end MB": megabytes(after),
    "connections at most": connections,
    "due work at most": backlog,
    "due work at end": atEnd,
    "loaded in s": loadSeconds,
  };
  printTable(
    "One process under load",
    Object.entries(measured).map(([what, value]) => ({ what, value })),
  );
  printLoad();
  printResult(measured);
}

/** Owners by COPY, each with the facts of the first, and a check that all of it is there. */
async function loadOwners(memory: Memory, pool: pg.Pool, schema: string): Promise<void> {
  const first = fixedName("user", 0);
  await addMemories(
    memory,
    { userId: first },
    facts.map((text) => ({ text })),
  );
  const names = Array.from({ length: owners - 1 }, (_, n) => ["", fixedName("user", n + 1), ""]);
  await copyRows(pool, `"${schema}".owner (tenant_id, user_id, app_id)`, names);
  await pool.query(
    `with source as (select * from "${schema}".memory where user_id = $1),
     added as (
       insert into "${schema}".memory
         (id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash, importance, confidence)
       select gen_random_uuid(), o.id, '', o.user_id, '', s.kind, s.category, s.content, s.content_hash, s.importance, s.confidence
       from "${schema}".owner o cross join source s where o.user_id <> $1
       returning ref, owner_ref, content_hash
     )
     insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
     select a.owner_ref, t.lexeme, a.ref, t.frequency, t.length
     from added a join source s on s.content_hash = a.content_hash join "${schema}".memory_term t on t.memory_ref = s.ref`,
    [first],
  );
  await pool.query(
    `update "${schema}".owner o set memory_count = f.memory_count, memory_length = f.memory_length
     from "${schema}".owner f where f.user_id = $1 and o.user_id <> $1`,
    [first],
  );
  await vacuumSchema(pool, schema);
  const { rows } = await pool.query<{ owners: number; memories: number }>(
    `select (select count(*)::int from "${schema}".owner) as owners,
       (select count(distinct owner_ref)::int from "${schema}".memory) as memories`,
  );
  if (rows[0]?.owners !== owners || rows[0].memories !== owners)
    throw new Error(`Loaded ${JSON.stringify(rows[0])}, not ${owners} owners with memories.`);
}

/** How long each turn took, in milliseconds. Throws if one fails, or a thread's first is not given memories. */
async function takeTurns(memory: Memory): Promise<number[]> {
  const ms: number[] = [];
  const endsAt = performance.now() + minutes * 60_000;
  let begun = 0;
  const user = async (number: number) => {
    for (let turn = 0; performance.now() < endsAt && begun < requests; turn++) {
      begun++;
      // A step that is prime to most numbers of owners spreads the threads over the tables.
      const conversation = number + users * Math.floor(turn / turnsOfThread);
      const scope = { userId: fixedName("user", (conversation * 7_919) % owners) };
      const thread = { scope, threadId: `thread ${conversation}` };
      const question = said[turn % turnsOfThread] ?? "";
      const startedAt = performance.now();
      const recalled = await memory.recall({ ...thread, query: question });
      await memory.remember({ ...thread, messages: messagesOf([question, answer]) });
      ms.push(performance.now() - startedAt);
      const { profile, relevant, rest } = recalled.memories;
      const isFirst = turn % turnsOfThread === 0;
      if (isFirst && profile.length + relevant.length + rest.length === 0)
        throw new Error(`A turn of ${scope.userId} was given no memories.`);
    }
  };
  await Promise.all(Array.from({ length: users }, (_, number) => user(number)));
  return ms;
}

async function backlogOf(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ due: number }>(
    `select count(*)::int as due from "${schema}".work
     where given_up_at is null and coalesce(lease_until, retry_at) <= now()`,
  );
  return rows[0]?.due ?? 0;
}

/** The most connections and due work, seen each second. */
function watchLevels(pool: pg.Pool, schema: string) {
  const most = { connections: 0, backlog: 0 };
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const { rows } = await pool.query<{ connections: number }>(
        "select count(*)::int as connections from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
        [schema],
      );
      most.connections = Math.max(most.connections, rows[0]?.connections ?? 0);
      most.backlog = Math.max(most.backlog, await backlogOf(pool, schema));
      await wait(1_000);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return most;
    },
  };
}

async function requireRecorded(pool: pg.Pool, schema: string, turns: number): Promise<void> {
  const { rows } = await pool.query<{ messages: number }>(
    `select count(*)::int as messages from "${schema}".message`,
  );
  if (rows[0]?.messages !== 2 * turns)
    throw new Error(
      `${rows[0]?.messages} messages are stored, not the ${2 * turns} of ${turns} turns.`,
    );
}
