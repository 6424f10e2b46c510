import type { MemoryKind } from "./memory.js";
import { readsAsInstruction } from "./reads-as-instruction.js";

/** The parts of a memory that agents are shown. */
export interface ShownParts {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly key?: string | null | undefined;
  readonly value?: string | null | undefined;
  readonly tags: readonly string[];
}

/** Whether any part of a memory that agents are shown reads as instructions to a model. */
export function memoryInstructs({ kind, text, key, value, tags }: ShownParts): boolean {
  const orders = kind === "procedure" || kind === "episode";
  const parts = [text, (key ?? "").replaceAll("_", " "), value ?? "", ...tags];
  return parts.some((part) => readsAsInstruction(part, { orders }));
}
