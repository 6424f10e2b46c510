import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const never = () => new Promise<never>(() => {});
const config = { upkeep: { timeoutMs: 200 } };
const scope = { userId: "ana" };

it("A `screen` that never answers quarantines a memory after `upkeep.timeoutMs`", async () => {
  const logger = recordingLogger();
  const memory = db.memory({ screen: never, config, logger });
  await memory.memories.add({ scope, memories: { text: "Ana likes plums." } });
  expect(await memory.memories.list({ scope, states: ["quarantined"] })).toHaveLength(1);
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
