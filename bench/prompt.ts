import { openBenchDatabase } from "./bench-database.js";
import {
  agentKind,
  memoriesIn,
  peers,
  summaryKind,
  toolLoopTokens,
  withMnemograph,
} from "./prompt/conversations.js";
import { costOf, type PromptLog, readable } from "./prompt/prompt-log.js";
import { usersWords } from "./prompt/words.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

// What an agent's prompts cost where prefixes are cached: with memory, and as LangChain's own means have it.
//   npm run bench:prompt [-- --small] [--preset=NAME] [--show=TURN]
// --small only shows that it works; --preset is given to Mnemograph; --show prints its prompts of a turn.

const isSmall = process.argv.includes("--small");
const turnsShown = isSmall ? [3, 6, 12] : [30, 60, 200];
const memoryCounts = [0, 80];
const answerTokens = { long: 230, short: 35 };
const preset = option("preset");
const shownTurn = Number(option("show") ?? 0);
const words = usersWords(Math.max(...turnsShown), 11);

type Measured = ReturnType<typeof measure>;

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const settingOf = (name: string, answers: number, memories: number) => ({
    ...{ words, answerTokens: answers, database: database.pool, schema: `${database.schema}_${name}` },
    ...{ preset, memories },
  });
  const results: Record<string, Record<string, PromptLog>> = {};
  for (const [length, tokens] of Object.entries(answerTokens)) {
    const logs: Record<string, PromptLog> = {};
    for (const memories of memoryCounts)
      logs[`Mnemograph, ${memories} memories`] = await withMnemograph(
        settingOf(`${length}_${memories}`, tokens, memories),
      );
    for (const [name, converse] of Object.entries(peers))
      logs[name] = await converse({ words, answerTokens: tokens });
    printCosts(`Answers of ${tokens} tokens`, logs);
    results[length] = logs;
  }
  const long = results.long ?? {};
  printBackground(long);
  printShown(long);
  printLoad();
  const mnemograph = (figure: (measured: Measured) => number) =>
    figures((turns, memories) => figure(measure(long[`Mnemograph, ${memories} memories`], turns)));
  const peer = (name: keyof typeof peers, figure: (measured: Measured) => number) =>
    figures((turns) => figure(measure(long[name], turns)));
  printResult({
    cost: mnemograph(({ agent }) => agent.cost),
    costWithSummaries: mnemograph(({ costWithSummaries }) => costWithSummaries),
    fullHistory: peer("fullHistory", ({ agent }) => agent.cost),
    summarization: peer("summarizationMiddleware", ({ agent }) => agent.cost),
    summarizationWithSummaries: peer("summarizationMiddleware", (measured) => measured.costWithSummaries),
    sharedPrefix: mnemograph(({ agent }) => agent.sharedPrefix),
    lastPromptTokens: mnemograph(({ agent }) => agent.lastTokens),
    backgroundTokens: mnemograph(({ background }) => background.tokens),
    backgroundCalls: mnemograph(({ background }) => background.calls),
    toolLoopTokens: await toolLoopTokens(settingOf("tools", answerTokens.long, 0)),
  });
} finally {
  await database.close();
}

function measure(log: PromptLog = { turn: 0, calls: [] }, untilTurn: number) {
  const agent = costOf(log, untilTurn, (kind) => kind === agentKind);
  return {
    agent,
    costWithSummaries: agent.cost + costOf(log, untilTurn, (kind) => kind === summaryKind).cost,
    background: costOf(log, untilTurn, (kind) => kind !== agentKind),
  };
}

/** By turns, then by memories. */
function figures(figure: (turns: number, memories: number) => number) {
  const byMemories = (turns: number) =>
    Object.fromEntries(memoryCounts.map((memories) => [memories, figure(turns, memories)]));
  return Object.fromEntries(turnsShown.map((turns) => [turns, byMemories(turns)]));
}

function printCosts(title: string, logs: Readonly<Record<string, PromptLog>>): void {
  const rows = turnsShown.flatMap((turns) =>
    Object.entries(logs).map(([variant, log]) => {
      const { agent, costWithSummaries, background } = measure(log, turns);
      return {
        ...{ variant, turns, "prompt tokens": Math.round(agent.tokens) },
        ...{
          "last prompt": Math.round(agent.lastTokens),
          "memories in it": memoriesIn(promptOf(log, turns)),
        },
        "shared prefix": `${(agent.sharedPrefix * 100).toFixed(1)} %`,
        ...{ cost: Math.round(agent.cost), "with summaries": Math.round(costWithSummaries) },
        ...{ "background calls": background.calls, "their tokens": Math.round(background.tokens) },
      };
    }),
  );
  printTable(title, rows);
}

function printBackground(logs: Readonly<Record<string, PromptLog>>): void {
  const rows = Object.entries(logs).flatMap(([variant, log]) =>
    [...new Set(log.calls.map(({ kind }) => kind))]
      .filter((kind) => kind !== agentKind)
      .map((kind) => {
        const { calls, tokens, cost } = costOf(log, words.length, (other) => other === kind);
        return { variant, kind, calls, tokens: Math.round(tokens), cost: Math.round(cost) };
      }),
  );
  printTable(`Background calls in ${words.length} turns, answers of ${answerTokens.long} tokens`, rows);
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
