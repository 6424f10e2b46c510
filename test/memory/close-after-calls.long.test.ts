import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { closeAfterCalls } from "../../src/composition/close-after-calls.js";
import { createMemory } from "../../src/create-memory.js";
import { createGate, HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { copyEmbedded } from "../support/copy-embedded.js";
import { useFreshSchemas, useSchemaNames } from "../support/fresh-schema.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const folder = mkdtempSync(join(tmpdir(), "mnemograph-closing-"));
const schemaName = useSchemaNames(db);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scope = { userId: "ana" };
/** More than a pool made here has connections. */
const many = Array.from({ length: 30 }, (_, n) => `thread ${n}`);
const say = (threadId: string) => ({
  scope,
  threadId,
  messages: [{ role: "user", content: "I love jazz." }],
});

/** A memory on a pool of its own, in a schema of its own. */
async function memoryOfOwn() {
  const dataDir = join(folder, randomUUID());
  if (!onServer()) copyEmbedded(dataDir);
  const database = inject("databaseUrl") ?? { dataDir };
  const schema = schemaName("closing");
  const config = { insights: { enabled: false }, consolidation: { enabled: false } };
  const memory = createMemory({
    database,
    schema,
    logger: silentLogger,
    model: new OfflineChatModel(),
    config,
  });
  await memory.setup();
  return memory;
}

describe("close", () => {
  it("`close` finishes the calls that wait for a connection", async () => {
    const memory = await memoryOfOwn();
    const calls = many.map((threadId) => memory.remember(say(threadId)));
    await Promise.all([memory.close(), memory.close()]);
    expect((await Promise.all(calls)).map(({ recorded }) => recorded)).toEqual(many.map(() => 1));
    await expect(memory.remember(say("later"))).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("`close` answers the checkpointer's calls that wait for a connection, or refuses them", async () => {
    const memory = await memoryOfOwn();
    const saver = memory.checkpointer();
    const calls = many.map((thread_id) =>
      saver.getTuple({ configurable: { thread_id, user_id: "ana" } }).then(
        () => "answered",
        (error: { code?: string }) => error.code,
      ),
    );
    await memory.close();
    expect(new Set(["answered", "CLOSED", ...(await Promise.all(calls))])).toEqual(
      new Set(["answered", "CLOSED"]),
    );
  });

  it("`close` finishes a call that is between two of its statements", async () => {
    const { memory: on } = await freshSchema();
    const embeddings = new HashingEmbeddings({ dimensions: 16 });
    const embed = embeddings.embedDocuments.bind(embeddings);
    const gate = createGate();
    embeddings.embedDocuments = async (texts) => {
      await gate.wait();
      return embed(texts);
    };
    const memory = on({ embeddings });
    const add = memory.memories.add({ scope, memories: { text: "Likes plums." } });
    await expect.poll(() => gate.waiting).toBe(1);
    const closed = memory.close();
    await Promise.race([closed, new Promise(setImmediate)]);
    gate.open();
    expect((await add)[0]?.outcome).toBe("created");
    await closed;
  });

  it("`close` waits for calls no longer than its deadline, and passes on their errors", async () => {
    const memory = db.memory();
    const closing = closeAfterCalls({ ...memory, idle: () => new Promise(() => {}) as never }, 10);
    await expect(closing.recall({ scope: {}, threadId: "t" })).rejects.toMatchObject({
      code: "SCOPE_REQUIRED",
    });
    void closing.idle();
    await closing.close();
    await expect(memory.recall({ scope, threadId: "t" })).rejects.toMatchObject({ code: "CLOSED" });
  });
});
