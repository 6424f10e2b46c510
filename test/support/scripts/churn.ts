/**
 * Does everything that changes memories, over and over, until it is killed.
 *
 * argv: connection string, schema, number of the worker. Prints "two turns" after as many.
 */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemoryError } from "../../../src/errors.js";
import { OfflineChatModel } from "../../../src/testing/index.js";
import { silentLogger } from "../silent-logger.js";
import { createTestMemory } from "../test-memory.js";

const [database = "", schema = "", worker = ""] = process.argv.slice(2);
const memory = createTestMemory({
  database,
  schema,
  model: new OfflineChatModel(),
  jobs: "inline",
  logger: silentLogger,
  config: { upkeep: { leaseMs: 1_000 } },
});
const scope = { userId: "churn" };
const rare = { userId: `rare ${worker}` };
// Workers compete, and their connections are cut.
const expected =
  "BUSY FORGOTTEN WRONG_STATE CONFLICT NOT_FOUND DATABASE_UNAVAILABLE CONSENT_REQUIRED".split(" ");
const words = ["tea", "coffee", "milk", "water", "juice"];

async function round(turn: number): Promise<void> {
  const word = words[turn % words.length] as string;
  await memory.memories.add({
    scope,
    memories: [
      { text: `Note ${turn} of worker ${worker} is about ${word}.` },
      { text: `The user drinks ${word}.`, category: "preferences", key: "drink", value: word },
      { text: `The user lives in ${word} town.`, category: "profile", key: "city", value: word },
    ],
  });
  const [request] = await memory.consents.list({ scope });
  if (request) {
    const decision = turn % 2 === 0 ? "approve" : "refuse";
    await memory.consents.decide({ scope, id: request.id, decision, actor: worker });
  }
  const [latest, older] = await memory.memories.list({ scope, limit: 2 });
  if (latest) await memory.memories.remove({ scope, id: latest.id });
  if (latest && turn % 2 === 0)
    await memory.memories.restore({ scope, consent: "given", id: latest.id });
  if (older) await memory.memories.update({ scope, id: older.id, importance: 1 + (turn % 5) });
  for (const mine of [scope, rare]) {
    const messages = [new HumanMessage(`I like ${word} ${turn}.`), new AIMessage("Noted.")];
    await memory.remember({ scope: mine, threadId: `${mine.userId} ${worker}`, messages });
  }
  if (turn % 3 === 2) await memory.forget({ scope: rare, batchSize: 2 });
  await memory.upkeep();
}

for (let turn = 0; ; turn++) {
  await round(turn).catch((error: unknown) => {
    if (!MemoryError.is(error) || !expected.includes(error.code))
      console.log(`unexpected: ${error}`);
  });
  if (turn === 1) console.log("two turns");
}
