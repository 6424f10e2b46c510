import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { memoryFilesTool } from "../../src/index.js";
import { newThread } from "../langgraph/conversation.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const never = () => new Promise<never>(() => {});
const config = { upkeep: { timeoutMs: 200 } };
const scope = { userId: "ana" };

it("A `screen` that never answers quarantines a memory and refuses a file after `upkeep.timeoutMs`", async () => {
  const logger = recordingLogger();
  const memory = db.memory({ screen: never, config, logger });
  await memory.memories.add({ text: "Ana likes plums." }, { scope });
  const quarantined = await memory.memories.list({ scope, states: ["quarantined"] });
  expect(quarantined.map(({ text }) => text)).toEqual(["Ana likes plums."]);
  const [thread, path] = [newThread(), "/memories/tea.md"];
  const create = { command: "create", path, file_text: "Likes tea." };
  const insert = { command: "insert", path, insert_line: 0, insert_text: "Tea:" };
  const refused = /^Refused: The text reads as instructions/;
  expect(await memoryFilesTool(memory).invoke(create, thread)).toMatch(refused);
  expect(await memoryFilesTool(db.memory()).invoke(create, thread)).toMatch(/^Done/);
  expect(await memoryFilesTool(memory).invoke(insert, thread)).toMatch(refused);
  expect(logger.lines.join("\n")).toContain("`screen` failed (TimeoutError)");
});

it("A `redact` that never answers fails each write after `upkeep.timeoutMs`, and nothing is stored", async () => {
  const memory = db.memory({ redact: never, config });
  const failed = expect.objectContaining({ code: "REDACTION_FAILED" });
  const owner = { userId: "bob" };
  const messages = [new HumanMessage("I like plums.")];
  for (const write of [
    () => memory.memories.add({ text: "Bob likes plums." }, { scope: owner }),
    () => memory.record({ scope: owner, threadId: "late", messages }),
    () => memory.store({ scope: owner }).put(["notes"], "a", { text: "plums" }),
  ])
    await expect(write()).rejects.toThrow(failed);
  const kept = await Promise.all([
    memory.memories.list({ scope: owner }),
    memory.threads.list({ scope: owner }),
    memory.store({ scope: owner }).search([]),
  ]);
  expect(kept.flat()).toEqual([]);
});
