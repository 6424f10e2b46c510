import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type pg from "pg";
import type { Memory } from "../../src/index.js";
import { addMemories, recordTurns } from "../bench-memory.js";
import { type LoadedMemory, makeCorpus, type Owner, sentences } from "./corpus.js";
import { loadMemories } from "./load-memories.js";

/** How much there is of one user. */
interface Counts {
  readonly memories: number;
  readonly vectors: number;
  readonly sources: number;
}

/**
 * Throws unless `memory.memories.add` and `loadMemories` write the same words, vectors and sources
 * for the same texts. The two users it needs are forgotten again.
 */
export async function checkLoader(
  memory: Memory,
  { pool, schema, embeddings }: { pool: pg.Pool; schema: string; embeddings: EmbeddingsInterface },
): Promise<void> {
  const texts = sentences(20, 5);
  const owner = (userId: string): Owner => ({ userId, texts, threadId: `${userId}'s thread` });
  const [added, loaded] = [owner("added by add"), owner("loaded")];
  for (const { userId, threadId = "" } of [added, loaded]) {
    const said = texts.map((text) => [text, "Gladly."] as const);
    await recordTurns(memory, { scope: { userId }, threadId }, said);
  }
  await addMemories(
    memory,
    { userId: added.userId },
    texts.map((text, index) => ({
      text,
      source: { threadId: added.threadId as string, seqs: [index * 2] },
    })),
  );
  await loadMemories(pool, schema, await makeCorpus([loaded], texts.length, embeddings));
  const { rows } = await pool.query<{ content: string }>(
    `select content from (
       select m.content, row(
         m.kind, m.category, m.state, m.source_seqs, m.thread_ref is null, o.memory_count, o.memory_length,
         (select array_agg(row(lexeme, frequency, length)::text order by lexeme) from "${schema}".memory_term t
          where t.memory_ref = m.ref and t.owner_ref = m.owner_ref),
         (select array_agg(row(space_ref, active, embedding)::text) from "${schema}".memory_embedding e
          where e.memory_ref = m.ref and e.owner_ref = m.owner_ref)
       )::text as written
       from "${schema}".memory m join "${schema}".owner o on o.id = m.owner_ref where m.user_id = any ($1)
     ) each group by content having count(*) <> 2 or count(distinct written) <> 1`,
    [[added.userId, loaded.userId]],
  );
  for (const { userId } of [added, loaded]) await memory.forget({ scope: { userId } });
  if (rows[0])
    throw new Error(
      `${rows.length} memories were not loaded as they are added: ${rows[0].content}`,
    );
}

/**
 * Throws unless every user of `corpus` has as many memories, vectors and sources as it says, and no
 * other user has any.
 */
export async function checkMemories(
  pool: pg.Pool,
  schema: string,
  corpus: readonly LoadedMemory[],
): Promise<void> {
  const wanted = new Map<string, Counts>();
  for (const { userId, source } of corpus) {
    const { memories, vectors, sources } = wanted.get(userId) ?? {
      memories: 0,
      vectors: 0,
      sources: 0,
    };
    wanted.set(userId, {
      memories: memories + 1,
      vectors: vectors + 1,
      sources: sources + (source ? 1 : 0),
    });
  }
  const { rows } = await pool.query<{ userId: string } & Counts>(
    `select m.user_id as "userId", count(*)::integer as memories, count(e.embedding)::integer as vectors,
       (count(*) filter (where exists (
         select from "${schema}".message g where g.thread_ref = m.thread_ref and g.seq = any (m.source_seqs)
       )))::integer as sources
     from "${schema}".memory m left join "${schema}".memory_embedding e on e.memory_ref = m.ref
     where m.state = 'active' group by m.user_id`,
  );
  if (rows.length !== wanted.size)
    throw new Error(`${rows.length} users have memories, not ${wanted.size}.`);
  for (const { userId, ...counts } of rows) requireSame(userId, counts, wanted.get(userId));
}

/** Throws unless the user of each thread has as many messages as it says. */
export async function checkMessages(
  pool: pg.Pool,
  schema: string,
  wanted: Readonly<Record<string, number>>,
): Promise<void> {
  const { rows } = await pool.query<{ userId: string; messages: number }>(
    `select t.user_id as "userId", count(*)::integer as messages
     from "${schema}".thread t join "${schema}".message m on m.thread_ref = t.id
     where t.user_id = any ($1) group by t.user_id`,
    [Object.keys(wanted)],
  );
  const found = Object.fromEntries(rows.map(({ userId, messages }) => [userId, messages]));
  for (const [userId, messages] of Object.entries(wanted)) {
    requireSame(userId, { messages: found[userId] ?? 0 }, { messages });
  }
}

function requireSame(userId: string, found: object, wanted: object | undefined): void {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (is !== should) throw new Error(`${userId} has ${is}, not ${should}.`);
}
