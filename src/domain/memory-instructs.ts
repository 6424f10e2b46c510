import type { MemoryKind } from "./memory.js";
import { readsAsInstruction } from "./reads-as-instruction.js";
import type { MemoryTrust } from "./trust.js";

/** The parts of a memory that agents are shown. */
export interface ShownParts {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly key?: string | null | undefined;
  readonly value?: string | null | undefined;
  readonly tags: readonly string[];
  readonly trust: MemoryTrust;
}

/** Kinds that quote or are orders by nature: steps, lessons, what was said in a stretch of turns. */
const holdOrders: ReadonlySet<MemoryKind> = new Set(["procedure", "episode", "note"]);

/**
 * Whether any part of a memory that agents are shown reads as instructions to a model. Of users' own words that is only
 * what is about prompts, secrets, tools or other users: how they want to be served is theirs to say.
 */
export function memoryInstructs({ kind, text, key, value, tags, trust }: ShownParts): boolean {
  const orders = holdOrders.has(kind) || trust === "user";
  const parts = [text, (key ?? "").replaceAll("_", " "), value ?? "", ...tags];
  return parts.some((part) => readsAsInstruction(part, { orders }));
}
