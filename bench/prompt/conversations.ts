import { HumanMessage, trimMessages } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, summarizationMiddleware, tool } from "langchain";
import { z } from "zod";
import {
  createMemory,
  type Logger,
  type Memory,
  type MemoryConfig,
  type MemoryOptions,
  memoryMiddleware,
} from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { addMemories } from "../bench-memory.js";
import { type PromptLog, recordingModel, recordingOfflineModel, tokensIn } from "./prompt-log.js";
import { memories, textOf } from "./words.js";

export const agentKind = "agent";

/** The name of the thread's summary, in LangChain's conversations and in Mnemograph's. */
export const summaryKind = "conversation_summary";

export interface Setting {
  /** What the user says in each turn. */
  readonly words: readonly string[];
  readonly answerTokens: number;
}

export interface MemorySetting extends Setting {
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

/** The conversation as agents without long-term memory have it. */
export const peers = {
  async fullHistory(setting: Setting): Promise<PromptLog> {
    const { log, model } = recorded(setting);
    return converse(log, createAgent({ ...agentOf(model), checkpointer: new MemorySaver() }), setting);
  },
  async trimMessages(setting: Setting): Promise<PromptLog> {
    const { log, model } = recorded(setting);
    const lastTwenty = { maxTokens: 20, tokenCounter: (said: unknown[]) => said.length, startOn: "human" };
    const trimming = createMiddleware({
      name: "trimming",
      wrapModelCall: async (request, handler) =>
        handler({ ...request, messages: await trimMessages(request.messages, lastTwenty) }),
    });
    const agent = createAgent({
      ...agentOf(model),
      middleware: [trimming],
      checkpointer: new MemorySaver(),
    });
    return converse(log, agent, setting);
  },
  async summarizationMiddleware(setting: Setting): Promise<PromptLog> {
    const { log, model } = recorded(setting);
    const options = {
      model: recordingModel(log, summaryKind, (call) => textOf(`Summary ${call}`, call, summaryTokens)),
      trigger: { messages: 20 },
      keep: { messages: 6 },
    };
    const agent = createAgent({
      ...agentOf(model),
      // Its types are not made for `exactOptionalPropertyTypes`.
      middleware: [summarizationMiddleware(options as never) as never],
      checkpointer: new MemorySaver(),
    });
    return converse(log, agent, setting);
  },
};

/** The conversation with `memoryMiddleware`. Throws unless every prompt has enough of the memories that were added. */
export async function withMnemograph(setting: MemorySetting): Promise<PromptLog> {
  const { log, model } = recorded(setting);
  return withMemoryOf(setting, log, async (memory) => {
    const agent = createAgent({
      ...agentOf(model),
      middleware: [memoryMiddleware(memory)],
      checkpointer: new MemorySaver(),
    });
    await converse(log, agent, setting, () => memory.idle());
    for (const { turn, prompt } of log.calls.filter(({ kind }) => kind === agentKind)) {
      const shown = memoriesIn(prompt);
      if (shown < setting.memories / 2)
        throw new Error(`The prompt of turn ${turn} has ${shown} of ${setting.memories} memories.`);
    }
    return log;
  });
}

/** Tokens of the last prompt in a run that calls a tool twenty times, each result of 5,000 tokens. */
export async function toolLoopTokens(setting: MemorySetting): Promise<number> {
  const calls = 20;
  const log: PromptLog = { turn: 1, calls: [] };
  const model = recordingModel(log, agentKind, (call) =>
    call < calls ? { toolCalls: [{ name: "read_part", args: { part: call } }] } : "I have read it.",
  );
  let read = 0;
  const readPart = tool(({ part }) => textOf(`Part ${part} of ${++read}`, part, 5_000), {
    name: "read_part",
    description: "Reads a part of the document.",
    schema: z.object({ part: z.number() }),
  });
  return withMemoryOf(setting, log, async (memory) => {
    const agent = createAgent({
      ...agentOf(model),
      tools: [readPart],
      middleware: [memoryMiddleware(memory)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(
      { messages: [new HumanMessage("Read the document.")] },
      { ...run, recursionLimit: 10 * calls },
    );
    await memory.idle();
    const prompts = log.calls.filter(({ kind }) => kind === agentKind);
    if (read !== calls || prompts.length !== calls + 1)
      throw new Error(`${read} results in ${prompts.length} calls, not ${calls} in ${calls + 1}.`);
    return tokensIn(prompts.at(-1)?.prompt ?? "");
  });
}

export function memoriesIn(prompt: string): number {
  return memories.filter(({ text }) => prompt.includes(text)).length;
}

function recorded({ answerTokens }: Setting) {
  const log: PromptLog = { turn: 1, calls: [] };
  const model = recordingModel(log, agentKind, (call) => textOf(`Answer ${call + 1}`, call, answerTokens));
  return { log, model };
}

function agentOf(model: ReturnType<typeof recordingModel>) {
  return { model, tools: [], systemPrompt };
}

/** Throws unless each turn asked the agent's model once, with its words. */
async function converse(
  log: PromptLog,
  agent: Agent,
  { words }: Setting,
  afterTurn: () => Promise<void> = async () => {},
): Promise<PromptLog> {
  for (const [index, text] of words.entries()) {
    log.turn = index + 1;
    await agent.invoke({ messages: [new HumanMessage(text)] }, run);
    await afterTurn();
  }
  const prompts = log.calls.filter(({ kind }) => kind === agentKind);
  if (
    prompts.length !== words.length ||
    prompts.some(({ prompt }, turn) => !prompt.includes(words[turn] ?? ""))
  )
    throw new Error(`${prompts.length} prompts for ${words.length} turns, or one without its turn's words.`);
  return log;
}

/** A memory with its defaults and no other owner. Throws when it warned: a turn whose recall failed measures nothing. */
async function withMemoryOf<Result>(
  { database, schema, preset, memories: count }: MemorySetting,
  log: PromptLog,
  work: (memory: Memory) => Promise<Result>,
): Promise<Result> {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const logger: Logger = { debug() {}, info() {}, warn, error: warn };
  const memory = createMemory({
    ...{ database, schema, logger, model: recordingOfflineModel(log), embeddings: new HashingEmbeddings() },
    ...(preset !== undefined && { config: { preset } as MemoryConfig }),
  });
  try {
    await memory.setup();
    await addMemories(memory, scope, memories.slice(0, count));
    await memory.idle();
    // What adding them asked is no part of the conversation.
    log.calls.length = 0;
    const result = await work(memory);
    if (warnings.length > 0) throw new Error(`Memory warned: ${warnings.join("; ")}`);
    return result;
  } finally {
    await memory.close();
  }
}
