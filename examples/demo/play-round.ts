import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { address, type Shop } from "./open-shop.js";
import { row } from "./story.js";

/** One turn of the demo's conversation. */
export interface Round {
  readonly says: string;
  /** The user thinks first, and the summary of the turns before is completed meanwhile. */
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
export const nextTurn: Round = { says: "Which index do orders get?" };

/** One turn of the conversation, printed as it goes. */
export async function playRound(shop: Shop, round: number, says: string): Promise<void> {
  row(`${round}`, "you", says);
  const firstSeq = (round - 1) * 2;
  const running = await shop.graph.stream(
    { messages: [new HumanMessage(says)] },
    { ...shop.config, streamMode: ["updates", "custom"], subgraphs: true },
  );
  let begun = "";
  let ended: RememberEvent | undefined;
  let result: Result | undefined;
  for await (const [namespace, mode, chunk] of running as AsyncIterable<Chunk>) {
    if (mode === "custom" && chunk.type === "memory.recall")
      begun = await used(shop, chunk, firstSeq);
    if (mode === "custom" && chunk.type === "memory.remember") ended = chunk;
    if (mode === "updates" && namespace.length === 1) result = resultOf(chunk) ?? result;
  }
  const { messages } = (await shop.graph.getState(shop.config)).values as {
    messages: BaseMessage[];
  };
  if (result) row("", result.from, result.text);
  const answer = unmarked(messages.at(-1)?.text ?? "");
  // That something was noted says nothing; that a subagent's result is the answer needs no second
  // line.
  if (![result?.text, `Noted: ${says}`].includes(answer)) row("", "answer", answer);
  if (ended) row("", "summary", `${begun} → ${await outcome(shop, ended, firstSeq)}`, "dim");
}

/** `text` without the mark of the stand-ins, which the demo's first lines make up for. */
export function unmarked(text: string): string {
  return text.replace("[offline stand-in] ", "");
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
  readonly summary:
    | string
    | { readonly id: number; readonly startSeq: number; readonly endSeq: number };
}

/** What a subagent gave back. */
interface Result {
  readonly from: string;
  readonly text: string;
}

function resultOf(update: Record<string, { messages?: BaseMessage[] } | null>): Result | undefined {
  const messages = Object.values(update).flatMap((value) => value?.messages ?? []);
  const result = messages.find((message) => message.getType() === "tool");
  return result && { from: result.name ?? "", text: result.text };
}

/** The memory a turn began with. */
async function used(
  { memory }: Shop,
  { summaryId, gapMessages }: RecallEvent,
  firstSeq: number,
): Promise<string> {
  const gap = `${firstSeq - gapMessages}-${firstSeq - 1}`;
  if (summaryId === null) return gapMessages === 0 ? "none" : `none, messages ${gap}`;
  const summaries = await memory.summaries.list(address);
  const summary = summaries.find(({ id }) => id === summaryId);
  const newer = summaries.find(({ id, status }) => id > summaryId && status === "processing");
  const caughtUp = newer ? `${newer.id} is not ready` : "caught up";
  const missing = gapMessages === 0 ? "no gap" : `gap ${gap}`;
  return `${summaryId} (${summary?.startSeq}-${summary?.endSeq}), ${caughtUp}, ${missing}`;
}

/** What the end of a turn did. */
async function outcome(
  { memory }: Shop,
  { recorded, summary }: RememberEvent,
  firstSeq: number,
): Promise<string> {
  const kept = `${firstSeq}-${firstSeq + recorded - 1} recorded`;
  const rows = await memory.summaries.list(address);
  if (typeof summary === "string") {
    const running = rows.find(({ status }) => status === "processing");
    return `${kept}, ${running ? `${running.id} still runs` : "too early for one"}`;
  }
  const { id, startSeq, endSeq } = summary;
  const base = rows.find((each) => each.id === id)?.baseId ?? null;
  const slid = startSeq > 0 ? `, 0-${startSeq - 1} dropped` : "";
  return `${kept}, ${id} (${startSeq}-${endSeq}) starts${base === null ? "" : ` on ${base}`}${slid}`;
}
