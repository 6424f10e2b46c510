import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Answers, Case, CaseFile } from "../cases/case-file.js";
import type { CaseSettings, PlayedCase } from "../cases/play-case.js";
import { type CliCommand, withModel, withSettings } from "./flags.js";
import { aligned, counted, oneLine, print, WrongUse } from "./output.js";

interface EvalFlags {
  readonly model?: string;
  readonly embeddings?: string;
  readonly config?: string;
  readonly answers?: string;
  readonly record?: string;
  readonly case?: string;
  readonly json?: true;
}

export const evalCommand: CliCommand = {
  name: "eval",
  description:
    "test an agent's memory: play the cases of a YAML file on a database in memory, and compare what is found, shown and believed",
  examples: [
    ["eval cases.yaml", "ends with 1 if an expectation fails"],
    ["eval cases.yaml --model ./model.js --record answers.json", "asks your model once"],
    ["eval cases.yaml --answers answers.json", "then no model and no network, as in CI"],
  ],
  flags: (command) =>
    withModel(withSettings(command))
      .argument("<file>", "the cases; see docs/testing-memory.md")
      .option("--answers <file>", "answers that --record wrote, instead of a model")
      .option("--record <file>", "write the answers of --model there")
      .option("--case <name>", "only this case")
      .option("--json", "print JSON"),
  run: evaluate,
};

async function evaluate(file: string, flags: EvalFlags): Promise<void> {
  const { readCases } = await import("../cases/case-file.js");
  const read = readCases(readText(file));
  if ("problems" in read) {
    for (const { line, says } of read.problems)
      process.stderr.write(`mnemograph: ${file}:${line}: ${oneLine(says)}\n`);
    process.exitCode = 2;
    return;
  }
  const { cases } = read;
  const chosen = cases.filter(({ name }) => flags.case === undefined || name === flags.case);
  if (chosen.length === 0) {
    const names = cases.map(({ name }) => JSON.stringify(name)).join(", ");
    throw new WrongUse(`${file} has no case ${JSON.stringify(flags.case)}, but ${names}.`);
  }
  const player = await createPlayer(flags, dirname(file), read.config);
  const played: PlayedCase[] = [];
  for (const each of chosen) played.push(await player.play(each));
  player.finish();
  report(flags, played);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new WrongUse(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Plays cases with the model that the flags name, or with answers of one. */
async function createPlayer(flags: EvalFlags, folder: string, ofFile: CaseFile["config"]) {
  const [{ createMemory, resolveConfig }, { loadExport }, { playCase }, recorded] =
    await Promise.all([
      import("mnemograph/contract"),
      import("./open-memory.js"),
      import("../cases/play-case.js"),
      import("../cases/recorded-answers.js"),
    ]);
  if (flags.record !== undefined && flags.model === undefined)
    throw new WrongUse("--record writes the answers of a model: name it with --model.");
  /** The flag, else the case's, else the file's; files beside that of the cases. */
  const configOf = (each: Case) => {
    const config = each.config ?? ofFile;
    if (flags.config !== undefined) return flags.config;
    return typeof config === "string" ? resolve(folder, config) : config;
  };
  const answers = flags.answers === undefined ? {} : await readAnswers(flags.answers);
  const written: Record<string, Record<string, unknown[]>> = {};
  let current: Record<string, unknown[]> = {};
  let isUntaught = false;
  let model = flags.model && (await loadExport<BaseChatModel>(flags.model, "model"));
  if (model && flags.record !== undefined) model = recorded.recordAnswers(model, () => current);
  const embeddings =
    flags.embeddings === undefined || flags.embeddings === "local"
      ? flags.embeddings
      : await loadExport<EmbeddingsInterface>(flags.embeddings, "embeddings");
  return {
    async play(each: Case): Promise<PlayedCase> {
      current = {};
      written[each.name] = current;
      const config = configOf(each);
      // Wrong settings end the command; in a case they would be one line of many.
      resolveConfig(config);
      const given = each.answers ?? answers[each.name];
      const answering = given && !model ? recorded.answeringModel(given) : undefined;
      const asked = model || answering?.model;
      isUntaught ||= !asked && each.threads.length > 0;
      const played = await playCase(each, ({ clock }: CaseSettings) =>
        createMemory({
          database: ":memory:",
          jobs: "inline",
          logger: silent,
          clock,
          ...(config !== undefined && { config }),
          ...(asked && { model: asked }),
          ...(embeddings !== undefined && { embeddings }),
        }),
      );
      if (!answering?.lacking.size) return played;
      const tasks = [...answering.lacking].join(", ");
      const error = `there are too few answers of ${tasks}. Record them again with --model and --record.`;
      return { ...played, error };
    },
    finish() {
      if (isUntaught) process.stderr.write(untaught);
      if (flags.record !== undefined)
        writeFileSync(flags.record, `${JSON.stringify(written, null, 2)}\n`);
    },
  };
}

const untaught =
  "No model was given, so nothing was learned from conversations: pass --model or --answers.\n";

/** A case's error is in the table. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function readAnswers(file: string): Promise<Readonly<Record<string, Answers>>> {
  const [{ parseInput, parseJson }, { recordings }] = await Promise.all([
    import("mnemograph/contract"),
    import("../cases/case-file.js"),
  ]);
  return parseInput(recordings, parseJson(readText(file), file), `answers in ${file}`);
}

function report(flags: EvalFlags, cases: readonly PlayedCase[]): void {
  const all = cases.flatMap(({ expectations }) => expectations);
  const errors = cases.filter(({ error }) => error !== null).length;
  const failed = all.filter(({ ok }) => !ok).length;
  const summary = { cases: cases.length, expectations: all.length, failed, errors };
  print(flags, { summary, cases }, () => {
    const rows = [["", "case", "expected", "words", "instead"], ...cases.flatMap(rowsOf)];
    const total = `${failed} of ${counted(all.length, "expectation")} failed, in ${counted(cases.length, "case")}; ${errors} could not be played.`;
    return [...aligned(rows), total].join("\n");
  });
  if (failed > 0 || errors > 0) process.exitCode = 1;
}

const shownLines = 3;

function rowsOf({ name, line, error, expectations }: PlayedCase): string[][] {
  const rows = expectations.map(({ ok, kind, words, instead }) => {
    const there = instead.slice(0, shownLines).join(" | ") || "nothing";
    return [ok ? "ok" : "failed", name, kind, words, ok ? "" : there];
  });
  return error === null ? rows : [["error", name, `line ${line}`, "", error], ...rows];
}
