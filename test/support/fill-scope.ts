import { HumanMessage } from "@langchain/core/messages";
import { type Memory, withMemory } from "../../src/index.js";
import { internalApi } from "../../src/internal-api.js";
import type { Scope } from "../../src/scope/scope.js";
import { HashingEmbeddings, ScriptedChatModel } from "../../src/testing/index.js";
import { chatAgent } from "../langgraph/conversation.js";
import { candidate, facts, taskModel } from "./task-model.js";
import type { TestDatabase } from "./test-database.js";

/**
 * Gives `scope` rows in every table with data of scopes, checkpoints included. Every text contains
 * `word`. Needs vectors. Returns the memory that wrote them.
 */
export async function fillScope(
  db: TestDatabase,
  scope: Scope,
  word: string,
  threadId = `thread ${word}`,
) {
  const model = taskModel({
    conversation_summary: () => ({
      structured: { reasoning: "", summary: `They talked about ${word}.` },
    }),
    fact_extraction: (_, call) =>
      facts(candidate(`The user likes ${word} number ${call}.`, word, { category: "knowledge" })),
  });
  const config = { memories: { extract: true, linkSimilarity: 0.2 } };
  const memory = db.memory({
    model,
    embeddings: new HashingEmbeddings({ dimensions: 16 }),
    config,
  });
  const answers = new ScriptedChatModel({
    replies: (_, index) => `Answer ${index + 1} about ${word}`,
  });
  const graph = withMemory(chatAgent(answers), memory).compile({
    checkpointer: memory.checkpointer(),
  });
  const { tenantId: tenant_id, userId: user_id, appId: app_id } = scope;
  const configurable = {
    thread_id: threadId,
    tenant_id,
    user_id,
    app_id,
    agent_id: word,
    run_id: word,
  };
  for (const round of [1, 2, 3]) {
    const messages = [new HumanMessage({ content: `Round ${round} about ${word}`, name: word })];
    await graph.invoke({ messages } as never, { configurable });
    if (round === 1) await changeTranscript(memory, { scope, threadId }, word);
  }
  const access = { scope, actor: word };
  const [first] = await memory.memories.add({
    ...access,
    memories: {
      text: `Lives in ${word}.`,
      category: "knowledge",
      key: word,
      value: word,
      tags: [word],
      actorId: word,
      metadata: { word },
    },
  });
  await memory.memories.add({
    ...access,
    memories: { text: `Moved to ${word} and stays.`, category: "knowledge", key: word },
  });
  const labels = {
    agentId: word,
    runId: word,
    role: word,
    source: { threadId, seqs: [0], quote: word },
  };
  const [other] = await memory.memories.add({
    ...access,
    memories: { text: `Wants to see ${word} again.`, ...labels },
  });
  await memory.memories.update({
    ...access,
    id: other?.id ?? "",
    text: `Wants to see ${word} soon.`,
  });
  await memory.memories.remove({ ...access, id: other?.id ?? "" });
  const event = {
    step: "recall",
    op: "search",
    status: "ok",
    detail: word,
    category: word,
  } as const;
  await internalApi(memory).emit({ scope, threadId, ...event });
  await memory.store({ scope }).put([word, "b,c"], word, { [word]: [word, 1] });
  if (!first?.id) throw new Error("nothing was written");
  await leaveRest(db, threadId, word);
  return memory;
}

/** Rows that only failures and open questions leave. */
async function leaveRest({ pool, schema }: TestDatabase, threadId: string, word: string) {
  const thread = `from "${schema}".thread where thread_id = $1`;
  const run = (statement: string, ...more: string[]) => pool.query(statement, [threadId, ...more]);
  await run(
    `insert into "${schema}".work (thread_ref, kind, done_until, output, error, given_up_at)
     select id, 'facts', 0, $2, $2, now() ${thread}`,
    word,
  );
  await run(
    `insert into "${schema}".consent_request (id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot,
       normal_value, content_hash, draft, signals, proposed_by, expires_at)
     select gen_random_uuid(), owner_ref, tenant_id, user_id, '', 'consent', $2, $2, $2, $2, $2,
       jsonb_build_object('text', $2::text), jsonb_build_array($2::text), $2, now() + interval '7 days' ${thread}`,
    word,
  );
  await run(
    `insert into "${schema}".work (owner_ref, kind, done_until, error)
     select owner_ref, 'compaction', 0, $2 ${thread} on conflict do nothing`,
    word,
  );
  await run(
    `insert into "${schema}".note_source (thread_ref, memory_id, owner_ref, start_seq, end_seq)
     select id, gen_random_uuid(), owner_ref, 0, 1 ${thread}`,
  );
  const { rows } = await pool.query(`select owner_ref ${thread}`, [threadId]);
  await pool.query(
    `insert into "${schema}".compared_pair (owner_ref, fingerprint, verdict)
     values ($1, $2, 'same') on conflict do nothing`,
    [rows[0]?.owner_ref, word],
  );
  await pool.query(
    `insert into "${schema}".consolidation (id, owner_ref, status, plan, memory_ids, decided_by)
     values (gen_random_uuid(), $1, 'dismissed', '{"pairs": [], "doubts": []}', '{}', $2)`,
    [rows[0]?.owner_ref, word],
  );
  await run(
    `update "${schema}".work set error = $2 where thread_ref in (select id ${thread})`,
    word,
  );
}

/** Leaves a replaced message, and the place of a removed one. */
async function changeTranscript(
  memory: Memory,
  thread: { readonly scope: Scope; readonly threadId: string },
  word: string,
) {
  const messageId = `removed ${word}`;
  const messages = [new HumanMessage({ id: messageId, content: word })];
  await memory.record({ ...thread, messages, agentId: word, runId: word });
  await memory.transcript.remove({ ...thread, messageId });
  const [, answer] = await memory.threads.messages(thread);
  const text = `Answer 1 about ${word}, once more`;
  await memory.transcript.replace({ ...thread, messageId: answer?.messageId ?? "", text });
}
