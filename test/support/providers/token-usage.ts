import type { Answer, ModelRequest } from "./provider.js";

/** Four bytes a token. */
export const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

const withoutMarks = (part: unknown): string =>
  JSON.stringify(part, (key, value) => (key === "cache_control" ? undefined : value));

/**
 * Counts the tokens of requests. What a request shares with the start of an earlier one is cached,
 * by whole parts. Real caches begin at 1,024 tokens; here the small prompts of tests count too.
 */
export function inputCounter() {
  const earlier: string[][] = [];
  return (request: ModelRequest) => {
    const parts = request.parts.map(withoutMarks);
    const cacheable = parts.slice(0, request.cacheable ?? parts.length);
    const shared = Math.max(0, ...earlier.map((other) => sharedStart(other, cacheable)));
    earlier.push(cacheable);
    const tokens = (some: string[]) => some.reduce((sum, part) => sum + tokensIn(part), 0);
    const cached = tokens(cacheable.slice(0, shared));
    return { input: tokens(parts), cached, written: tokens(cacheable) - cached };
  };
}

function sharedStart(one: readonly string[], other: readonly string[]): number {
  const difference = one.findIndex((part, at) => part !== other[at]);
  return difference === -1 ? one.length : difference;
}

export function outputOf({ reasoning, text, calls, refusal }: Omit<Answer, "usage">) {
  const thought = tokensIn(reasoning);
  const said = [text, refusal ?? "", ...calls.map(({ args }) => args)].join("");
  return { reasoning: thought, output: thought + tokensIn(said) };
}
