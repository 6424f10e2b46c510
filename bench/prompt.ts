import { openBenchDatabase } from "./bench-database.js";
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
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

// What an agent's prompts cost where prefixes are cached: with memory, and as LangChain's own means
// have it.
//   npm run bench:prompt [-- --small] [--preset=NAME] [--show=TURN]
// --small only shows that it works; --preset is given to Mnemograph; --show prints its prompts of a turn.

const isSmall = process.argv.includes("--small");
const turnsShown = isSmall ? [3, 6, 12] : [30, 60, 200];
const memoryCounts = [0, 80];
const answerTokens = { long: 230, short: 35 };
const preset = option("preset");
const words = usersWords(Math.max(...turnsShown), 11);
const shownTurn = Number(option("show") ?? 0);
if (!(shownTurn in [0, ...words]))
  throw new Error(`There is no turn ${option("show")}. Pass --show=1 to --show=${words.length}.`);

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const settingOf = (name: string, answers: number, memories: number) => ({
    words,
    answerTokens: answers,
    database: database.pool,
    schema: `${database.schema}_${name}`,
    preset,
    memories,
  });
  const results: Record<string, Record<string, PromptLog>> = {};
  for (const [length, tokens] of Object.entries(answerTokens)) {
    const logs: Record<string, PromptLog> = {};
    const setting = (memories: number) => settingOf(`${length}_${memories}`, tokens, memories);
    for (const memories of memoryCounts)
      logs[nameOf(memories)] = await withMnemograph(setting(memories));
    for (const name of peerNames) logs[name] = await withPeer(name, setting(0));
    printCosts(`Answers of ${tokens} tokens`, logs);
    results[length] = logs;
  }
  const long = results.long ?? {};
  printBackground(long);
  printShown(long);
  printLoad();
  const figures = (figure: (measured: ReturnType<typeof measure>) => number, peer?: Peer) =>
    byTurnsAndMemories((turns, memories) =>
      figure(measure(long[peer ?? nameOf(memories)] as PromptLog, turns)),
    );
  printResult({
    cost: figures(({ agent }) => agent.cost),
    costWithSummaries: figures(({ costWithSummaries }) => costWithSummaries),
    fullHistory: figures(({ agent }) => agent.cost, "fullHistory"),
    summarization: figures(({ agent }) => agent.cost, "summarizationMiddleware"),
    summarizationWithSummaries: figures(
      (peer) => peer.costWithSummaries,
      "summarizationMiddleware",
    ),
    sharedPrefix: figures(({ agent }) => agent.sharedPrefix),
    lastPromptTokens: figures(({ agent }) => agent.lastTokens),
    backgroundTokens: figures(({ background }) => background.tokens),
    backgroundCalls: figures(({ background }) => background.calls),
    toolLoopTokens: await toolLoopTokens(settingOf("tools", answerTokens.long, 0)),
  });
} finally {
  await database.close();
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

function printCosts(title: string, logs: Readonly<Record<string, PromptLog>>): void {
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

function printBackground(logs: Readonly<Record<string, PromptLog>>): void {
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

function printShown(logs: Readonly<Record<string, PromptLog>>): void {
  if (shownTurn === 0) return;
  for (const [variant, log] of Object.entries(logs))
    if (variant.startsWith("Mnemograph"))
      console.log(`\n${variant}, turn ${shownTurn}\n${readable(promptOf(log, shownTurn))}`);
}

function promptOf(log: PromptLog, turn: number): string {
  return log.calls.find((call) => call.turn === turn && call.kind === agentKind)?.prompt ?? "";
}

function option(name: string): string | undefined {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given?.slice(name.length + 3);
}
