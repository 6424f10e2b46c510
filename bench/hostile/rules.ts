import { consentLine } from "../../src/consents/consent-lines.rule.js";
import { episodeText } from "../../src/episodes/episode-text.rule.js";
import { changeLine } from "../../src/memories/audit/memory-change.js";
import { slotKey } from "../../src/memories/item/category.rule.js";
import {
  trimToLength,
  writingProblems,
} from "../../src/memories/write/writing-constraints.rule.js";
import { jsonIn } from "../../src/models/read-json.js";
import { procedureText } from "../../src/procedures/write-procedure.js";
import { createScreen, readsAsInstruction } from "../../src/screening/reads-as-instruction.js";
import { redactSecrets } from "../../src/screening/redact-secrets.js";
import { createRedactor } from "../../src/screening/redactor.js";
import { questionDates } from "../../src/search/question-dates.rule.js";
import { summaryText } from "../../src/summaries/make-summary.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { figuresOf } from "../../src/text/figures.js";
import { findQuote } from "../../src/text/find-quote.js";
import { contentHash, normalValue } from "../../src/text/normal-value.js";
import { escapeAttribute, escapeMarkup } from "../../src/text/prompt-text.js";
import { searchText } from "../../src/text/search-text.js";
import { sharedWords } from "../../src/text/shared-words.js";
import { isStorable } from "../../src/text/storable-text.js";
import { textPieces, withinBounds } from "../../src/text/text-pieces.js";
import { dateInputs, type HostileInput } from "./inputs.js";
import { durationInputs, searchLanguages } from "./search-languages.js";

/** A rule of one text, and what shows that it looked at it. */
export interface HostileRule {
  readonly name: string;
  readonly run: (text: string) => unknown;
  /** Whether `result` is one. @default a value that is not undefined */
  readonly isResult?: (result: unknown, text: string) => boolean;
  /** @default hostileInputs */
  readonly inputs?: readonly HostileInput[];
}

const isText = (result: unknown) => typeof result === "string";
const isTrue = (result: unknown) => typeof result === "boolean";
const isList = (result: unknown) => Array.isArray(result);
/** Refusing is an answer as well. */
const orRefused = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error.name : "refused";
  }
};
const screen = createScreen(undefined, () => {});
const redactor = createRedactor(redactSecrets);

/** Every rule that meets text of users, tools, models or files. */
export const hostileRules: readonly HostileRule[] = [
  { name: "readsAsInstruction", run: (text) => readsAsInstruction(text), isResult: isTrue },
  { name: "writingProblems", run: (text) => writingProblems("procedure", text), isResult: isList },
  {
    name: "trimToLength",
    run: (text) => trimToLength("fact", text),
    isResult: (result) => result !== undefined,
  },
  // The quote is found only at the end, after every place that looks like it.
  {
    name: "findQuote",
    run: (text) => findQuote(`${text} the end`, `${text.slice(0, 1_900)} the end`),
    isResult: (result) => result === null || isText(result),
  },
  {
    name: "contentHash",
    run: contentHash,
    isResult: (result) => /^[0-9a-f]{64}$/.test(String(result)),
  },
  { name: "estimateTokens", run: estimateTokens, isResult: (result) => Number(result) >= 0 },
  {
    name: "textPieces",
    run: (text) => textPieces([{ text }], 1_000),
    isResult: (result, text) =>
      (result as { text: string }[][]).flat().reduce((sum, part) => sum + part.text.length, 0) ===
      text.length,
  },
  {
    name: "withinBounds",
    run: (text) => withinBounds([{ text }], { inputBudgetTokens: 1_000, maxPieces: 4 }).items,
    isResult: isList,
  },
  { name: "searchText", run: (text) => searchText(text), isResult: isText },
  ...searchLanguages.map(({ language, locale }) => ({
    name: `questionDates: ${language}`,
    run: (text: string) => questionDates(text, { language, now: new Date(), timeZone: "UTC" }),
    isResult: isList,
    inputs: [...dateInputs, ...durationInputs(locale)],
  })),
  {
    name: "jsonIn",
    run: (text) => [jsonIn(text), jsonIn(`[{${text}}]`), jsonIn(`{"a": ${text}}`)],
    isResult: isList,
  },
  {
    name: "slotKey",
    run: (text) => slotKey(text),
    isResult: (result) => result === null || isText(result),
  },
  { name: "normalValue", run: normalValue, isResult: isText },
  {
    name: "sharedWords",
    run: (text) => sharedWords(text, `${text} more`),
    isResult: (result) => Number(result) >= 0,
  },
  { name: "figuresOf", run: figuresOf, isResult: isList },
  { name: "isStorable", run: isStorable, isResult: isTrue },
  {
    name: "changeLine",
    run: (text) =>
      changeLine("merged", { category: "goals", key: null, text, importance: 3, seenCount: 1 }),
    isResult: isText,
  },
  {
    name: "consentLine",
    run: (text) => consentLine({ key: "city", value: text, text, current: text }),
    isResult: isText,
  },
  {
    name: "summaryText",
    run: (text) =>
      summaryText(screen, text, 4_000).then(
        ({ text: kept }) => kept,
        ({ name }: Error) => name,
      ),
    isResult: isText,
  },
  { name: "episodeText", run: (text) => orRefused(() => episodeText(text)), isResult: isText },
  {
    name: "procedureText",
    run: (text) => orRefused(() => procedureText({ title: text, steps: [text] })),
    isResult: (result) => result === null || isText(result),
  },
  { name: "escapeMarkup", run: escapeMarkup, isResult: isText },
  { name: "escapeAttribute", run: escapeAttribute, isResult: isText },
  {
    name: "redactor",
    run: (text) => redactor.json({ text, list: [text] }),
    isResult: (result) => typeof result === "object",
  },
];
