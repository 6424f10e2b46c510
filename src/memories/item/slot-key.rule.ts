import { normalForm } from "../../text/normal-value.js";
import { headOf } from "../../text/storable-text.js";

/** Above the longest key (200), so that validation still rejects a longer one. */
const mostCharacters = 1_000;

/** `key` in lower snake case. Null when empty. */
export function slotKey(key: string): string | null {
  const snake = normalForm(headOf(key, mostCharacters), "NFKC")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");
  return snake === "" ? null : snake;
}
