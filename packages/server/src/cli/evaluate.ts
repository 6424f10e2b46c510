import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  createMemory,
  defined,
  messageOf,
  parseInput,
  parseJson,
  resolveConfig,
} from "mnemograph/contract";
import {
  type Answers,
  type Case,
  type CaseFile,
  readCases,
  recordings,
} from "../cases/case-file.js";
import { type PlayedCase, playCase } from "../cases/play-case.js";
import { answeringModel, recordAnswers } from "../cases/recorded-answers.js";
import { type MemoryFlags, readText } from "./flags.js";
import { loadModels } from "./open-memory.js";
import { aligned, counted, oneLine, print, WrongUse } from "./output.js";

export interface EvalFlags extends Pick<MemoryFlags, "model" | "embeddings" | "config" | "json"> {
  readonly answers?: string;
  readonly record?: string;
  readonly case?: string;
}

/** Plays the cases of `file`, one after the other, and prints what was found. */
export async function evaluate(file: string, flags: EvalFlags): Promise<void> {
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
  // Wrong settings end the command before a model is asked; in a case they would be one line of many.
  const settled = chosen.map((each) => {
    const config = flags.config ?? besideCases(each.config ?? read.config, dirname(file));
    requireSettings(config, flags.config === undefined ? `${file}:${each.line}: ` : "");
    return { each, config };
  });
  const player = await createPlayer(flags);
  const played: PlayedCase[] = [];
  for (const { each, config } of settled) played.push(await player.play(each, config));
  player.finish();
  report(flags, played);
}

/** Plays cases with the model that the flags name, or with answers of one. */
async function createPlayer(flags: EvalFlags) {
  if (flags.record !== undefined && flags.model === undefined)
    throw new WrongUse("--record writes the answers of a model: name it with --model.");
  const answers: Recordings = flags.answers === undefined ? new Map() : readAnswers(flags.answers);
  const written: Recordings =
    flags.record === undefined ? new Map() : recordedBefore(flags.record, flags);
  let current: Record<string, unknown[]> = {};
  let isUntaught = false;
  const { model, ...embeddings } = await loadModels(flags);
  if (model && flags.record !== undefined) recordAnswers(model, () => current);
  return {
    async play(each: Case, config: CaseFile["config"]): Promise<PlayedCase> {
      current = {};
      written.set(each.name, current);
      // A case that was not recorded lacks each answer.
      const given =
        each.answers ?? answers.get(each.name) ?? (flags.answers === undefined ? undefined : {});
      const answering = given && !model ? answeringModel(given) : undefined;
      const asked = model ?? answering?.model;
      isUntaught ||= !asked && each.threads.length > 0;
      const played = await playCase(each, (clock) =>
        createMemory({
          database: ":memory:",
          jobs: "inline",
          logger: silent,
          clock,
          ...defined({ config, model: asked }),
          ...embeddings,
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
        writeFileSync(flags.record, `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`);
    },
  };
}

/** Files that cases name are beside them. */
const besideCases = (config: CaseFile["config"], folder: string) =>
  typeof config === "string" ? resolve(folder, config) : config;

const untaught =
  "No model was given, so nothing was learned from conversations: pass --model or --answers.\n";

/** A case's error is in the table. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

function requireSettings(config: CaseFile["config"], place: string): void {
  try {
    resolveConfig(config);
  } catch (cause) {
    throw new WrongUse(`${place}${messageOf(cause)}`, { cause });
  }
}

/** By the name of their case. */
type Recordings = Map<string, Answers>;

const readAnswers = (file: string): Recordings => {
  const read = parseInput(recordings, parseJson(readText(file), file), `answers in ${file}`);
  return new Map(Object.entries(read));
};

/** Answers of other cases, which stay. Before a model is asked: what it says is to be kept. */
function recordedBefore(file: string, { case: only }: EvalFlags): Recordings {
  const before = only !== undefined && existsSync(file) ? readAnswers(file) : new Map();
  try {
    appendFileSync(file, "");
  } catch (cause) {
    throw new WrongUse(`${file} cannot be written: ${messageOf(cause)}`, { cause });
  }
  return before;
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
