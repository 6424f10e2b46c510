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
  expect(await memory.memories.list({ scope, states: ["quarantined"] })).toHaveLength(1);
  const [thread, path] = [newThread(), "/memories/tea.md"];
  const create = { command: "create", path, file_text: "Likes tea." };
  const insert = { command: "insert", path, insert_line: 0, insert_text: "Tea:" };
  const refused = /^Refused: The text reads as instructions/;
  expect(await memoryFilesTool(memory).invoke(create, thread)).toMatch(refused);
  expect(await memoryFilesTool(db.memory()).invoke(create, thread)).toMatch(/^Done/);
  expect(await memoryFilesTool(memory).invoke(insert, thread)).toMatch(refused);
  expect(logger.lines.join("\n")).toContain("`screen` failed (TimeoutError)");
});

it("A `redact` that never answers fails a write after `upkeep.timeoutMs`, and nothing is stored", async () => {
  const memory = db.memory({ redact: never, config });
  const owner = { scope: { userId: "bob" } };
  const messages = [new HumanMessage("I like plums.")];
  const recorded = memory.record({ ...owner, threadId: "late", messages });
  await expect(recorded).rejects.toMatchObject({ code: "REDACTION_FAILED" });
  expect(await memory.threads.list(owner)).toEqual([]);
});
