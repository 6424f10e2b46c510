import type { MemoryEvent } from "./events/event-log.js";
import type { ConsentPolicy } from "./memories/guard/consent-policy.rule.js";
import type { Memory } from "./memory.js";
import type { Scope, ThreadAddress } from "./scope/scope.js";
import type { Screen } from "./text/reads-as-instruction.js";

interface TurnFailure extends ThreadAddress {
  readonly node: "recall" | "consent" | "remember";
  readonly error: unknown;
}

/** What nodes, middleware and tools need of a memory, and its users do not. */
export interface InternalApi {
  /** The scope of runs that name nobody; null when they are refused. */
  defaultScope(): Scope | null;
  /** Who asks the user for consent: the setting `consent.ask`. */
  consentAsk(): ConsentPolicy["ask"];
  /** Says that this process asks users in this way. What waits is reported otherwise. */
  asksConsent(way: "interrupt" | "tool"): void;
  /** How many of the last messages that a summary covers stay in a bounded state. */
  keepRecentMessages(): number;
  /** The setting `context.toolResultTokens`. */
  toolResultTokens(): number;
  /** Whether a text counts as instructions to a model when it is written. */
  screen: Screen;
  /** Keeps an event, without content; its failure is logged and goes no further. */
  emit(event: MemoryEvent): Promise<void>;
  /** Logs a failure that a turn survived, and keeps an event of it. */
  reportError(failure: TurnFailure): Promise<void>;
  /** Makes a new thread the run's before its first model call. @throws MemoryError `THREAD_FORBIDDEN`, `BUSY` */
  claim(run: ThreadAddress): Promise<void>;
}

/** Registered, so that two copies of the package understand each other's memories. */
export const internalApiKey: unique symbol = Symbol.for("mnemograph.internalApi") as never;

export interface MemoryWithInternalApi extends Memory {
  readonly [internalApiKey]: InternalApi;
}

/** The part of `memory` that is for ways in. Spreading a memory keeps it. */
export function internalApi(memory: Memory): InternalApi {
  return (memory as MemoryWithInternalApi)[internalApiKey];
}

/** What an agent outside of this process was shown by a search counts as used, as through the tool of a graph. */
export function reportSearch(
  memory: Memory,
  asked: { readonly scope: Scope; readonly agentId: string | undefined },
  hits: readonly { readonly id: string; readonly similarity?: number | undefined }[],
): Promise<void> {
  const similarities = hits.flatMap((hit) => hit.similarity ?? []);
  const similarity = similarities.length > 0 ? Math.max(...similarities) : undefined;
  const shownIds = hits.map(({ id }) => id);
  return internalApi(memory).emit({ ...asked, step: "tool", op: "search", status: "ok", similarity, shownIds });
}

export function isMemory(value: unknown): value is Memory {
  return typeof value === "object" && value !== null && internalApiKey in value;
}
