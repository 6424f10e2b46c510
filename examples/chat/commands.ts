import type { MemoryItem } from "mnemograph";
import type { Conversation } from "./conversation.js";
import { decideConsents } from "./decide-consents.js";
import { forgetEverything, forgetMemory } from "./forget.js";

/** A line that begins with a slash: not said to the model, and not recorded. */
interface Command {
  readonly name: string;
  readonly takes?: string;
  readonly help: string;
  run(conversation: Conversation, argument: string): Promise<void> | void;
}

const commands: readonly Command[] = [
  { name: "help", help: "this list", run: printHelp },
  { name: "memories", help: "what is remembered of you, numbered", run: printMemories },
  { name: "summary", help: "what stands for the older messages of this thread", run: printSummary },
  {
    name: "consents",
    help: "what waits for your consent: decide one after another",
    run: decideConsents,
  },
  {
    name: "forget",
    takes: "[number]",
    help: "a memory, or everything of you; asks first",
    run: forget,
  },
  { name: "exit", help: "ends, as Ctrl-D and Ctrl-C do", run: () => {} },
];

/**
 * Does what `line` commands.
 *
 * @returns "said" when it is no command: a path such as "/tmp/x" is none, nor is what begins with a
 * space.
 */
export async function runCommand(
  conversation: Conversation,
  line: string,
): Promise<"said" | "done" | "exit"> {
  const [, name, argument = ""] = /^\/([\p{L}\d_-]*)(?:\s+(.*))?$/su.exec(line.trimEnd()) ?? [];
  if (name === undefined) return "said";
  const wanted = name === "quit" ? "exit" : name.toLowerCase();
  const command = commands.find((each) => each.name === wanted);
  if (command === undefined) {
    conversation.terminal.print(
      `There is no command /${name}, and nothing was said. /help lists the commands; a space in front says it as it is.`,
      "yellow",
    );
    return "done";
  }
  if (command.name === "exit") return "exit";
  await command.run(conversation, argument.trim());
  return "done";
}

function printHelp({ terminal }: Conversation): void {
  for (const { name, takes, help } of commands) {
    terminal.print(`/${`${name} ${takes ?? ""}`.padEnd(17)} ${help}`);
  }
  terminal.print("Everything else is said to the assistant.", "dim");
}

/** Oldest first, so that numbers stay when more is learned. */
async function listMemories({ memory, scope }: Conversation): Promise<MemoryItem[]> {
  // What is being made of the last words comes first.
  await memory.idle();
  return (await memory.memories.list({ scope, limit: 1_000 })).toReversed();
}

async function printMemories(conversation: Conversation): Promise<void> {
  const { memory, scope, terminal } = conversation;
  const memories = await listMemories(conversation);
  if (memories.length === 0) terminal.print("Nothing is remembered yet.");
  for (const [index, { category, key, value, text, turns, pinned }] of memories.entries()) {
    const where = turns === null ? "" : `turns ${turns.start}-${turns.end}: `;
    const what = key === null || value === null ? text : `${key.replaceAll("_", " ")}: ${value}`;
    terminal.print(`${index + 1}. [${category}] ${where}${what}${pinned ? " (pinned)" : ""}`);
  }
  const waiting = (await memory.consents.list({ scope, rule: "consent" })).length;
  if (waiting > 0) terminal.print(`${waiting} more for you to decide: /consents`, "dim");
}

async function printSummary({ memory, scope, threadId, terminal }: Conversation): Promise<void> {
  const { summary } = await memory.recall({ scope, threadId });
  if (!summary)
    return terminal.print("There is no summary yet: the first one follows the third round.");
  terminal.print(`Messages ${summary.startSeq}-${summary.endSeq}:`, "dim");
  terminal.print(summary.text);
}

async function forget(conversation: Conversation, argument: string): Promise<void> {
  if (argument === "") return forgetEverything(conversation);
  const memories = await listMemories(conversation);
  const chosen = /^\d+$/.test(argument) ? memories[Number(argument) - 1] : undefined;
  if (chosen) return forgetMemory(conversation, chosen);
  conversation.terminal.print(
    `There is no memory "${argument}". /memories shows their numbers; /forget alone forgets everything.`,
    "yellow",
  );
}
