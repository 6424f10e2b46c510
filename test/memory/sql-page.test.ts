import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { say } from "../support/thread-facts.js";

const db = useTestDatabase();
const page = readFileSync(new URL("../../docs/sql.md", import.meta.url), "utf8");

/** The statement of the page whose introduction names `call`, on the test's schema. */
function statementFor(call: string): string {
  const [, statement] =
    new RegExp(`\`memory\\.${call}\`(?:[^:]|:(?!\\n))*:\\n\\n\`\`\`sql\\n([^\`]+);\\n\`\`\``).exec(page) ??
    [];
  if (statement === undefined) throw new Error(`docs/sql.md has no statement for ${call}.`);
  return statement.replaceAll("mnemograph.", `"${db.schema}".`);
}

const ask = async (call: string) => (await db.pool.query(statementFor(call))).rows;

it("the statements of docs/sql.md say what the API says", async () => {
  const model = new ScriptedChatModel({
    replies: Array.from({ length: 40 }, (_, index) => ({
      structured: { reasoning: "", summary: `Summary ${index}.` },
    })),
  });
  const memory = summaryMemory(db, { model });
  const scope = { userId: "ana" };
  for (let round = 0; round < 10; round++) {
    await say(memory, { scope, threadId: "conv_123" }, `Round ${round}.`);
    await say(memory, { scope: { userId: "ben" }, threadId: "other" }, `Round ${round}.`);
  }
  const jobs = ["baker", "pilot"];
  for (const [index, value] of jobs.entries()) {
    const validFrom = new Date(Date.UTC(2020 + index, 0, 1));
    const draft = { category: "profile", key: "job", value, text: `The user is a ${value}.`, validFrom };
    await memory.memories.add(draft, { scope });
  }

  const [expired] = await memory.memories.add(
    { category: "profile", text: "Is away until Friday." },
    { scope },
  );
  await db.pool.query(`update "${db.schema}".memory set expires_at = now() where id = $1`, [expired?.id]);

  const progress = await memory.summaries.progress();
  expect(await ask("summaries\\.progress")).toEqual(
    progress.map(({ threadId, startSeq, endSeq, windowMessages, generationTimeMs }) => ({
      ...{ thread_id: threadId, start_seq: startSeq, end_seq: endSeq, window_messages: windowMessages },
      generation_time_ms: generationTimeMs,
    })),
  );
  expect(new Set(progress.map(({ threadId }) => threadId))).toEqual(new Set(["conv_123", "other"]));
  expect(progress[0]?.windowMessages).toBe(14);
  const ofAna = await memory.summaries.progress({ scope, limit: 3 });
  expect(ofAna).toHaveLength(3);
  expect(ofAna.every(({ threadId }) => threadId === "conv_123")).toBe(true);
  await expect(memory.summaries.progress({ limits: 3 } as never)).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });

  const chain = await memory.summaries.list({ scope, threadId: "conv_123" });
  expect((await ask("summaries\\.chain")).map(({ id }) => Number(id))).toEqual(
    chain.map(({ id }) => id).toReversed(),
  );
  expect(await ask("summaries\\.stuck")).toEqual([]);
  const stats = await memory.summaries.stats();
  expect(await ask("summaries\\.stats")).toMatchObject([
    { completed: String(stats.completed), max_ms: stats.maxMs },
  ]);
  expect(await ask("memories\\.list")).toMatchObject([
    { user_id: "ana", category: "profile", memories: "1" },
  ]);
  expect((await ask("memories\\.history")).map(({ value, state }) => [value, state])).toEqual([
    ["baker", "superseded"],
    ["pilot", "active"],
  ]);
  const events = await ask("events\\.count");
  expect(events).toContainEqual(expect.objectContaining({ op: "create", status: "ok" }));
});
