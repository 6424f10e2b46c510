import { setTimeout as sleep } from "node:timers/promises";
import { createMemory, createMemorySupervisor, type Logger } from "mnemograph";
import { type Background, watchBackground } from "./background.js";
import { type ChatModels, chatModels } from "./chat-models.js";
import { runCommand } from "./commands.js";
import type { Conversation } from "./conversation.js";
import { streamAnswer } from "./stream-answer.js";
import type { Terminal } from "./terminal.js";

const dataDir = ".mnemograph";

/** A conversation that can begin. */
export interface OpenConversation {
  /** Says where the thread stands, and what one can do. */
  greet(): Promise<void>;
  /**
   * One line of the user: a command, or a message to the assistant. Aborting the signal ends the
   * answer.
   */
  say(line: string, signal: AbortSignal): Promise<"exit" | "done">;
  /** Finishes what runs in the background, and closes the memory. */
  close(): Promise<void>;
}

/** Opens the memory and the models that `env` describes. */
export async function openConversation(
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<OpenConversation> {
  const { about, model, summaryModel } = await chatModels(env);
  terminal.print(about);
  const memory = createMemory({
    database: env.DATABASE_URL || { dataDir },
    model: summaryModel,
    config: env.MNEMOGRAPH_CONFIG || { preset: "every-round" },
    logger: problemsTo(terminal),
  });
  let told = async () => {};
  const close = async () => {
    // Where nothing is left to do there is nothing to say.
    const working = await Promise.race([memory.idle().then(() => false), sleep(patienceMs, true)]);
    if (working)
      terminal.note(
        "· Finishing background work; Ctrl-C quits at once, and the next start makes up for it.",
      );
    await told();
    await memory.close();
  };
  try {
    await memory.setup();
    const conversation: Conversation = {
      memory,
      terminal,
      scope: { userId: env.MNEMOGRAPH_USER || "me" },
      threadId: env.MNEMOGRAPH_THREAD || "chat",
    };
    const background = await watchBackground(conversation);
    told = background.told;
    return { ...(await begin(conversation, model, background)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A pause that nobody takes for a program that hangs. */
const patienceMs = 200;

/** What goes wrong in the background, dim; all else that is logged is for operators. */
function problemsTo(terminal: Terminal): Logger {
  const silent = () => {};
  const note = (message: string) =>
    terminal.note(`${/^creating/.test(message) ? "·" : "!"} ${message}`);
  return { debug: silent, info: silent, warn: note, error: note };
}

async function begin(
  conversation: Conversation,
  model: ChatModels["model"],
  background: Background,
): Promise<Omit<OpenConversation, "close">> {
  const { memory, scope, threadId, terminal } = conversation;
  const supervisor = await createMemorySupervisor({
    memory,
    model,
    planner: { prompt: "Turn the task into a short numbered list of steps. No introduction." },
    executor: { prompt: "Carry out the task and report the result in a few sentences." },
  });
  const graph = supervisor.compile({ checkpointer: memory.checkpointer() });
  const configurable = { thread_id: threadId, user_id: scope.userId };

  return {
    async greet() {
      const { lastSeq, summary } = await memory.recall({ scope, threadId });
      const known = summary ? `, summary of seq ${summary.startSeq}-${summary.endSeq}` : "";
      terminal.print(`Thread "${threadId}" of ${scope.userId}: ${lastSeq + 1} messages${known}.`);
      terminal.print('Tell it about yourself, or ask "What do you know about me?"', "dim");
      terminal.print("/help lists the commands; Ctrl-D or Ctrl-C ends.", "dim");
    },
    async say(line, signal) {
      if (line.trim() === "") return "done";
      const done = await runCommand(conversation, line);
      if (done !== "said") {
        await background.passOver();
        return done;
      }
      try {
        await streamAnswer(graph, line.trim(), { configurable, signal }, terminal);
      } finally {
        background.tellWhenDone();
      }
      return "done";
    },
  };
}
