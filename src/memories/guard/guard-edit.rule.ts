import { normalValue } from "../../text/normal-value.js";
import type { MemoryItem } from "../item/memory.js";
import { type ConsentPolicy, consentRule } from "./consent-policy.rule.js";
import type { ConsentDecided, ConsentGiven } from "./consent-request.rule.js";

/**
 * Whether an edit is allowed: text, value, category and activation of a sensitive field need
 * consent; others pass. `asks`: whether the refused edit leaves a request, not for a reworded
 * active value, nor from quarantine.
 */
export function guardEdit(
  policy: ConsentPolicy,
  { before, after }: { readonly before: MemoryItem; readonly after: MemoryItem },
  given: ConsentGiven | undefined,
): { passes: true; approval: ConsentDecided | null } | { passes: false; asks: boolean } {
  const isUnchanged = (...names: (keyof MemoryItem)[]) =>
    names.every((name) => before[name] === after[name]);
  const wasActive = before.state === "active";
  const isSame = wasActive && isUnchanged("category", "value", "text");
  const isSensitive = [before, after].some((memory) => consentRule(policy, memory) === "consent");
  if (after.state !== "active" || isSame || !isSensitive) return { passes: true, approval: null };
  if (given) return { passes: true, approval: { ...given, decision: "approve" } };
  const [was, is] = [before, after].map(({ value, text }) => normalValue(value ?? text));
  const isSameValue =
    wasActive && after.key !== null && isUnchanged("category", "key") && was === is;
  return { passes: false, asks: before.state !== "quarantined" && !isSameValue };
}
