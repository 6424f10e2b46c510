import { randomUUID } from "node:crypto";
import type pg from "pg";
import { searchText } from "../../src/text/search-text.js";
import { vacuumSchema } from "../bench-database.js";
import { copyRows } from "../data/copy-rows.js";
import { fixedName, sentences } from "../data/corpus.js";

/** How many rows are loaded. */
export interface InspectedSizes {
  readonly conversations: number;
  readonly memories: number;
}

/** The user whose pages are opened, and a conversation of theirs. */
export const reader = fixedName("user", 0);
export const readerThread = fixedName("thread", 0);
/** What the reader asked once: no other message has this word. */
export const rareWord = "bathysphere";

/** Rows of each table that has one for a user. */
const users = 2_000;
const turnsOfThread = 10;
const days = 90;
const dayMs = 86_400_000;
/** Each fifteenth conversation and each twenty-fifth memory is the reader's. */
const readersShare = { threads: 15, memories: 25 };
const categories = ["knowledge", "preferences", "projects", "profile"];
const usageKinds = ["summaries", "facts", "episodes", "notes"];
/** Null, to COPY. */
const none = "\\N";

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

/** Loads `rows` by COPY into a table of the schema, and counts them. */
type Copy = (table: string, columns: string, rows: readonly (readonly string[])[]) => Promise<void>;

interface LoadedThread {
  readonly ref: string;
  readonly id: string;
  readonly user: string;
  readonly at: string;
}

interface LoadedRow {
  readonly id: string;
  readonly user: string;
  readonly text: string;
  readonly category: string;
  readonly state: string;
  readonly at: string;
}

/**
 * Loads, by COPY, users with conversations and memories, and with everything else that the pages
 * list; the words for searches are derived in the database. Throws unless all of it is there.
 *
 * @returns how many rows each table has.
 */
export async function loadInspected(
  pool: pg.Pool,
  schema: string,
  sizes: InspectedSizes,
): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  const copy: Copy = async (table, columns, rows) => {
    await copyRows(pool, `"${schema}".${table} (${columns})`, rows);
    counts[table] = (counts[table] ?? 0) + rows.length;
  };
  const refsOf = async (table: string, name: string) => {
    const { rows } = await pool.query<{ ref: string; name: string }>(
      `select id as ref, ${name} as name from "${schema}".${table}`,
    );
    return new Map(rows.map((row) => [row.name, row.ref]));
  };
  const names = Array.from({ length: users }, (_, n) => fixedName("user", n));
  await copy(
    "owner",
    "tenant_id, user_id, app_id",
    names.map((name) => ["", name, ""]),
  );
  const owners = await refsOf("owner", "user_id");

  await copyThreads(copy, sizes, owners);
  const threadRefs = await refsOf("thread", "thread_id");
  const threads = threadsOf(sizes).map((thread) => {
    return { ...thread, ref: String(threadRefs.get(thread.id)) };
  });
  const said = await copyMessages(copy, threads);
  const memories = memoriesOf(sizes);
  await copyMemories(copy, memories, threads, owners);
  await copyHistory(copy, memories, owners);
  await copyTurns(copy, threads, memories);
  await copyWork(copy, threads, owners);
  await deriveWords(pool, schema, memories, said);
  await vacuumSchema(pool, schema);
  await requireRows(pool, schema, counts);
  return counts;
}

/** A time in the past: 0 is now, 1 the oldest. */
function timeOf(share: number): string {
  return new Date(Date.now() - 60_000 - Math.floor(share * days * dayMs)).toISOString();
}

const tomorrow = () => new Date(Date.now() + dayMs).toISOString();

function threadsOf({ conversations }: InspectedSizes) {
  return Array.from({ length: conversations }, (_, n) => ({
    id: fixedName("thread", n),
    user: fixedName("user", n % readersShare.threads === 0 ? 0 : n % users),
    at: timeOf(n / conversations),
  }));
}

async function copyThreads(
  copy: Copy,
  sizes: InspectedSizes,
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  await copy(
    "thread",
    "tenant_id, thread_id, user_id, app_id, owner_ref, turns, created_at, last_activity_at",
    threadsOf(sizes).map(({ id, user, at }, n) => {
      const app = n % 3 === 0 ? "mail" : "";
      return ["", id, user, app, String(owners.get(user)), String(turnsOfThread), at, at];
    }),
  );
}

