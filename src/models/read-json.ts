import { jsonrepair } from "jsonrepair";
import { endOfString, isDeeper } from "../text/plain-json.js";

export interface FoundJson {
  readonly value: object;
  /** Whether the end was cut off: what was whole before it is the value. */
  readonly isPartial: boolean;
}

const endOfThoughts = /^[\s\S]*(?:<\/think(?:ing)?>|\[\/THINK\])/i;
const thoughts = /^\s*(?:<think(?:ing)?>|\[THINK\])/i;
const fenceAtEnd = /`{3}\s*$/;

/**
 * The JSON in a model's answer, whatever is around it, repaired; several values become a list.
 * @param isCut whether the token limit ended the answer
 * @returns undefined if there is none, or nothing of it is whole
 */
export function jsonIn(text: string, isCut = false): FoundJson | undefined {
  const whole = parsed(text);
  if (whole) return { value: whole, isPartial: isCut };
  const answer = text.replace(endOfThoughts, "").replace(fenceAtEnd, "");
  if (thoughts.test(answer)) return undefined;
  const found = partsIn(answer, isCut).flatMap(({ json, isPartial }) => {
    const value = parsed(json) ?? repaired(json);
    return value ? [{ value, isPartial }] : [];
  });
  if (found.length > 1) {
    const values = found.map(({ value }) => value);
    return { value: values, isPartial: found.some(({ isPartial }) => isPartial) };
  }
  return found[0] ?? (isCut ? undefined : misquoted(answer));
}

function parsed(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const apostrophes = /['‘’`´]/g;

/**
 * Jsonrepair reads on from each apostrophe, again and again: cubic time, 2 s for `{n't n't …` of
 * 8,000 characters. What this allows takes at most 0.1 s.
 */
const isRepairable = (json: string): boolean =>
  json.length <= 20_000 &&
  json.length ** 2 * (json.match(apostrophes)?.length ?? 0) <= 4e9 &&
  !isDeeper(json, 100);

function repaired(json: string): object | undefined {
  if (!isRepairable(json)) return undefined;
  try {
    return parsed(jsonrepair(json));
  } catch {
    return undefined;
  }
}

const brackets = /[[\]{}]/g;

/** Quotes within quotes hide brackets. What lacks some is not repaired: it may have been cut. */
function misquoted(answer: string): FoundJson | undefined {
  const end = Math.max(answer.lastIndexOf("}"), answer.lastIndexOf("]"));
  const json = answer.slice(Math.max(0, answer.search(opening)), end + 1);
  const value = repaired(json);
  const [had = 0, has = 0] = [json, JSON.stringify(value)].map(
    (each) => each?.match(brackets)?.length,
  );
  return value && has <= had ? { value, isPartial: false } : undefined;
}

interface Part {
  readonly json: string;
  readonly isPartial: boolean;
}

/** Where JSON begins. Other brackets are prose. */
const opening = /\{|\[\s{0,9}["{\]]/;
const mostParts = 50;
const proseAtEnd = /(?<=[}\]])[^"{}[\]]*$/;

/** Brackets with what they enclose. */
function partsIn(answer: string, isCut: boolean): Part[] {
  const parts: Part[] = [];
  let rest = answer;
  while (parts.length < mostParts) {
    const start = rest.search(opening);
    if (start === -1) break;
    rest = rest.slice(start);
    const open: Bracket[] = [];
    const end = readBrackets(rest, open);
    if (open.length > 0) {
      const text = end > rest.length ? rest : rest.replace(proseAtEnd, "");
      return [...parts, ...wholeOf(text, open, { isCut, isInString: end > rest.length })];
    }
    parts.push({ json: rest.slice(0, end), isPartial: false });
    rest = rest.slice(end);
  }
  return parts;
}

interface Bracket {
  readonly closer: string;
  /** Where its last item begins. */
  from: number;
  /** After which all items before the last one are whole. */
  comma?: number;
}

const closerOf = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/** Leaves in `open` what is never closed. @returns the end; beyond the text within a string */
function readBrackets(text: string, open: Bracket[]): number {
  let at = 0;
  for (; at < text.length; at++) {
    const character = text.charAt(at);
    const closer = closerOf.get(character);
    const inner = open.at(-1);
    if (character === '"') at = endOfString(text, at);
    else if (closer !== undefined) open.push({ closer, from: at + 1 });
    else if (character === "," && inner) Object.assign(inner, { comma: at, from: at + 1 });
    else if (character === "}" || character === "]") {
      const closed = open.findLastIndex((bracket) => bracket.closer === character);
      // Brackets within it are missing.
      open.splice(Math.max(0, closed));
      if (open.length === 0) return at + 1;
    }
  }
  return at;
}

const closersOf = (open: readonly Bracket[]) =>
  open
    .map(({ closer }) => closer)
    .toReversed()
    .join("");

interface End {
  readonly isCut: boolean;
  readonly isInString: boolean;
}

/** Closes the brackets in `open`, without the item of the outermost list that was cut. */
function wholeOf(text: string, open: readonly Bracket[], end: End): Part[] {
  const list = open.findIndex(({ closer }) => closer === "]");
  const most = list === -1 ? open.length : list + 1;
  if (open.length === most && endsWhole(text, open, end))
    return [{ json: text + closersOf(open), isPartial: end.isCut }];
  const within = open.slice(0, list === -1 ? 1 : most);
  const level = within.findLastIndex(({ comma }) => comma !== undefined);
  const json = text.slice(0, within[level]?.comma) + closersOf(within.slice(0, level + 1));
  return level === -1 ? [] : [{ json, isPartial: true }];
}

/** Whether the last value is whole. If the answer was cut, a number may lack digits. */
function endsWhole(text: string, open: readonly Bracket[], { isCut, isInString }: End): boolean {
  const inner = open.at(-1);
  const last = text.slice(inner?.from).trimEnd();
  const isValue = (isCut ? /["}\]]$/ : /(?:["}\]\d]|true|false|null)$/).test(last);
  return isValue && !isInString && (inner?.closer === "]" || /^\s*"[^"]*"\s*:\s*\S/.test(last));
}
