import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { modelView } from "../../src/index.js";
import { ana, type Office } from "./open-office.js";

/** One round of a new conversation, printed: what memory shows the supervisor, what the planner asks, the answer. */
export async function askOffice({ memory, graph }: Office, says: string): Promise<void> {
  const threadId = "monday";
  printColumns("Monday", "user", says);
  const recalled = await memory.recall({ scope: ana, threadId, query: says, agent: "supervisor" });
  const block = modelView([new HumanMessage(says)], recalled).find(
    (message) => message.getType() === "system",
  );
  for (const line of (block?.text ?? "").split("\n").filter(Boolean)) {
    printColumns("", "shown", line.length > 100 ? `${line.slice(0, 99).trimEnd()}…` : line);
  }

  const running = await graph.stream(
    { messages: [new HumanMessage(says)] },
    {
      configurable: { thread_id: threadId, user_id: ana.userId },
      streamMode: "updates",
      subgraphs: true,
    },
  );
  let answer = "";
  for await (const [namespace, update] of running as AsyncIterable<Chunk>) {
    const messages = Object.values(update).flatMap((value) => value?.messages ?? []);
    if (namespace.at(-1)?.startsWith("planner:")) messages.forEach(printPlanner);
    if (update.supervisor) answer = messages.at(-1)?.text ?? answer;
  }
  printColumns("", "answer", answer);
}

type Chunk = readonly [namespace: string[], update: Record<string, { messages?: BaseMessage[] } | null>];

function printPlanner(message: BaseMessage): void {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  for (const { name, args } of calls) printColumns("", "planner", `${name} ${JSON.stringify(args)}`);
  if (message.getType() === "tool") printColumns("", "memory", message.text);
}

/** A line in three columns, the third one wrapped. */
export function printColumns(first: string, second: string, text: string): void {
  const start = `${first.padEnd(9)} ${second.padEnd(9)} `;
  console.log(start + wrapped(text).join(`\n${" ".repeat(start.length)}`));
}

const width = 100;

/** `text` in lines of at most `width` characters; words longer than that stay whole. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
