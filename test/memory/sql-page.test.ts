import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { say } from "../support/thread-facts.js";

const db = useTestDatabase();
const page = readFileSync(new URL("../../docs/sql.md", import.meta.url), "utf8");

/** The statement of the page with `words` in its introduction, for the test's schema. */
function statementFor(words: string): string {
  const [, statement] =
    new RegExp(`${words}(?:[^:]|:(?!\\n))*:\\n\\n\`\`\`sql\\n([^\`]+);\\n\`\`\``).exec(page) ?? [];
  if (statement === undefined) throw new Error(`docs/sql.md has no statement for ${words}.`);
  return statement.replaceAll("mnemograph.", `"${db.schema}".`);
}

const ask = async (words: string) => (await db.pool.query(statementFor(words))).rows;

it("The statements of docs/sql.md return what the API returns", async () => {
  const replies = (_: unknown, index: number) => ({
    structured: { reasoning: "", summary: `Summary ${index}.` },
  });
  const memory = summaryMemory(db, { model: new ScriptedChatModel({ replies }) });
  const scope = { userId: "ana" };
  for (let round = 0; round < 10; round++) {
    await say(memory, { scope, threadId: "conv_123" }, `Round ${round}.`);
    await say(memory, { scope: { userId: "ben" }, threadId: "other" }, `Round ${round}.`);
  }
  const jobs = ["baker", "pilot"];
  for (const [index, value] of jobs.entries()) {
    const validFrom = new Date(Date.UTC(2020 + index, 0, 1));
    const draft = {
      category: "profile",
      key: "job",
      value,
      text: `The user is a ${value}.`,
      validFrom,
    };
    await memory.memories.add({ scope, memories: draft });
  }

  const [expired] = await memory.memories.add({
    scope,
    memories: { category: "profile", text: "Is away until Friday." },
  });
  await db.pool.query(`update "${db.schema}".memory set expires_at = now() where id = $1`, [
    expired?.id,
  ]);

  const chain = await memory.summaries.list({ scope, threadId: "conv_123" });
  expect((await ask("chain of versions")).map(({ id }) => Number(id))).toEqual(
    chain.map(({ id }) => id).toReversed(),
  );
  const others = await memory.summaries.list({ scope: { userId: "ben" }, threadId: "other" });
  const latest = [...chain, ...others].sort((one, other) => other.id - one.id);
  expect(await ask("How the windows move")).toEqual(
    latest.slice(0, 20).map(({ threadId, startSeq, endSeq, generationTimeMs }) => ({
      thread_id: threadId,
      start_seq: startSeq,
      end_seq: endSeq,
      window_messages: endSeq - startSeq + 1,
      generation_time_ms: generationTimeMs,
    })),
  );
  expect(await ask("Work that hangs")).toEqual([]);
  const gate = createGate();
  const hangs = { scope, threadId: "hangs" };
  // Begun five minutes ago, by its clock.
  const clock = () => new Date(Date.now() - 300_000);
  const model = new ScriptedChatModel({ gate, replies: ["late"] });
  const hanging = summaryMemory(db, { model, jobs: "background", clock });
  for (const said of ["One.", "Two.", "Three."]) await say(hanging, hangs, said);
  await expect.poll(() => gate.waiting).toBe(1);
  expect(await ask("Work that hangs")).toMatchObject([{ thread_id: "hangs", age: { minutes: 5 } }]);
  await memory.threads.delete(hangs);
  gate.open();
  await hanging.idle();

  const times = latest.map(({ generationTimeMs }) => generationTimeMs ?? 0);
  expect(await ask("How long a summary takes")).toMatchObject([
    { completed: String(latest.length), max_ms: Math.max(...times) },
  ]);
  expect(await ask("memories\\.list")).toMatchObject([
    { user_id: "ana", category: "profile", memories: "1" },
  ]);
  expect((await ask("memories\\.history")).map(({ value, state }) => [value, state])).toEqual([
    ["baker", "superseded"],
    ["pilot", "active"],
  ]);
  expect(await ask("events\\.count")).toContainEqual(
    expect.objectContaining({ op: "create", status: "ok" }),
  );
});
