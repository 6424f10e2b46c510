import { type ConsentPolicy, consentRule } from "../domain/consent-policy.js";
import type { MemoryDraft, MemoryItem } from "../domain/memory.js";
import { normalValue } from "../domain/normal-value.js";
import { MemoryError } from "../errors.js";
import type { ChangeInput } from "./edit-memory.js";
import { requireMemory } from "./require-memory.js";
import { type WriteDeps, writeMemories } from "./write-memories.js";

/** A memory as it was, and as somebody wants it. */
interface Edited {
  readonly before: MemoryItem;
  readonly after: MemoryItem;
}

/** Whether an edit changes a sensitive field: its words, where they stand, or that it holds at all. */
export function changesSensitiveField(policy: ConsentPolicy, { before, after }: Edited): boolean {
  if (after.state !== "active") return false;
  const same =
    before.state === "active" &&
    before.category === after.category &&
    before.value === after.value &&
    before.text === after.text;
  return !same && [before, after].some((memory) => consentRule(policy, memory) === "consent");
}

/**
 * Proposes an edit that may not be made without consent, as a memory of its own.
 *
 * @returns the error that tells who wanted to make it: `CONSENT_REQUIRED`, with the request where there is one now.
 * @throws MemoryError `NOT_FOUND` when the memory was forgotten meanwhile.
 */
export async function proposeEdit(
  deps: WriteDeps,
  input: ChangeInput,
  { before, after }: Edited,
): Promise<MemoryError> {
  const drafts = isAskable(before, after) ? [draftOf(after)] : [];
  const origin = { actor: input.actor, step: "api" } as const;
  const [outcome] = await writeMemories(deps, {
    ...{ scope: after.scope, drafts, origin },
    // A memory that was forgotten meanwhile is not proposed either.
    alongside: async (tx) => void (await requireMemory(tx, { scope: input.scope, id: input.id })),
  });
  const { category, key } = after;
  const field = key === null ? category : `${category}/${key}`;
  const waits =
    outcome?.outcome === "proposed"
      ? `It waits as request ${outcome.consentId}: decide it with memory.consents.decide, or pass`
      : "Pass";
  return new MemoryError(
    "CONSENT_REQUIRED",
    `${field} changes only with the user's consent. ${waits} \`consent: "given"\` when the user agreed.`,
  );
}

/**
 * Whether the user can be asked about an edit: not about other words for the value that a slot has, and not about what
 * nobody but an operator may see yet.
 */
function isAskable(before: MemoryItem, after: MemoryItem): boolean {
  if (before.state === "quarantined") return false;
  return before.state !== "active" || !isSameSlotValue(before, after);
}

function isSameSlotValue(before: MemoryItem, after: MemoryItem): boolean {
  const [one, other] = [before, after].map(({ category, key, value, text }) =>
    JSON.stringify([category, key, normalValue(value ?? text)]),
  );
  return after.key !== null && one === other;
}

function draftOf(memory: MemoryItem): MemoryDraft {
  const { text, kind, category, importance, confidence, pinned, tags, origin } = memory;
  return {
    ...{ text, kind, category, importance, confidence, pinned, tags, origin },
    key: memory.key ?? undefined,
    value: memory.value ?? undefined,
    agentId: memory.agentId ?? undefined,
    runId: memory.runId ?? undefined,
    actorId: memory.actorId ?? undefined,
    role: memory.role ?? undefined,
    source: memory.source ?? undefined,
    turns: memory.turns ?? undefined,
  };
}
