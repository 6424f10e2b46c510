import type { ConsentRequest } from "../memories/guard/consent-request.rule.js";
import { clipped, onOneLine } from "../text/storable-text.js";

export type PendingConsent = Pick<ConsentRequest, "id" | "category" | "key" | "value" | "text" | "current">;

const mostCharacters = 160;

/** "city: Porto (now: Rome)", or the statement where there is no slot. */
export function consentLine({ key, value, text, current }: Omit<PendingConsent, "id" | "category">): string {
  const now = current === null ? "" : ` (now: ${short(current)})`;
  return key === null ? short(text) : `${key.replaceAll("_", " ")}: ${short(value ?? text)}${now}`;
}

/** With the first letters of each id, which name it to the consent tool. */
export function consentLines(consents: readonly PendingConsent[]): string[] {
  return consents.map((consent) => `${consent.id.slice(0, shortestId)}: ${consentLine(consent)}`);
}

/** With fewer letters two ids could be the same. */
export const shortestId = 8;

function short(text: string): string {
  return clipped(onOneLine(text), mostCharacters);
}
