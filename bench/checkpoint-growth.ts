import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createMemory, type Memory, withMemory } from "../src/index.js";
import { OfflineChatModel } from "../src/testing/index.js";
import type { BenchDatabase } from "./bench-database.js";
import { printTable } from "./report.js";

const marks = [40, 50, 100, 200, 400];
const variants = ["plain", "full", "bounded"] as const;
type Variant = (typeof variants)[number];

interface Mark {
  readonly turns: number;
  readonly blobBytes: number;
  readonly promptCharacters: number;
  readonly turnMs: number;
}

/** What `checkpointGrowth` measured, for the line of JSON. */
export interface CheckpointGrowth {
  /** Blob bytes after 400 turns: plain ÷ bounded. */
  readonly blobRatio400: number;
  /** Characters shown to the agent, bounded: turn 400 ÷ turn 40. */
  readonly promptGrowth: number;
  readonly boundedBytes: Record<string, number>;
}

/** The same chat of 400 turns on a plain graph and on `withMemory`, full and bounded, all on `PostgresSaver`. */
export async function checkpointGrowth(database: BenchDatabase): Promise<CheckpointGrowth> {
  const { pool, schema } = database;
  const memory = createMemory({
    database: pool,
    schema,
    model: new OfflineChatModel(),
    // What is measured is the conversation alone.
    config: { memories: { extract: false, episodes: false } },
  });
  await memory.setup();
  const measured = new Map<Variant, Mark[]>();
  for (const variant of variants) measured.set(variant, await chat(memory, database, variant));
  await memory.close();

  const at = (variant: Variant, turns: number) =>
    measured.get(variant)?.find((mark) => mark.turns === turns) as Mark;
  for (const turns of marks) {
    printTable(
      `After ${turns} turns`,
      variants.map((variant) => ({
        graph: variant === "plain" ? "plain graph" : `withMemory, session "${variant}"`,
        "blob bytes": at(variant, turns).blobBytes,
        "prompt characters, last turn": at(variant, turns).promptCharacters,
        "last turn, ms": at(variant, turns).turnMs,
      })),
    );
  }
  return {
    blobRatio400: at("plain", 400).blobBytes / at("bounded", 400).blobBytes,
    promptGrowth: at("bounded", 400).promptCharacters / at("bounded", 40).promptCharacters,
    boundedBytes: Object.fromEntries(marks.map((turns) => [turns, at("bounded", turns).blobBytes])),
  };
}

async function chat(memory: Memory, { pool, schema }: BenchDatabase, variant: Variant): Promise<Mark[]> {
  let promptCharacters = 0;
  const agent = new StateGraph(MessagesAnnotation)
    .addNode("chat", (state) => {
      promptCharacters = characters(state.messages);
      return { messages: [new AIMessage(sentence("The answer", state.messages.length))] };
    })
    .addEdge(START, "chat")
    .addEdge("chat", END);
  const checkpointer = memory.checkpointer();
  const graph =
    variant === "plain"
      ? agent.compile({ checkpointer })
      : withMemory(agent.compile(), memory, { session: variant }).compile({ checkpointer });

  const threadId = `growth-${variant}`;
  const result: Mark[] = [];
  for (let turn = 1; turn <= Math.max(...marks); turn++) {
    const message = new HumanMessage(sentence(`Question ${turn}`, turn));
    const startedAt = performance.now();
    await graph.invoke({ messages: [message] }, { configurable: { thread_id: threadId, user_id: "bench" } });
    const turnMs = performance.now() - startedAt;
    await memory.idle();
    if (!marks.includes(turn)) continue;
    const { rows } = await pool.query<{ bytes: number }>(
      `select coalesce(sum(octet_length(blob)), 0)::float8 as bytes from "${schema}".checkpoint_blobs where thread_id = $1`,
      [threadId],
    );
    result.push({ turns: turn, blobBytes: rows[0]?.bytes ?? 0, promptCharacters, turnMs });
  }
  return result;
}

/** 200 characters, as in a short paragraph of chat. */
function sentence(start: string, salt: number): string {
  const words = [
    "plan",
    "table",
    "index",
    "deploy",
    "budget",
    "review",
    "schema",
    "release",
    "meeting",
    "query",
  ];
  let text = `${start}:`;
  for (let word = salt; text.length < 200; word += 3) text += ` ${words[word % words.length]}`;
  return `${text.slice(0, 199)}.`;
}

function characters(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + message.text.length, 0);
}
