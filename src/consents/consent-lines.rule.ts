import type { ConsentRequest } from "../memories/consent/consent-request.rule.js";
import { clipped, onOneLine } from "../text/storable-text.js";

export type PendingConsent = Pick<
  ConsentRequest,
  "id" | "category" | "key" | "value" | "text" | "current"
>;

const maxLineCharacters = 160;

/** "city: Porto (now: Rome)"; without a key, the statement. */
export function consentLine({
  key,
  value,
  text,
  current,
}: Omit<PendingConsent, "id" | "category">): string {
  if (key === null) return short(text);
  const now = current === null ? "" : ` (now: ${short(current)})`;
  return `${key.replaceAll("_", " ")}: ${short(value ?? text)}${now}`;
}

/** Each line starts with the id prefix that the consent tool accepts. */
export function consentLines(consents: readonly PendingConsent[]): string[] {
  return consents.map(
    (consent) => `${consent.id.slice(0, minIdCharacters)}: ${consentLine(consent)}`,
  );
}

/** Characters of an id prefix: shorter ones may collide. */
export const minIdCharacters = 8;

function short(text: string): string {
  return clipped(onOneLine(text), maxLineCharacters);
}
