import { HumanMessage } from "@langchain/core/messages";
import { withMemory } from "../../src/index.js";
import { internalApi } from "../../src/internal-api.js";
import type { Scope } from "../../src/scope/scope.js";
import { HashingEmbeddings, ScriptedChatModel } from "../../src/testing/index.js";
import { chatAgent } from "../langgraph/conversation.js";
import { candidate, facts, taskModel } from "./task-model.js";
import type { TestDatabase } from "./test-database.js";

/**
 * Gives `scope` rows in every table that holds data of scopes, the checkpointer's too; every text of them contains
 * `word`. Needs vectors to be set up.
 *
 * @returns the memory that wrote them.
 */
export async function fillScope(db: TestDatabase, scope: Scope, word: string, threadId = `thread ${word}`) {
  const model = taskModel({
    conversation_summary: () => ({ structured: { reasoning: "", summary: `They talked about ${word}.` } }),
    fact_extraction: (_, call) =>
      facts(candidate(`The user likes ${word} number ${call}.`, word, { category: "knowledge" })),
  });
  const memory = db.memory({
    model,
    embeddings: new HashingEmbeddings({ dimensions: 16 }),
    config: { memories: { extract: true, linkSimilarity: 0.2 } },
  });
  const { tenantId, userId, appId } = scope;
  const graph = withMemory(chatAgent(answering(word)), memory).compile({ checkpointer: memory.checkpointer() });
  const configurable = {
    thread_id: threadId,
    tenant_id: tenantId,
    user_id: userId,
    app_id: appId,
    agent_id: word,
    run_id: word,
  };
  for (const round of [1, 2, 3]) {
    const messages = [new HumanMessage({ content: `Round ${round} about ${word}`, name: word })];
    await graph.invoke({ messages } as never, { configurable });
  }
  const access = { scope, actor: word };
  const [first] = await memory.memories.add(
    { text: `Lives in ${word}.`, category: "knowledge", key: word, value: word, tags: [word], actorId: word },
    access,
  );
  await memory.memories.add({ text: `Moved to ${word} and stays.`, category: "knowledge", key: word }, access);
  const [other] = await memory.memories.add(
    {
      text: `Wants to see ${word} again.`,
      agentId: word,
      runId: word,
      role: word,
      source: { threadId, seqs: [0], quote: word },
    },
    access,
  );
  await memory.memories.update(other?.id ?? "", { text: `Wants to see ${word} soon.` }, access);
  await memory.memories.remove(other?.id ?? "", access);
  await internalApi(memory).emit({
    scope,
    threadId,
    step: "recall",
    op: "search",
    status: "ok",
    detail: word,
    category: word,
  });
  await memory.store({ scope }).put([word, "kept"], word, { [word]: [word, 1] });
  if (!first?.id) throw new Error("nothing was written");
  await leaveRest(db, threadId, word);
  return memory;
}

/** What only failures and open questions leave. */
async function leaveRest({ pool, schema }: TestDatabase, threadId: string, word: string) {
  await pool.query(
    `insert into "${schema}".work (thread_ref, kind, done_until, output, error, given_up_at)
     select id, 'facts', 0, $2, $2, now() from "${schema}".thread where thread_id = $1`,
    [threadId, word],
  );
  await pool.query(
    `insert into "${schema}".consent_request (id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot,
       normal_value, content_hash, draft, signals, proposed_by, expires_at)
     select gen_random_uuid(), owner_ref, tenant_id, user_id, '', 'consent', $2, $2, $2, $2, $2,
       jsonb_build_object('text', $2::text), jsonb_build_array($2::text), $2, now() + interval '7 days'
     from "${schema}".thread where thread_id = $1`,
    [threadId, word],
  );
  await pool.query(
    `insert into "${schema}".work (owner_ref, kind, done_until, error)
     select owner_ref, 'compaction', 0, $2 from "${schema}".thread where thread_id = $1 on conflict do nothing`,
    [threadId, word],
  );
  await pool.query(
    `insert into "${schema}".note_source (thread_ref, memory_id, owner_ref, start_seq, end_seq)
     select id, gen_random_uuid(), owner_ref, 0, 1 from "${schema}".thread where thread_id = $1`,
    [threadId],
  );
  await pool.query(
    `insert into "${schema}".compared_pair (owner_ref, fingerprint, verdict)
     select distinct owner_ref, $2, 'same' from "${schema}".thread where thread_id = $1 and owner_ref is not null
     on conflict do nothing`,
    [threadId, word],
  );
  await pool.query(
    `update "${schema}".work set error = $2
     where thread_ref in (select id from "${schema}".thread where thread_id = $1)`,
    [threadId, word],
  );
}

function answering(word: string) {
  return new ScriptedChatModel({ replies: (_, index) => `Answer ${index + 1} about ${word}` });
}
