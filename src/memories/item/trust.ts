/** Whose words a memory is made of. "operator": a person in charge; "worker": background work on mixed material. */
export const memoryOrigins = [
  "user",
  "assistant",
  "tool",
  "document",
  "worker",
  "operator",
  "import",
  "unknown",
] as const;

/** Whose words a memory is made of. */
export type MemoryOrigin = (typeof memoryOrigins)[number];

/**
 * How far a memory's words may be relied on: an operator vouches for them, the user said them, an agent wrote them
 * down, or nobody knows what stands in them.
 */
export type MemoryTrust = "operator" | "user" | "agent" | "untrusted";

const trustByOrigin: Readonly<Record<MemoryOrigin, MemoryTrust>> = {
  operator: "operator",
  user: "user",
  assistant: "agent",
  worker: "agent",
  tool: "untrusted",
  document: "untrusted",
  import: "untrusted",
  unknown: "untrusted",
};

/** The trust that words of `origin` begin with. */
export function trustOf(origin: MemoryOrigin): MemoryTrust {
  return trustByOrigin[origin];
}

const sources: Readonly<Record<Exclude<MemoryOrigin, "unknown">, string>> = {
  tool: "from a tool",
  document: "from a document",
  import: "imported",
  user: "imported",
  assistant: "imported",
  worker: "imported",
  operator: "imported",
};

/**
 * What is said of a memory that nobody vouches for, wherever a model is shown it; null for the others. What a program
 * adds without an origin is that program's own word.
 */
export function unverified(memory: {
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
}): string | null {
  if (memory.trust !== "untrusted" || memory.origin === "unknown") return null;
  return `unverified, ${sources[memory.origin]}`;
}

/** The origin of a memory whose writer named none: that of the message role it was learned from, if there is one. */
export function originOfRole(role: string | null | undefined): MemoryOrigin {
  return role === "user" || role === "assistant" || role === "tool" ? role : "unknown";
}
