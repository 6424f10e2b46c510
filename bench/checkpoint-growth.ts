import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  END,
  MessagesAnnotation,
  MessagesDeltaValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { type Memory, withMemory } from "../src/index.js";
import { OfflineChatModel } from "../src/testing/index.js";
import type { BenchDatabase } from "./bench-database.js";
import { openBenchMemory } from "./bench-memory.js";
import { line } from "./data/sentences.js";
import { printTable } from "./report.js";
import { inTurn, timing } from "./timing.js";

const marks = [40, 50, 100, 200, 400];
/** Turns before a mark whose median is shown: the last one alone may have met anything. */
const lastTurns = 10;
/** Characters of each message, as in a short paragraph of chat. */
const messageCharacters = 200;
/** "Delta": the messages are LangGraph's `MessagesDeltaValue`. */
const variants = {
  plain: "plain graph",
  plainDelta: "plain graph, delta channel",
  full: 'withMemory, session "full"',
  fullDelta: 'withMemory, session "full", delta channel',
  bounded: 'withMemory, session "bounded"',
  boundedDelta: 'withMemory, session "bounded", delta channel',
} as const;
type Variant = keyof typeof variants;
const names = Object.keys(variants) as Variant[];

interface Mark {
  readonly turns: number;
  readonly blobBytes: number;
  readonly promptCharacters: number;
  /** Median of the last ten turns. */
  readonly turnMs: number;
}

/** What `checkpointGrowth` measured, for the line of JSON. */
export interface CheckpointGrowth {
  /** Bytes after 400 turns, of all three tables of checkpoints: values, writes and checkpoints. */
  readonly blobBytes: Record<string, number>;
  /** Of these, plain ÷ bounded. */
  readonly blobRatio400: number;
  /** Characters shown to the agent, bounded: turn 400 ÷ turn 40. */
  readonly promptGrowth: number;
  readonly boundedBytes: Record<string, number>;
}

/**
 * The same chat of 400 turns on a plain graph and on `withMemory`, full and bounded, each with and
 * without a delta channel, all on `memory.checkpointer()`. They take turns.
 */
export async function checkpointGrowth(database: BenchDatabase): Promise<CheckpointGrowth> {
  const { pool, schema } = database;
  const memory = await openBenchMemory({ database: pool, schema, model: new OfflineChatModel() });
  const chats = names.map((variant) => openChat(memory, database, variant));
  for (let turn = 1; turn <= Math.max(...marks); turn++) {
    for (const { say } of inTurn(chats, turn)) await say(turn);
  }
  await memory.close();

  const at = (variant: Variant, turns: number) =>
    chats[names.indexOf(variant)]?.reached.find((mark) => mark.turns === turns) as Mark;
  for (const turns of marks) {
    printTable(
      `After ${turns} turns`,
      names.map((variant) => ({
        graph: variants[variant],
        "bytes of checkpoints": at(variant, turns).blobBytes,
        "prompt characters, last turn": at(variant, turns).promptCharacters,
        [`p50 ms, last ${lastTurns} turns`]: at(variant, turns).turnMs,
      })),
    );
  }
  return {
    blobBytes: Object.fromEntries(names.map((variant) => [variant, at(variant, 400).blobBytes])),
    blobRatio400: at("plain", 400).blobBytes / at("bounded", 400).blobBytes,
    promptGrowth: at("bounded", 400).promptCharacters / at("bounded", 40).promptCharacters,
    boundedBytes: Object.fromEntries(marks.map((turns) => [turns, at("bounded", turns).blobBytes])),
  };
}

/** A chat on one of the graphs, and what was measured when it had come to each mark. */
interface Chat {
  readonly reached: readonly Mark[];
  readonly say: (turn: number) => Promise<void>;
}

function openChat(memory: Memory, { pool, schema }: BenchDatabase, variant: Variant): Chat {
  let promptCharacters = 0;
  const isDelta = variant.endsWith("Delta");
  const deltaState = new StateSchema({
    messages: MessagesDeltaValue,
  }) as unknown as typeof MessagesAnnotation;
  const agent = new StateGraph(isDelta ? deltaState : MessagesAnnotation)
    .addNode("chat", (state) => {
      promptCharacters = characters(state.messages);
      return {
        messages: [new AIMessage(line("The answer", state.messages.length, messageCharacters))],
      };
    })
    .addEdge(START, "chat")
    .addEdge("chat", END);
  const checkpointer = memory.checkpointer();
  const isPlain = variant.startsWith("plain");
  const session = variant.startsWith("full") ? "full" : "bounded";
  const graph = isPlain
    ? agent.compile({ checkpointer })
    : withMemory(agent.compile(), memory, { session }).compile({ checkpointer });

  const threadId = `growth-${variant}`;
  const took: number[] = [];
  const reached: Mark[] = [];
  const say = async (turn: number) => {
    const message = new HumanMessage(line(`Question ${turn}`, turn, messageCharacters));
    const startedAt = performance.now();
    await graph.invoke(
      { messages: [message] },
      { configurable: { thread_id: threadId, user_id: "bench" } },
    );
    took.push(performance.now() - startedAt);
    await memory.idle();
    if (!marks.includes(turn)) return;
    const { rows } = await pool.query<{ bytes: number }>(
      `select sum(bytes)::float8 as bytes from (
         select octet_length(blob) from "${schema}".checkpoint_blobs where thread_id = $1
         union all select octet_length(blob) from "${schema}".checkpoint_writes where thread_id = $1
         union all select octet_length(checkpoint::text) + octet_length(metadata::text) from "${schema}".checkpoints
           where thread_id = $1
       ) r (bytes)`,
      [threadId],
    );
    const blobBytes = rows[0]?.bytes ?? 0;
    const whole = (2 * turn - 1) * messageCharacters;
    if (blobBytes === 0 || promptCharacters === 0 || (isPlain && promptCharacters !== whole))
      throw new Error(
        `After ${turn} turns of ${variant}: ${blobBytes} bytes, ${promptCharacters} characters.`,
      );
    reached.push({
      turns: turn,
      blobBytes,
      promptCharacters,
      turnMs: timing(took.slice(-lastTurns)).p50,
    });
  };
  return { reached, say };
}

function characters(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + message.text.length, 0);
}
