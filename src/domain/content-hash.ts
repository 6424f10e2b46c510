import { createHash } from "node:crypto";
import { normalValue } from "./normal-value.js";

/**
 * A digest that two statements share when they differ only in case, spacing, width of characters or closing
 * punctuation.
 */
export function contentHash(text: string): string {
  const normal = normalValue(text);
  let end = normal.length;
  while (end > 0 && /[.!?。！？\s]/u.test(normal[end - 1] ?? "")) end--;
  return createHash("sha256").update(normal.slice(0, end)).digest("hex");
}