/** @returns the messages by their ids. */
async function copyMessages(
  copy: Copy,
  threads: readonly LoadedThread[],
): Promise<ReadonlyMap<string, string>> {
  const texts = sentences(2 * turnsOfThread * threads.length, 41);
  texts[0] = `Where is the ${rareWord}?`;
  const said = new Map<string, string>();
  const rows: string[][] = [];
  for (const { ref, id, at } of threads) {
    for (let seq = 0; seq < 2 * turnsOfThread; seq++) {
      const content = texts[said.size] as string;
      const messageId = `${id}-${seq}`;
      said.set(messageId, content);
      const isUser = seq % 2 === 0;
      const stored = { type: isUser ? "human" : "ai", data: { content, id: messageId } };
      const role = isUser ? "user" : "assistant";
      rows.push([ref, String(seq), messageId, role, content, JSON.stringify(stored), at, at]);
    }
  }
  const columns = "thread_ref, seq, message_id, role, content, serialised, said_at, created_at";
  await copy("message", columns, rows);
  return said;
}

function memoriesOf({ memories }: InspectedSizes): LoadedRow[] {
  return sentences(memories, 42).map((text, n) => ({
    id: randomUUID(),
    user: fixedName("user", n % readersShare.memories === 0 ? 0 : n % users),
    text: `${text} (${n})`,
    category: categories[n % categories.length] as string,
    state: stateOf(n),
    at: timeOf(1 - n / memories),
  }));
}

/** Of a hundred memories two are former values, two were forgotten; some are in quarantine. */
function stateOf(n: number): string {
  if (n % 50 === 1) return "superseded";
  if (n % 50 === 2) return "soft_deleted";
  return n % 1_000 === 3 ? "quarantined" : "active";
}

