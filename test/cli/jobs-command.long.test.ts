import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { beforeAll, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useCommandLine } from "../support/command-line.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const commandLine = useCommandLine(useTestDatabase());
const run = (...args: string[]) => commandLine.run(["jobs", ...args]);

/** A conversation whose summary failed. */
beforeAll(async () => {
  const memory = createMemory({
    database: inject("databaseUrl") ?? { dataDir: join(commandLine.folder, "data") },
    ...{ schema: commandLine.schema, logger: silentLogger, jobs: "inline" },
    model: new ScriptedChatModel({ replies: () => new AIMessage("no summary") }),
    config: { memories: { extract: false, episodes: false } },
  });
  await memory.setup();
  const messages = [1, 2, 3, 4].flatMap((round) => [
    new HumanMessage(`Question ${round}?`),
    new AIMessage(`Answer ${round}.`),
  ]);
  await memory.remember({ scope: { tenantId: "acme", userId: "ana" }, threadId: "t1", messages });
  await memory.idle();
  await memory.close();
}, 120_000);

it("lists what failed, and makes it due again: for the tenant it belongs to", async () => {
  const listed = await run("list", "--state=failed");
  expect(listed).toMatchObject({ code: 0, err: "" });
  expect(listed.out).toMatch(/^\S+ {2}summaries {2}failed {2}tenant acme, user ana {2}t1 {2}[1-9] tries/);
  expect(await run("list", "--tenant=other")).toMatchObject({ code: 0, out: "There are none." });
  const [{ id }] = JSON.parse((await run("--json", "--kind=summaries")).out);
  expect(await run("retry", id, "--tenant=other")).toMatchObject({ code: 1, out: "" });
  expect(await run("retry", id)).toMatchObject({ code: 0, out: "1 due now: workers do them." });
  // With all its tries before it, at once.
  expect((await run("list")).out).toContain("0 tries");
  for (const wrong of [["retry"], ["list", id], ["undo", id]]) {
    expect(await run(...wrong)).toMatchObject({ code: 2, err: expect.stringContaining("jobs retry <id>") });
  }
}, 180_000);
