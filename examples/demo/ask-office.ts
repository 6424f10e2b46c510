import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { modelView } from "mnemograph";
import { ana, type Office } from "./open-office.js";
import { unmarked } from "./play-round.js";
import { row } from "./story.js";

/**
 * One turn of a new conversation, printed: what memory tells of changes, what the planner asks, the
 * answer.
 */
export async function askOffice({ memory, graph }: Office, says: string): Promise<void> {
  const threadId = "monday";
  row("", "you", says);
  const recalled = await memory.recall({ scope: ana, threadId, query: says, agent: "supervisor" });
  for (const line of changesShown(modelView([new HumanMessage(says)], recalled)))
    row("", "shown", line, "dim");

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
  row("", "answer", unmarked(answer));
}

/** The lines of the prompt that say what changed since the conversation was last told. */
function changesShown(view: readonly BaseMessage[]): string[] {
  const prompt = view.map(({ text }) => text).join("\n");
  const [changes = ""] = /^Memory updates since .*(?:\n- .*)*/m.exec(prompt) ?? [];
  return changes.split("\n").filter((line) => line !== "");
}

type Chunk = readonly [
  namespace: string[],
  update: Record<string, { messages?: BaseMessage[] } | null>,
];

function printPlanner(message: BaseMessage): void {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  for (const { name, args } of calls)
    row("", "planner", `${name}: "${args.query}" in ${args.categories}`);
  if (message.getType() === "tool") row("", "memory", hitsIn(message.text), "dim");
}

/** The texts of what memory answered; a refusal as it is. */
function hitsIn(answer: string): string {
  if (!answer.startsWith("[")) return answer;
  return (JSON.parse(answer) as { text: string }[]).map(({ text }) => text).join(" ");
}
