import { createMemory, createMemorySupervisor, type Logger, type Memory, MemoryError } from "../src/index.js";
import { chatModels } from "./chat/chat-models.js";
import { streamAnswer } from "./chat/stream-answer.js";
import { openTerminal } from "./chat/terminal.js";

// Talk to a supervisor with memory: at the terminal, or with lines piped in.
//
// OPENAI_API_KEY, OPENAI_BASE_URL     any OpenAI-compatible endpoint; without a key an offline stand-in
// MNEMOGRAPH_CHAT_MODEL, MNEMOGRAPH_SUMMARY_MODEL     default gpt-4.1-mini
// DATABASE_URL                        default: an embedded database in ./.mnemograph
// MNEMOGRAPH_CONFIG                   a YAML file with settings of the memory, like ./demo/memory.yaml
// MNEMOGRAPH_THREAD, MNEMOGRAPH_USER  default "chat", "me"
//
// The line "/memories" lists what is remembered of the user.

const { env } = process;
const scope = { userId: env.MNEMOGRAPH_USER || "me" };
const threadId = env.MNEMOGRAPH_THREAD || "chat";

let ending = false;
let round = new AbortController();
const terminal = openTerminal(() => {
  if (ending) process.exit(130);
  ending = true;
  round.abort();
  terminal.close();
});

const note = (line: string) => terminal.note(`· ${line}`);
const logger: Logger = { debug: note, info: note, warn: note, error: note };

try {
  const { about, model, summaryModel } = await chatModels(env);
  terminal.print(about);
  const memory = createMemory({
    database: env.DATABASE_URL || { dataDir: ".mnemograph" },
    model: summaryModel,
    ...(env.MNEMOGRAPH_CONFIG && { config: env.MNEMOGRAPH_CONFIG }),
    logger,
  });
  try {
    await memory.setup();
    await chat(memory, model);
    ending = true;
    note("Finishing background work; Ctrl-C quits at once, and the next start makes up for it.");
  } finally {
    await memory.close();
  }
} catch (error) {
  terminal.print(explainError(error));
  process.exitCode = 1;
}
terminal.close();

async function chat(memory: Memory, model: Awaited<ReturnType<typeof chatModels>>["model"]): Promise<void> {
  const supervisor = await createMemorySupervisor({
    memory,
    model,
    planner: { prompt: "Turn the task into a short numbered list of steps. No introduction." },
    executor: { prompt: "Carry out the task and report the result in a few sentences." },
  });
  const graph = supervisor.compile({ checkpointer: memory.checkpointer() });
  const configurable = { thread_id: threadId, user_id: scope.userId };

  const { lastSeq, summary } = await memory.recall({ scope, threadId });
  const known = summary ? `, summary of seq ${summary.startSeq}-${summary.endSeq}` : "";
  terminal.print(
    `Thread "${threadId}" of ${scope.userId}: ${lastSeq + 1} messages${known}. Ctrl-D or Ctrl-C ends.`,
  );

  for await (const says of terminal.lines()) {
    if (ending) break;
    if (says.trim() === "") continue;
    if (says.trim() === "/memories") {
      await printMemories(memory);
      continue;
    }
    round = new AbortController();
    try {
      await streamAnswer(graph, says, { configurable, signal: round.signal }, terminal);
    } catch (error) {
      if (!ending) terminal.print(explainError(error));
      else note("Interrupted: what you said is kept, an unfinished answer is not.");
    }
  }
}

/** What is remembered of a user now, oldest first; what is still being extracted from the last words comes first. */
async function printMemories(memory: Memory): Promise<void> {
  await memory.idle();
  const memories = await memory.memories.list({ scope });
  for (const { category, key, value, text, turns } of memories.toReversed()) {
    const where = turns === null ? "" : `turns ${turns.start}-${turns.end}: `;
    terminal.print(`- [${category}] ${where}${key === null ? text : `${key}: ${value}`}`);
  }
  if (memories.length === 0) terminal.print("Nothing is remembered yet.");
}

/** What went wrong, in one line for the person at the terminal. */
function explainError(error: unknown): string {
  if (MemoryError.is(error)) return error.message;
  const { status, code, cause, message } = Object(error) as Record<string, unknown>;
  const text = typeof message === "string" ? (message.split("\n")[0] ?? "") : "";
  if (status === 401 || status === 403) {
    return `The endpoint refused the key (${text}). Check OPENAI_API_KEY and OPENAI_BASE_URL.`;
  }
  if (typeof status === "number") return `The endpoint answered with an error: ${text}`;
  if (text === "Connection error.") {
    const detail = (cause as { cause?: { code?: string } } | undefined)?.cause?.code ?? "no connection";
    return `The endpoint does not answer (${detail}). Check OPENAI_BASE_URL.`;
  }
  // Node gathers the failures of IPv4 and IPv6 attempts in an error without a message.
  if (typeof code === "string" && /^E[A-Z]+$/.test(code))
    return `The database does not answer (${text || code}).`;
  return text || String(error);
}
