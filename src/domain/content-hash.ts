import { createHash } from "node:crypto";

/**
 * A digest that two statements share when they differ only in case, spacing, width of characters or closing
 * punctuation.
 */
export function contentHash(text: string): string {
  const normal = text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
  let end = normal.length;
  while (end > 0 && /[.!?。！？\s]/u.test(normal[end - 1] ?? "")) end--;
  return createHash("sha256").update(normal.slice(0, end)).digest("hex");
}
