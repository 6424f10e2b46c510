import { clipped, onOneLine } from "../text/storable-text.js";

/** What waits for the user's consent, as an agent is told of it. */
export interface PendingConsent {
  readonly id: string;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** What holds the slot now; null when nothing does. */
  readonly current: string | null;
}

/** Longest value shown. */
const mostCharacters = 160;

/** A proposal in plain words: "city: Porto (now: Rome)", or the statement where there is no slot. */
export function consentLine({ key, value, text, current }: Omit<PendingConsent, "id" | "category">): string {
  const now = current === null ? "" : ` (now: ${short(current)})`;
  return key === null ? short(text) : `${key.replaceAll("_", " ")}: ${short(value ?? text)}${now}`;
}

/**
 * One line for each proposal, with its number and the first letters of its id: either names it to the consent tool.
 * Numbers are those of one turn, ids stay.
 */
export function consentLines(consents: readonly PendingConsent[]): string[] {
  return consents.map(
    (consent, index) => `${index + 1} (${consent.id.slice(0, 8)}): ${consentLine(consent)}`,
  );
}

function short(text: string): string {
  return clipped(onOneLine(text), mostCharacters);
}
