import { normalValue } from "../../text/normal-value.js";
import type { MemoryItem } from "../item/memory.js";
import { type ConsentPolicy, consentRule } from "./consent-policy.rule.js";
import type { ConsentDecided, ConsentGiven } from "./consent-request.rule.js";

/** A memory as it was, and as somebody wants it. */
interface Edited {
  readonly before: MemoryItem;
  readonly after: MemoryItem;
}

/**
 * Whether an edit may stay. What changes a sensitive field needs the user's consent: its words, where they stand, or that
 * it holds at all.
 *
 * @returns `approval`: what the audit trail keeps of who agreed; null where nobody had to. `asks`: whether the user can be asked about it. Nobody asks about other words
 *   for the value that a slot has, nor about what only an operator may see yet.
 */
export function guardEdit(
  policy: ConsentPolicy,
  { before, after }: Edited,
  given: ConsentGiven | undefined,
): { passes: true; approval: ConsentDecided | null } | { passes: false; asks: boolean } {
  const wasActive = before.state === "active";
  const isSame =
    wasActive &&
    before.category === after.category &&
    before.value === after.value &&
    before.text === after.text;
  const isSensitive = [before, after].some((memory) => consentRule(policy, memory) === "consent");
  if (after.state !== "active" || isSame || !isSensitive) return { passes: true, approval: null };
  if (given) return { passes: true, approval: { ...given, decision: "approve" } };
  return {
    passes: false,
    asks: before.state !== "quarantined" && !(wasActive && isSameSlotValue(before, after)),
  };
}

function isSameSlotValue(before: MemoryItem, after: MemoryItem): boolean {
  const { key, category } = after;
  const isSlot = key !== null && key === before.key && category === before.category;
  const [was, is] = [before, after].map(({ value, text }) => normalValue(value ?? text));
  return isSlot && was === is;
}
