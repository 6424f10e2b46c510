import type { BenchDatabase } from "./bench-database.js";
import { options } from "./options.js";
import {
  agentKind,
  isSummary,
  memoriesIn,
  type Peer,
  peerNames,
  toolLoopTokens,
  withMnemograph,
  withPeer,
} from "./prompt/conversations.js";
import { costOf, type PromptLog, readable } from "./prompt/prompt-log.js";
import { usersWords } from "./prompt/words.js";
import { printTable } from "./report.js";
import { runBench } from "./run-bench.js";

// What an agent's prompts cost where prefixes are cached: with memory, and as LangChain's own means
// have it.
//   npm run bench:prompt [-- --small] [--preset=NAME] [--show=TURN] [--against REF [--json]]
// --small only shows that it works; --preset is given to Mnemograph; --show prints its prompts of a
// turn; --against compares the working tree with a commit.

const turnsShown = options.small ? [3, 6, 12] : [30, 60, 200];
const memoryCounts = [0, 80];
const answerTokens = { long: 230, short: 35 };
const { preset } = options;
const words = usersWords(Math.max(...turnsShown), 11);
const shownTurn = Number(options.show ?? 0);
if (!(shownTurn in [0, ...words]))
  throw new Error(`There is no turn ${options.show}. Pass --show=1 to --show=${words.length}.`);

await runBench("bench:prompt", {
  async report(database) {
    const long = await converse(database, answerTokens.long);
    printCosts(`Answers of ${answerTokens.long} tokens`, long);
    const short = await converse(database, answerTokens.short);
    printCosts(`Answers of ${answerTokens.short} tokens`, short);
    printBackground(long);
    printShown(long);
    return figuresOf(database, long);
  },
  withSlices: (database, work) =>
    work({
      prompts: {
        pairs: 1,
        async measure() {
          const figures = await figuresOf(database, await converse(database, answerTokens.long));
          return Object.fromEntries(flat(figures));
        },
      },
    }),
});

type PromptLogs = Readonly<Record<string, PromptLog>>;

/** The conversation with answers of so many tokens, with memory and without. */
async function converse(database: BenchDatabase, answers: number): Promise<PromptLogs> {
  const logs: Record<string, PromptLog> = {};
  for (const memories of memoryCounts)
    logs[nameOf(memories)] = await withMnemograph(
      settingOf(database, `${answers}_${memories}`, answers, memories),
    );
  for (const name of peerNames)
    logs[name] = await withPeer(name, settingOf(database, name, answers, 0));
  return logs;
}

function settingOf(database: BenchDatabase, name: string, answers: number, memories: number) {
  const schema = `${database.schema}_${name}`;
  return { words, answerTokens: answers, database: database.pool, schema, preset, memories };
}

async function figuresOf(database: BenchDatabase, logs: PromptLogs) {
  const figures = (figure: (measured: ReturnType<typeof measure>) => number, peer?: Peer) =>
    byTurnsAndMemories((turns, memories) =>
      figure(measure(logs[peer ?? nameOf(memories)] as PromptLog, turns)),
    );
  return {
    cost: figures(({ agent }) => agent.cost),
    costWithSummaries: figures(({ costWithSummaries }) => costWithSummaries),
    fullHistory: figures(({ agent }) => agent.cost, "fullHistory"),
    summarization: figures(({ agent }) => agent.cost, "summarizationMiddleware"),
    summarizationWithSummaries: figures(
      (peer) => peer.costWithSummaries,
      "summarizationMiddleware",
    ),
    sharedPrefix: figures(({ agent }) => agent.sharedPrefix),
    believedMissing: Object.values(logs).reduce((sum, log) => sum + log.believedMissing, 0),
    lastPromptTokens: figures(({ agent }) => agent.lastTokens),
    backgroundTokens: figures(({ background }) => background.tokens),
    backgroundCalls: figures(({ background }) => background.calls),
    toolLoopTokens: await toolLoopTokens(settingOf(database, "tools", answerTokens.long, 0)),
  };
}

/** The numbers in `figures`, however deep, with the names on the way to each. */
function flat(figures: object): [name: string, figure: number][] {
  return Object.entries(figures).flatMap(([name, value]) =>
    typeof value === "number"
      ? [[name, value] as [string, number]]
      : flat(value).map(([rest, figure]): [string, number] => [`${name} ${rest}`, figure]),
  );
}

function measure(log: PromptLog, untilTurn: number) {
  const agent = costOf(log, untilTurn, (kind) => kind === agentKind);
  return {
    agent,
    costWithSummaries: agent.cost + costOf(log, untilTurn, isSummary).cost,
    background: costOf(log, untilTurn, (kind) => kind !== agentKind),
  };
}

function byTurnsAndMemories(figure: (turns: number, memories: number) => number) {
  const byMemories = (turns: number) =>
    Object.fromEntries(memoryCounts.map((memories) => [memories, figure(turns, memories)]));
  return Object.fromEntries(turnsShown.map((turns) => [turns, byMemories(turns)]));
}

function nameOf(memories: number): string {
  return `Mnemograph, ${memories} memories`;
}

function printCosts(title: string, logs: PromptLogs): void {
  const rows = turnsShown.flatMap((turns) =>
    Object.entries(logs).map(([variant, log]) => {
      const { agent, costWithSummaries, background } = measure(log, turns);
      const { tokens, lastTokens, sharedPrefix, cost } = agent;
      return {
        variant,
        turns,
        "prompt tokens": whole(tokens),
        "last prompt": whole(lastTokens),
        "memories in it": memoriesIn(promptOf(log, turns)),
        "shared prefix": sharedPrefix,
        cost: whole(cost),
        "with summaries": whole(costWithSummaries),
        "background calls": background.calls,
        "their tokens": whole(background.tokens),
      };
    }),
  );
  printTable(title, rows);
}

function printBackground(logs: PromptLogs): void {
  const rows = Object.entries(logs).flatMap(([variant, log]) => {
    const kinds = new Set(log.calls.map(({ kind }) => kind).filter((kind) => kind !== agentKind));
    return [...kinds].map((kind) => {
      const { calls, tokens, cost } = costOf(log, words.length, (other) => other === kind);
      return { variant, kind, calls, tokens: whole(tokens), cost: whole(cost) };
    });
  });
  printTable(
    `Background calls in ${words.length} turns, answers of ${answerTokens.long} tokens`,
    rows,
  );
}

function whole(tokens: number): number {
  return Math.round(tokens);
}

function printShown(logs: PromptLogs): void {
  if (shownTurn === 0) return;
  for (const [variant, log] of Object.entries(logs))
    if (variant.startsWith("Mnemograph"))
      console.log(`\n${variant}, turn ${shownTurn}\n${readable(promptOf(log, shownTurn))}`);
}

function promptOf(log: PromptLog, turn: number): string {
  return log.calls.find((call) => call.turn === turn && call.kind === agentKind)?.prompt ?? "";
}
