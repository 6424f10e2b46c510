import type { Summary, SummaryProgress } from "../summaries/list-summaries.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withDatabase, withMemory } from "./flags.js";
import { aligned, print } from "./output.js";
import { useMemory, useScope } from "./use-memory.js";

/** `mnemograph summaries`: of one conversation every version, else those completed last. */
export const summariesCommand: CliCommand = {
  name: "summaries",
  description: "show the summaries of a conversation, or those completed last",
  examples: [["summaries --user ana --thread t1", "every version, failed ones too"]],
  flags: (command) =>
    withDatabase(command)
      .option("--user <id>", "the user (default: everybody)")
      .option("--app <id>", "the app")
      .option("--tenant <id>", "the tenant of either")
      .option("--thread <id>", "every version of this conversation's summary")
      .option("--limit <count>", "without --thread: at most this many (default: 20)", wholeNumber(1_000)),
  run: summaries,
};

async function summaries(
  flags: MemoryFlags & { readonly thread?: string; readonly limit?: number },
): Promise<void> {
  const { thread: threadId, limit } = flags;
  const say = <Found>(found: readonly Found[], row: (one: Found) => (string | number)[]) =>
    print(flags, found, () => aligned(found.map(row)).join("\n") || "There are none.");
  if (threadId !== undefined) {
    return say(
      await useScope(flags, ({ summaries }, scope) => summaries.list({ scope, threadId })),
      versionRow,
    );
  }
  const found = await useMemory(flags, ({ summaries }, scope) =>
    summaries.progress({ ...(scope && { scope }), ...(limit !== undefined && { limit }) }),
  );
  say(found, progressRow);
}

function versionRow({ id, startSeq, endSeq, status, rolledBackAt, error, text }: Summary) {
  const state = rolledBackAt === null ? status : "rolled back";
  return [id, `messages ${startSeq}-${endSeq}`, state, error ?? text ?? ""];
}

function progressRow({
  summaryId,
  createdAt,
  startSeq,
  endSeq,
  generationTimeMs,
  threadId,
}: SummaryProgress) {
  const took = generationTimeMs === null ? "-" : `${generationTimeMs} ms`;
  return [summaryId, createdAt.toISOString(), `messages ${startSeq}-${endSeq}`, took, threadId];
}

/** `mnemograph upkeep`: the work that is due, once, for cron and for what runs no processes of its own. */
export const upkeepCommand: CliCommand = {
  name: "upkeep",
  description:
    "do the work that is due now, and end: ageing and expiry; with a model also summaries, facts and notes",
  examples: [["upkeep --model ./model.js", "from cron, where no process lives long"]],
  flags: (command) =>
    withMemory(command, "give what is learned vectors, with the embeddings a file or package exports").option(
      "--model <module>",
      "file or package that exports a LangChain chat model as default or as `model`",
    ),
  run: upkeep,
};

/** Rounds of work: each may make more due. */
const mostRounds = 100;

async function upkeep(flags: MemoryFlags): Promise<void> {
  const done = await useMemory(flags, async (memory) => {
    let pieces = 0;
    for (let round = 0; round < mostRounds; round++) {
      const due = await memory.upkeep();
      await memory.idle();
      pieces += due;
      if (due === 0) break;
    }
    return pieces;
  });
  print(flags, { pieces: done }, () => (done === 0 ? "Nothing was due." : `Did ${done} pieces of work.`));
}
