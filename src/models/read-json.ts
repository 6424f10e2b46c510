import { jsonrepair } from "jsonrepair";
import { attempt, isDeeper } from "../input/plain-json.js";

const endOfThoughts = /^[\s\S]*(?:<\/think(?:ing)?>|\[\/THINK\])/i;
const thoughts = /^\s*(?:<think(?:ing)?>|\[THINK\])/i;
/** A fence, or prose after the last bracket. */
const afterJson = /`{3}\s*$|(?<=[}\]])[^"{}[\]]*$/;
/** Where JSON begins. Other brackets are prose. */
const opening = /\{|\[\s{0,9}["{\]]/g;
const maxOpenings = 1_000;
const maxNesting = 100;

/**
 * The JSON in a model's answer, whatever is around it, repaired.
 * @param isCut whether the token limit ended the answer: what is whole in it counts
 * @returns undefined if nothing is whole, or if there are several
 */
export function jsonIn(text: string, isCut = false): object | undefined {
  const whole = parsed(text);
  if (whole) return whole;
  const answer = text.replace(endOfThoughts, "").replace(afterJson, "");
  if (thoughts.test(answer) || isDeeper(answer, maxNesting)) return undefined;
  const found: object[] = [];
  let end = 0;
  for (const { index } of [...answer.matchAll(opening)].slice(0, maxOpenings)) {
    if (index < end) continue;
    const part = partFrom(answer.slice(index), isCut);
    end = index + part.end;
    const value = parsed(part.json) ?? repaired(part.json);
    if (value) found.push(value);
  }
  return found.length === 1 ? found[0] : undefined;
}

/** Strings and what structures JSON. A string that is not closed lacks its last quote. */
const tokens = /"[^"\\]*(?:\\[\s\S][^"\\]*)*("?)|[{}[\],]/g;
const closers: Record<string, string> = { "{": "}", "[": "]" };
const lastValue = /(?:["}\]\d]|true|false|null)\s*$/;

/** From a bracket to the one that closes it; without one, up to where all is whole. */
function partFrom(text: string, isCut: boolean): { json: string; end: number } {
  const open: string[] = [];
  let whole = 0;
  let isInString = false;
  for (const { 0: token, 1: quote, index } of text.matchAll(tokens)) {
    isInString = quote === "";
    const closer = closers[token];
    if (closer) open.push(closer);
    if (closer || quote !== undefined) continue;
    // Brackets within may be missing.
    if (token !== ",") open.splice(Math.max(0, open.lastIndexOf(token)));
    if (open.length === 0) return { json: text.slice(0, index + 1), end: index + 1 };
    // Of the outermost list only whole items count.
    if (!open.slice(0, -1).includes("]")) whole = index;
  }
  const most = isInString || !lastValue.test(text) ? 0 : text.length;
  return { json: text.slice(0, isCut ? whole : most), end: text.length };
}

function parsed(json: string): object | undefined {
  const value = attempt((): unknown => JSON.parse(json));
  // JSON in JSON.
  if (typeof value === "string") return parsed(value);
  return typeof value === "object" && value !== null ? value : undefined;
}

const apostrophes = /['‘’`´]/g;

/**
 * Jsonrepair reads on from each apostrophe, again and again: cubic time, 2 s for `{n't n't …` of
 * 8,000 characters. What this allows takes at most 0.1 s.
 */
const isRepairable = (json: string): boolean =>
  json.length <= 20_000 && json.length ** 2 * (json.match(apostrophes)?.length ?? 0) <= 4e9;

/** Closes brackets as well. */
function repaired(json: string): object | undefined {
  return isRepairable(json) ? attempt(() => parsed(jsonrepair(json))) : undefined;
}
