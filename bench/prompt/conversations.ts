import { ok } from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { HumanMessage, trimMessages } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, summarizationMiddleware, tool } from "langchain";
import { z } from "zod";
import {
  createMemory,
  type Logger,
  type Memory,
  type MemoryConfig,
  type MemoryItem,
  type MemoryOptions,
  memoryMiddleware,
} from "../../src/index.js";
import {
  believes,
  HashingEmbeddings,
  OfflineChatModel,
  readPrompt,
} from "../../src/testing/index.js";
import { isAlwaysShown } from "../../test/support/always-shown.js";
import { addMemories } from "../bench-memory.js";
import { type PromptLog, recordingModel, textsIn, tokensIn } from "./prompt-log.js";
import { memories, textOf } from "./words.js";

export const agentKind = "agent";

/** What a conversation's summaries are called; episodes are memories, and count as background. */
export const isSummary = (kind: string) => kind === "conversation_summary";

/** A conversation: what the user says in each turn, and what Mnemograph is given. */
export interface Setting {
  readonly words: readonly string[];
  readonly answerTokens: number;
  readonly database: NonNullable<MemoryOptions["database"]>;
  readonly schema: string;
  readonly preset: string | undefined;
  readonly memories: number;
}

type Agent = { invoke(input: { messages: HumanMessage[] }, config: object): Promise<unknown> };

const systemPrompt = textOf("You are a friendly assistant. Answer in plain words", 0, 442);
const summaryTokens = 230;
const run = { configurable: { thread_id: "prompt", user_id: "prompt" } };
const scope = { userId: "prompt" };

/** What agents without long-term memory do about long conversations. */
const peers = {
  fullHistory: () => [],
  trimMessages: () => {
    const lastTwenty = {
      maxTokens: 20,
      tokenCounter: (said: unknown[]) => said.length,
      startOn: "human",
    };
    return createMiddleware({
      name: "trimming",
      wrapModelCall: async (request, handler) =>
        handler({ ...request, messages: await trimMessages(request.messages, lastTwenty) }),
    });
  },
  summarizationMiddleware: (log: PromptLog) => {
    const summarize = (_: unknown, call: number) => textOf(`Summary ${call}`, call, summaryTokens);
    return summarizationMiddleware({
      model: recordingModel(log, summarize, "conversation_summary"),
      trigger: { messages: 20 },
      keep: { messages: 6 },
      // Its types are not made for `exactOptionalPropertyTypes`.
    } as never);
  },
};

export type Peer = keyof typeof peers;
export const peerNames = Object.keys(peers) as Peer[];

/**
 * Throws unless the last prompt has the words of all turns, and with the others of the later ones
 * only.
 */
export async function withPeer(name: Peer, setting: Setting): Promise<PromptLog> {
  const log: PromptLog = { turn: 1, believedMissing: 0, calls: [] };
  await converse(log, [peers[name](log)].flat(), setting);
  const last = promptsOf(log).at(-1) ?? "";
  const kept = setting.words.filter((text) => last.includes(text)).length;
  ok((kept === setting.words.length) === (name === "fullHistory"), `${name} kept ${kept} turns.`);
  return log;
}

/**
 * The conversation with `memoryMiddleware`. Throws unless every prompt has enough of the memories
 * that were added.
 */
export async function withMnemograph(setting: Setting): Promise<PromptLog> {
  const log: PromptLog = { turn: 1, believedMissing: 0, calls: [] };
  await withMemoryOf(setting, log, async (memory) => {
    let known: readonly MemoryItem[] = [];
    await converse(log, [memoryMiddleware(memory)], setting, {
      async before() {
        known = await memory.memories.list({ scope, limit: 1_000 });
      },
      async after() {
        const read = readPrompt(textsIn(promptsOf(log).at(-1) ?? ""));
        const missing = known.filter((each) => isAlwaysShown(each) && !believes(read, each));
        log.believedMissing += missing.length;
        await settled(log);
      },
    });
    await memory.idle();
    ok(setting.memories === 0 || known.some(isAlwaysShown), "Nothing had to be shown.");
    for (const [turn, prompt] of promptsOf(log).entries()) {
      const shown = memoriesIn(prompt);
      ok(
        shown >= setting.memories / 4,
        `Prompt ${turn} has ${shown} of ${setting.memories} memories.`,
      );
    }
  });
  return log;
}

