import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { chatAgent } from "../langgraph/conversation.js";
import { linesOf, ofType } from "../support/export-lines.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);

it("An export of a user who goes on meanwhile can be imported, and the user goes on there", async () => {
  const scope = { userId: randomUUID() };
  const model = new ScriptedChatModel({ replies: (_, index) => `Answer ${index}.` });
  const turnOn = (memory: Memory) => {
    const checkpointer = memory.checkpointer();
    const graph = withMemory(chatAgent(model), memory).compile({ checkpointer });
    return (threadId: string, content: string) =>
      graph.invoke({ messages: [new HumanMessage(content)] } as never, {
        configurable: { thread_id: threadId, user_id: scope.userId },
      });
  };
  const memory = db.memory();
  const say = turnOn(memory);
  const live = async (turn: number) => {
    await say(scope.userId, `Where do I live, ${turn}?`);
    await say(`${scope.userId} ${turn}`, `And now, ${turn}?`);
    const text = `Tried dish ${turn} of the city in the old town.`;
    await memory.memories.add({ scope, memories: { text } });
  };
  for (const turn of [1, 2, 3]) await live(turn);
  const lines: string[] = [];
  for await (const line of memory.export({ scope })) {
    if (!lines.at(-1)?.includes(`"type":"${line.type}"`)) await live(lines.length + 10);
    lines.push(JSON.stringify(line));
  }
  const target = (await freshSchema()).memory();
  expect(await target.import({ lines })).toMatchObject({ total: lines.length - 2 });
  const read = await linesOf(target, scope);
  expect(ofType(read, "relation").length).toBeGreaterThan(0);
  expect(ofType(read, "shown").length).toBeGreaterThan(2);
  // The next change and turn have numbers of their own.
  const next = { text: "Moved to the coast." };
  expect(await target.memories.add({ scope, memories: next })).toMatchObject([
    { outcome: "created" },
  ]);
  await turnOn(target)(scope.userId, "Still there?");
  const after = await linesOf(target, scope);
  expect(ofType(after, "message")).toHaveLength(ofType(read, "message").length + 2);
  expect(ofType(after, "change")).toHaveLength(ofType(read, "change").length + 1);
});
