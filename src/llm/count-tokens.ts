import { createRequire } from "node:module";
import type { Tiktoken } from "js-tiktoken/lite";

let encoder: Tiktoken | undefined;

/**
 * Tokens of `text` in OpenAI's o200k encoding; other models' counts are within about a fifth of it.
 *
 * @param enough a count whose excess need not be exact: texts that cannot reach it are only estimated, from
 *   above, since one token is at least one byte.
 */
export function countTokens(text: string, enough = 0): number {
  const bytes = Buffer.byteLength(text);
  // Loading the encoding takes a third of a second; most memories are so short that it is not needed.
  if (bytes <= enough / 8) return Math.ceil(bytes / 3);
  encoder ??= loadEncoder();
  return encoder.encode(text, [], []).length;
}

function loadEncoder(): Tiktoken {
  const require = createRequire(import.meta.url);
  const { Tiktoken: Encoder } = require("js-tiktoken/lite") as typeof import("js-tiktoken/lite");
  const ranks = require("js-tiktoken/ranks/o200k_base") as typeof import("js-tiktoken/ranks/o200k_base");
  return new Encoder(ranks.default ?? ranks);
}