async function copyMemories(
  copy: Copy,
  memories: readonly LoadedRow[],
  threads: readonly LoadedThread[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  const threadOf = new Map(threads.map((thread) => [thread.user, thread.ref]));
  const columns = `id, owner_ref, tenant_id, user_id, app_id, kind, category, content, content_hash,
    importance, confidence, state, origin, trust, thread_ref, source_seqs, purge_at, created_at, updated_at, last_accessed_at`;
  await copy(
    "memory",
    columns,
    memories.map(({ id, user, text, category, state, at }, n) => {
      const thread = threadOf.get(user);
      const source = thread === undefined ? [none, "{}"] : [thread, "{0}"];
      const purgeAt = state === "soft_deleted" ? tomorrow() : none;
      const whose = [String(owners.get(user)), "", user, ""];
      const what = ["fact", category, text, `bench-${n}`, String(1 + (n % 5)), "1", state];
      return [id, ...whose, ...what, "user", "user", ...source, purgeAt, at, at, at];
    }),
  );
}

/** The audit trail, and the lines of what changed. */
async function copyHistory(
  copy: Copy,
  memories: readonly LoadedRow[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  const revisions = new Map<string, number>();
  const history: string[][] = [];
  const changes: string[][] = [];
  for (const { id, user, text, category, state, at } of memories) {
    const owner = String(owners.get(user));
    const revision = (revisions.get(user) ?? 0) + 1;
    revisions.set(user, revision);
    const added = JSON.stringify({ state: "active", content: text, category });
    history.push([owner, id, "ADD", none, added, "facts", String(revision), "1", at]);
    changes.push([owner, String(revision), id, "created", category, text, "3", at]);
    if (state !== "soft_deleted") continue;
    const gone = JSON.stringify({ state, evidence: "Forget it." });
    history.push([owner, id, "DELETE", '{"state":"active"}', gone, "user", none, "2", at]);
  }
  await copy(
    "history",
    "owner_ref, memory_id, event, old, new, actor, rev, memory_revision, created_at",
    history,
  );
  await copy(
    "change_log",
    "owner_ref, rev, memory_id, event, category, line, importance, created_at",
    changes,
  );
}

/** What each turn was shown, and the events of memories and turns. */
async function copyTurns(
  copy: Copy,
  threads: readonly LoadedThread[],
  memories: readonly LoadedRow[],
): Promise<void> {
  const shown: string[][] = [];
  const events = memories.map(({ id, user, at }) => {
    return ["", user, "", none, "facts", "create", "ok", none, id, at];
  });
  for (const { ref, id, user, at } of threads) {
    for (let turn = 0; turn < turnsOfThread; turn++) {
      const memoryId = memories[shown.length % memories.length]?.id;
      const took = String(3 + (turn % 20));
      const firstSeq = turn === 0 ? "0" : none;
      shown.push([
        ...[ref, String(2 * turn), String(turn + 1), "1", `{${memoryId}}`, "{relevant}", "0"],
        ...[took, firstSeq, at],
      ]);
      events.push(["", user, "", id, "context", "search", "ok", "tool", none, at]);
    }
  }
  const columns =
    "thread_ref, seq, turn, revision, memory_ids, parts, omitted, recall_ms, first_seq, created_at";
  await copy("shown", columns, shown);
  await copy(
    "event",
    "tenant_id, user_id, app_id, thread_id, node, op, status, step, memory_id, created_at",
    events,
  );
}

/** Background work, its usage of models, requests for consent, and erasures. */
async function copyWork(
  copy: Copy,
  threads: readonly LoadedThread[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  const work = [...owners.values()].map((owner) => {
    return ["insights", none, owner, "1", "0", none, none];
  });
  const usage: string[][] = [];
  const summaries: string[][] = [];
  for (const [n, { ref, id, user, at }] of threads.entries()) {
    const failed = n < 5 ? [timeOf(0), "503: overloaded"] : [none, none];
    work.push(["facts", ref, none, "20", "1", ...failed]);
    work.push(["episodes", ref, none, "20", "1", none, none]);
    summaries.push([ref, "0", "9", "completed", "They talked.", at]);
    for (let turn = 0; turn < turnsOfThread; turn++) {
      const kind = usageKinds[turn % usageKinds.length] as string;
      usage.push([randomUUID(), "", user, "", id, kind, "900", "100", "10", at]);
    }
  }
  await copy("work", "kind, thread_ref, owner_ref, done_until, attempts, retry_at, error", work);
  await copy("summary", "thread_ref, start_seq, end_seq, status, content, created_at", summaries);
  await copy(
    "usage",
    "id, tenant_id, user_id, app_id, thread_id, kind, input_tokens, output_tokens, units, created_at",
    usage,
  );
  const consents: string[][] = [];
  const erasures: string[][] = [];
  for (const [user, owner] of owners) {
    const n = consents.length;
    const at = timeOf(n / users);
    const slot = { category: "profile", key: "name", value: user };
    const draft = JSON.stringify({ text: `Is called ${user}.`, ...slot });
    const decided = n % 50 === 0 ? ["pending", none] : ["approved", at];
    consents.push([
      ...[randomUUID(), owner, "", user, "", "consent", "profile", "name", "name", user, user],
      ...[draft, "facts", ...decided, tomorrow(), at],
    ]);
    erasures.push([randomUUID(), "", "user", "joe", '{"memory":3}', "{}", at, at]);
  }
  await copy(
    "consent_request",
    `id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot, normal_value, content_hash,
     draft, proposed_by, status, decided_at, expires_at, created_at`,
    consents,
  );
  await copy(
    "erasure",
    "id, tenant_id, kind, actor, rows_before, rows_after, began_at, ended_at",
    erasures,
  );
}

/** The words of memories and messages, and the sizes of both tables for each owner. */
async function deriveWords(
  pool: pg.Pool,
  schema: string,
  memories: readonly LoadedRow[],
  said: ReadonlyMap<string, string>,
): Promise<void> {
  await pool.query(
    `insert into "${schema}".memory_term (owner_ref, lexeme, memory_ref, frequency, length)
     select m.owner_ref, w.lexeme, m.ref, w.frequency, sum(w.frequency) over (partition by m.ref)
     from unnest($1::uuid[], $2::text[]) i (id, terms)
     join "${schema}".memory m on m.id = i.id and m.state = 'active'
     cross join lateral "${schema}".words_1('english', i.terms) w`,
    [memories.map(({ id }) => id), memories.map(({ text }) => searchText(text))],
  );
  await pool.query(
    `insert into "${schema}".message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
     select t.owner_ref, w.lexeme, m.thread_ref, m.seq, w.frequency,
       sum(w.frequency) over (partition by m.thread_ref, m.seq)
     from unnest($1::text[], $2::text[]) i (id, terms)
     join "${schema}".message m on m.message_id = i.id join "${schema}".thread t on t.id = m.thread_ref
     cross join lateral "${schema}".words_1('english', i.terms) w`,
    [[...said.keys()], [...said.values()].map((content) => searchText(content))],
  );
  const sizes = ["memory", "message"].map((name) => {
    const row = name === "memory" ? "memory_ref" : "thread_ref, seq";
    return `(
      select owner_ref, count(*) as ${name}_count, sum(length) as ${name}_length
      from (select distinct owner_ref, ${row}, length from "${schema}".${name}_term) d group by owner_ref
    ) ${name}`;
  });
  await pool.query(
    `update "${schema}".owner o
     set revision = (select count(*) from "${schema}".change_log c where c.owner_ref = o.id), memory_count = coalesce(memory.memory_count, 0),
       memory_length = coalesce(memory.memory_length, 0),
       message_count = coalesce(message.message_count, 0), message_length = coalesce(message.message_length, 0)
     from ${sizes.join(" full join ")} using (owner_ref) where owner_ref = o.id`,
  );
}

async function requireRows(pool: pg.Pool, schema: string, counts: RowCounts): Promise<void> {
  for (const [table, wanted] of Object.entries(counts)) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from "${schema}".${table}`,
    );
    if (rows[0]?.n !== wanted) throw new Error(`${table} has ${rows[0]?.n} rows, not ${wanted}.`);
  }
}