/**
 * Tokens of the last prompt in a run that calls a tool twenty times, each result of 5,000 tokens.
 */
export async function toolLoopTokens(setting: Setting): Promise<number> {
  const calls = 20;
  const log: PromptLog = { turn: 1, believedMissing: 0, calls: [] };
  const reply = (_: unknown, part: number) =>
    part < calls ? { toolCalls: [{ name: "read_part", args: { part } }] } : "I have read it.";
  let read = 0;
  const readPart = tool(({ part }) => textOf(`Part ${part} of ${++read}`, part, 5_000), {
    name: "read_part",
    description: "Reads a part of the document.",
    schema: z.object({ part: z.number() }),
  });
  return withMemoryOf(setting, log, async (memory) => {
    const agent = agentOf(
      recordingModel(log, reply, agentKind),
      [memoryMiddleware(memory)],
      [readPart],
    );
    const input = { messages: [new HumanMessage("Read the document.")] };
    await agent.invoke(input, { ...run, recursionLimit: 10 * calls });
    await memory.idle();
    const prompts = promptsOf(log);
    ok(
      read === calls && prompts.length === calls + 1,
      `${read} results in ${prompts.length} calls.`,
    );
    return tokensIn(prompts.at(-1) ?? "");
  });
}

/**
 * What is under way is done; what waits for more to be said goes on waiting, as between the turns
 * of people.
 */
async function settled({ calls }: PromptLog): Promise<void> {
  for (let before = -1; before < calls.length; ) {
    before = calls.length;
    await wait(25);
  }
}

export function memoriesIn(prompt: string): number {
  return memories.filter(({ text }) => prompt.includes(text)).length;
}

function promptsOf(log: PromptLog): string[] {
  return log.calls.filter(({ kind }) => kind === agentKind).map(({ prompt }) => prompt);
}

function agentOf(
  model: ReturnType<typeof recordingModel>,
  middleware: readonly object[],
  tools: readonly object[] = [],
): Agent {
  const options = { model, tools, systemPrompt, middleware, checkpointer: new MemorySaver() };
  return createAgent(options as never) as unknown as Agent;
}

/** Throws unless each turn asked the agent's model once, with its words. */
async function converse(
  log: PromptLog,
  middleware: readonly object[],
  { words, answerTokens }: Setting,
  { before, after }: { before?(): Promise<void>; after?(): Promise<void> } = {},
): Promise<void> {
  const reply = (_: unknown, call: number) => textOf(`Answer ${call + 1}`, call, answerTokens);
  const agent = agentOf(recordingModel(log, reply, agentKind), middleware);
  for (const [index, text] of words.entries()) {
    log.turn = index + 1;
    await before?.();
    await agent.invoke({ messages: [new HumanMessage(text)] }, run);
    await after?.();
  }
  const prompts = promptsOf(log);
  ok(prompts.length === words.length, `${prompts.length} prompts for ${words.length} turns.`);
  for (const [turn, text] of words.entries())
    ok(prompts[turn]?.includes(text), `Not asked: ${text}`);
}

/**
 * A memory with its defaults and no other owner. Throws when it warned: a turn whose recall failed
 * measures nothing.
 */
async function withMemoryOf<Result>(
  { database, schema, preset, memories: count }: Setting,
  log: PromptLog,
  work: (memory: Memory) => Promise<Result>,
): Promise<Result> {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const logger: Logger = { debug() {}, info() {}, warn, error: warn };
  const offline = new OfflineChatModel();
  const model = recordingModel(log, (said, _, { tools = [] }) =>
    offline.invoke([...said], { tools }),
  );
  const memory = createMemory({
    database,
    schema,
    logger,
    model,
    embeddings: new HashingEmbeddings(),
    ...(preset !== undefined && { config: { preset } as MemoryConfig }),
  });
  try {
    await memory.setup();
    await addMemories(memory, scope, memories.slice(0, count));
    await memory.idle();
    // What adding them asked is no part of the conversation.
    log.calls.length = 0;
    const result = await work(memory);
    // All turns are of one day, which has room for so many facts.
    const others = warnings.filter((line) => !line.includes("(memories.writesPerDay)"));
    ok(others.length === 0, `Memory warned: ${others.join("; ")}`);
    return result;
  } finally {
    await memory.close();
  }
}
