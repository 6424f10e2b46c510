import type { Memory, Scope } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import type { CitedTurns } from "./load-conversations.js";
import type { RetrievalConversation } from "./retrieval-data.js";

/** Searches a conversation; per hit, best first, the ids of the turns that it stands for. */
export type Search = (
  conversation: RetrievalConversation,
  question: string,
) => Promise<(readonly string[])[]>;

/** What is loaded, each for users of its own: what one has learned helps no other. */
export type Load = "turns" | "facts" | "vectors";

/** Which turns the memories of each load stand for. */
export type CitedByLoad = Readonly<Record<Exclude<Load, "turns">, CitedTurns>>;

/** Whose a conversation is in a load. */
export function scopeOf(
  load: Load,
  conversation: RetrievalConversation,
): Scope & { readonly userId: string } {
  return { tenantId: load, userId: conversation.id };
}

/**
 * As many hits as the longest recall looks at; all there are: recall at 50 is what the ranking
 * gives, not what the default floor leaves.
 */
const everything = { topK: 50, threshold: 0 };

/** The same of what a recall shows. */
export const showEverything = {
  topK: everything.topK,
  threshold: everything.threshold,
  budgetTokens: 1_000_000,
};

/** The memories that are asked. */
export interface AskedMemories {
  /** Without embeddings. */
  readonly lexical: Memory;
  readonly hybrid: Memory;
  /** Its recall shows everything. */
  readonly showing: Memory;
}

/**
 * Each way to search that is compared, by its name in the line of JSON, with what the tables call
 * it.
 */
export function searchesOf(
  database: BenchDatabase,
  { lexical, hybrid, showing }: AskedMemories,
  cited: CitedByLoad,
): Readonly<Record<string, readonly [what: string, search: Search]>> {
  const messages: Search = async (conversation, query) => {
    const scope = scopeOf("turns", conversation);
    const hits = await lexical.transcript.search({ scope, query, ...everything });
    return hits.map(({ messageId }) => [messageId]);
  };
  const memories =
    (memory: Memory, from: Exclude<Load, "turns">): Search =>
    async (conversation, query) => {
      const hits = await memory.query({ scope: scopeOf(from, conversation), query, ...everything });
      return hits.map((hit) => cited[from].get(hit.memory.id) ?? []);
    };
  const recalled: Search = async (conversation, query) => {
    const scope = scopeOf("vectors", conversation);
    const { memories } = await showing.recall({ scope, threadId: "a new thread", query });
    return memories.relevant.map((hit) => cited.vectors.get(hit.memory.id) ?? []);
  };
  return {
    turns: ["turns", messages],
    bm25: ["turns, by plain BM25 (k1 1.2, b 0.75)", plainBm25(database)],
    observations: ["observations", memories(lexical, "facts")],
    observationsHashing: ["observations, with hashing vectors", memories(hybrid, "vectors")],
    recall: ["observations, as a recall finds them", recalled],
  };
}

/**
 * Fifteen lines of BM25 over PostgreSQL's English stems of the same messages: what a search must be
 * better than.
 */
function plainBm25({ pool, schema }: BenchDatabase): Search {
  return async (conversation, question) => {
    const { tenantId, userId } = scopeOf("turns", conversation);
    const { rows } = await pool.query<{ id: string }>(
      `with text as materialized (
         select m.message_id as id, to_tsvector('english', m.content) as words
         from "${schema}".thread h join "${schema}".message m on m.thread_ref = h.id
         where h.tenant_id = $1 and h.user_id = $2
       ),
       term as (
         select t.id, w.lexeme, cardinality(w.positions)::float8 as tf, sum(cardinality(w.positions)) over (partition by t.id) as length
         from text t cross join unnest(t.words) w
       ),
       asked as (
         select w.lexeme, ln(1 + (n.all_texts - f.texts + 0.5) / (f.texts + 0.5)) as idf
         from unnest(to_tsvector('english', $3)) w, (select count(*) as all_texts from text) n,
         lateral (select count(*) as texts from term t where t.lexeme = w.lexeme) f
       )
       select t.id from term t join asked a using (lexeme),
         (select avg(length) as average from (select distinct id, length from term) l) l
       group by t.id order by sum(a.idf * t.tf / (t.tf + 1.2 * (0.25 + 0.75 * t.length / l.average))) desc, t.id limit 50`,
      [tenantId, userId, question],
    );
    return rows.map(({ id }) => [id]);
  };
}
