import { expect, it } from "vitest";
import { memoryQueryTool, transcriptSearchTool } from "../../src/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, answering, lines, newThread, say } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const db = useTestDatabase();

it.each([...ways, "retrieval.timeZone" as const])(
  "What a user in Shanghai says of yesterday is stored, found and shown as of that day, by %s",
  async (way) => {
    const background = taskModel({
      fact_extraction(prompt) {
        const [, day = ""] = /date="2026-03-0(\d), Tuesday, 07:30">I/.exec(prompt) ?? [];
        if (day === "") return facts();
        return facts(
          candidate("The user fasts.", "I began", { since: `2026-03-0${+day - 1}, Monday` }),
        );
      },
    });
    const isSetting = way === "retrieval.timeZone";
    const [ofRun, timeZone] = isSetting ? [{}, "Asia/Shanghai"] : [{ time_zone: "Asia/Shanghai" }];
    const memory = db.memory({
      model: background,
      clock: () => new Date("2026-03-02T23:30Z"),
      config: {
        memories: { extract: true },
        insights: { enabled: true },
        retrieval: { timeZone },
      },
    });
    const thread = newThread(ofRun);
    const model = answering();
    const graph = await agentIn(isSetting ? "withMemory" : way, { memory, model });
    await say(graph, "I began yesterday.", thread);
    const [message] = await memory.threads.messages(addressOf(thread));
    expect(message?.timeZone).toBe("Asia/Shanghai");
    await say(graph, "Who fasts?", newThread({ ...ofRun, user_id: thread.configurable.user_id }));
    const shown = lines(model.calls.at(-1)!.messages).join("\n");
    expect(shown).toContain("The user fasts. (since 2 March 2026)");

    const first = async (tool: ReturnType<typeof memoryQueryTool>, input: object) =>
      JSON.parse(await tool.invoke(input, thread))[0];
    const filters = { updated_after: "2026-03-03", updated_before: "2026-03-03T23:59" };
    const { metadata } = await first(memoryQueryTool(memory), {
      ...{ query: "fasts", return: "full", filters },
    });
    expect(metadata.validFrom).toBe("2026-03-02, Monday, 00:00");
    const heard = await first(transcriptSearchTool(memory), { query: "began yesterday" });
    expect(heard.said_at).toBe("2026-03-03, Tuesday, 07:30");
    await memory.upkeep();
    expect(background.prompts("user_insights")[0]).toContain('date="2026-03-02">The user fasts.');
  },
);
