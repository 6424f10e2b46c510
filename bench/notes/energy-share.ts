import {
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { createMemory, type Memory, withMemory } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { sentences } from "../data/corpus.js";
import { line } from "../data/sentences.js";
import { printTable } from "../report.js";

/** Tokens of a unit, as `energy.tokensPerUnit` has it. */
const tokensPerUnit = 100;

/**
 * Rounds of a conversation, of which every other one asks a tool; conversations of an app; those
 * before its limit is reached.
 */
const shape = { rounds: 10, conversations: 16, before: 10 };

/**
 * Characters: of the agent's instructions, of what a user says, of what a tool returns, and of an
 * answer.
 */
const lengths = { instructions: 3_000, said: 240, returned: 1_200, answer: 800 };

/**
 * Units that notes and compaction take ÷ all units of the conversations, the agent's own calls
 * included.
 *
 * Counted from the usage that the models report, which is a fourth of the characters of what they
 * read and write. Of an app at its limit, so that each conversation that ends is compacted for; the
 * ones before are left out. Memory works as configured by default: summaries, facts and episodes
 * are made as well.
 */
export async function energyShare({ source, schema }: BenchDatabase): Promise<number> {
  const memory = createMemory({ database: source, schema, model: new OfflineChatModel() });
  const scope = { userId: "energy", appId: "energy" };
  await memory.memories.add({ scope, memories: sentences(40, 5).map((text) => ({ text })) });
  const agent = { tokens: 0 };
  const graph = withMemory(agentOf(agent), memory).compile();
  let before = await consumed(memory, scope);
  for (let talk = 0; talk < shape.conversations; talk++) {
    if (talk === shape.before) {
      before = await consumed(memory, scope);
      agent.tokens = 0;
    }
    const threadId = `energy-${talk}`;
    let messages: BaseMessage[] = [];
    for (let round = 0; round < shape.rounds; round++) {
      const said = line(
        `I tell you of matter ${talk * shape.rounds + round}`,
        talk + round,
        lengths.said,
      );
      const configurable = { thread_id: threadId, user_id: scope.userId, app_id: scope.appId };
      ({ messages } = await graph.invoke(
        { messages: [...messages, new HumanMessage(said)] },
        { configurable },
      ));
      await memory.idle();
    }
    await memory.threads.end({ scope, threadId });
    await memory.idle();
  }
  const after = await consumed(memory, scope);
  await memory.close();

  const units = { agent: agent.tokens / tokensPerUnit, ...differences(before, after) };
  const all = Object.values(units).reduce((sum, each) => sum + each, 0);
  const each = shape.conversations - shape.before;
  printTable(
    `Energy of a conversation of ${shape.rounds} rounds, with an app at its limit`,
    Object.entries(units).map(([what, spent]) => ({
      what,
      units: spent / each,
      "share %": (spent / all) * 100,
    })),
  );
  const { note = 0, compaction = 0 } = units as Readonly<Record<string, number>>;
  if (note === 0 || compaction === 0) throw new Error("Nothing was noted, or nothing compacted.");
  return (note + compaction) / all;
}

/** An agent that asks a tool in every other round; `count` is told what its model reports. */
function agentOf(count: { tokens: number }) {
  const model = new ScriptedChatModel({
    replies: (messages) => {
      const rounds = messages.filter((message) => message.getType() === "human").length;
      const asks = messages.at(-1)?.getType() === "human" && rounds % 2 === 1;
      if (asks) return { toolCalls: [{ name: "look_up", args: { query: `matter ${rounds}` } }] };
      return line("I answer", rounds, lengths.answer);
    },
  });
  const lookUp = tool(async () => line("It is written", 1, lengths.returned), {
    name: "look_up",
    description: "Looks something up.",
    schema: z.object({ query: z.string() }),
  });
  const instructions = new SystemMessage(line("You are an agent", 1, lengths.instructions));
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => {
      const reply = await model.bindTools([lookUp]).invoke([instructions, ...messages]);
      count.tokens +=
        (reply as unknown as { readonly usage_metadata?: UsageMetadata }).usage_metadata
          ?.total_tokens ?? 0;
      return { messages: [reply] };
    })
    .addNode("tools", new ToolNode([lookUp]))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition)
    .addEdge("tools", "agent")
    .compile();
}

type Units = Readonly<Record<string, number>>;

async function consumed(memory: Memory, { appId }: AppScope): Promise<Units> {
  const { energy } = await memory.stats({ scope: { appId } });
  return Object.fromEntries(energy.kinds.map(({ kind, units }) => [String(kind), units]));
}

function differences(before: Units, after: Units): Units {
  return Object.fromEntries(
    Object.entries(after).map(([kind, units]) => [kind, units - (before[kind] ?? 0)] as const),
  );
}
