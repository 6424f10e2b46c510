import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { address, type Shop } from "./open-shop.js";

/** One round of the demo's conversation. */
export interface Round {
  readonly says: string;
  /** The user thinks first, and the summary of the rounds before is completed meanwhile. */
  readonly afterPause?: true;
}

/** Ten rounds; from the fourth on every other one comes too fast for the summary to catch up. */
export const rounds: readonly Round[] = [
  { says: "I want a web shop in Python, on FastAPI." },
  { says: "The database is PostgreSQL 17." },
  { says: "What is the database?" },
  { says: "Design the user table.", afterPause: true },
  { says: "Create the user table." },
  { says: "Plan the order table.", afterPause: true },
  { says: "Orders get an index on user and date." },
  { says: "What is the index of orders?", afterPause: true },
  { says: "Deploy it." },
  { says: "What is the database?", afterPause: true },
];

/** The eleventh, in another process. */
export const nextRound: Round = { says: "Which index do orders get?" };

/** One round of the conversation, printed as it goes. */
export async function playRound(shop: Shop, round: number, says: string): Promise<void> {
  print(`Round ${round}`, "user", says);
  const firstSeq = (round - 1) * 2;
  const running = await shop.graph.stream(
    { messages: [new HumanMessage(says)] },
    { ...shop.config, streamMode: ["updates", "custom"], subgraphs: true },
  );
  let ended: RememberEvent | undefined;
  for await (const [namespace, mode, chunk] of running as AsyncIterable<Chunk>) {
    if (mode === "custom" && chunk.type === "memory.recall")
      print("", "memory", await used(shop, chunk, firstSeq));
    if (mode === "custom" && chunk.type === "memory.remember") ended = chunk;
    if (mode === "updates") printDelegations(namespace, chunk);
  }
  const { messages } = (await shop.graph.getState(shop.config)).values as { messages: BaseMessage[] };
  print("", "answer", messages.at(-1)?.text ?? "");
  if (ended) print("", "end", await outcome(shop, ended, firstSeq));
}

/** What the graph says while it runs: updates of its nodes, and events of the memory. */
type Chunk =
  | readonly [
      namespace: string[],
      mode: "updates",
      update: Record<string, { messages?: BaseMessage[] } | null>,
    ]
  | readonly [namespace: string[], mode: "custom", event: RecallEvent | RememberEvent];

interface RecallEvent {
  readonly type: "memory.recall";
  readonly summaryId: number | null;
  readonly gapMessages: number;
}
interface RememberEvent {
  readonly type: "memory.remember";
  readonly recorded: number;
  readonly summary: string | { readonly id: number; readonly startSeq: number; readonly endSeq: number };
}

/** One line in three columns. */
function print(round: string, label: string, text: string): void {
  console.log(`${round.padEnd(9)} ${label.padEnd(9)} ${text}`);
}

/** Tasks as the supervisor gives them, and results as they come back. */
function printDelegations(
  namespace: string[],
  update: Record<string, { messages?: BaseMessage[] } | null>,
): void {
  const said = Object.entries(update).flatMap(([node, value]) =>
    (value?.messages ?? []).map((message) => ({ node, message })),
  );
  const inSupervisor = namespace[1]?.startsWith("supervisor:");
  for (const { node, message } of said) {
    const calls = inSupervisor && AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    for (const { name, args } of calls) print("", "task", `${name}: "${args.task}"`);
    const isSubagent = namespace.length === 1 && ["planner", "executor"].includes(node);
    if (isSubagent && message.getType() === "tool") print("", "result", `${node}: "${message.text}"`);
  }
}

/** The memory a round began with. */
async function used(
  { memory }: Shop,
  { summaryId, gapMessages }: RecallEvent,
  firstSeq: number,
): Promise<string> {
  const seqs = `seq ${firstSeq - gapMessages}-${firstSeq - 1}`;
  if (summaryId === null) return gapMessages === 0 ? "none" : `none; the raw messages, ${seqs}`;
  const summaries = await memory.summaries.list(address);
  const summary = summaries.find(({ id }) => id === summaryId);
  const newer = summaries.find(({ id, status }) => id > summaryId && status === "processing");
  const caughtUp = newer ? `not caught up, id=${newer.id} is processing` : "caught up";
  return `id=${summaryId} (seq ${summary?.startSeq}-${summary?.endSeq}), ${caughtUp}; ${gapMessages === 0 ? "no gap" : `gap ${seqs}`}`;
}

/** What the end of a round did. */
async function outcome(
  { memory }: Shop,
  { recorded, summary }: RememberEvent,
  firstSeq: number,
): Promise<string> {
  const seqs = `seq ${firstSeq}-${firstSeq + recorded - 1} recorded`;
  const rows = await memory.summaries.list(address);
  if (typeof summary === "string") {
    const running = rows.find(({ status }) => status === "processing");
    const reason = running
      ? `id=${running.id} is still processing`
      : "too early, the first one comes after seq 5";
    return `${seqs}; skip: ${reason} (${summary})`;
  }
  const { id, startSeq, endSeq } = summary;
  const slid = startSeq > 0 ? `, sliding: seq 0-${startSeq - 1} dropped` : "";
  return `${seqs}; trigger: id=${id} (${startSeq}-${endSeq}), base ${rows.find((row) => row.id === id)?.baseId}${slid}`;
}
