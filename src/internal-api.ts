import type { ConsentAsk } from "./consents/consent-rows.js";
import type { ConsentPolicy } from "./memories/consent/consent-policy.rule.js";
import type { ConsentRequest } from "./memories/consent/consent-request.rule.js";
import type { Memory } from "./memory.js";
import { actions, type MemoryEvent } from "./observability/events/event-log.js";
import type { RecallInput } from "./prompt/recall-request.js";
import type { Recalled } from "./prompt/recalled.js";
import type { Scope, ThreadAddress } from "./scope/scope.js";
import type { Screen } from "./screening/reads-as-instruction.js";

interface TurnFailure extends ThreadAddress {
  readonly node: "recall" | "consent" | "remember";
  readonly error: unknown;
}

/** Calls for nodes, middleware and tools, not for users. */
export interface InternalApi {
  /** The scope of runs without one; null if they are refused. */
  defaultScope(): Scope | null;
  /** Who asks the user for consent: the setting `consent.ask`. */
  consentAsk(): ConsentPolicy["ask"];
  /**
   * Registers how this process asks users for consent; without any way, waiting requests are
   * reported.
   */
  asksConsent(way: "interrupt" | "tool"): void;
  /** What the run's user is asked by an interrupt now, newest first. */
  askConsents(ask: ConsentAsk): Promise<ConsentRequest[]>;
  /** How many of the last summarized messages stay in a bounded state. */
  keepRecentMessages(): number;
  /** The setting `context.toolResultTokens`. */
  toolResultTokens(): number;
  /** Whether a text counts as instructions to a model when it is written. */
  screen: Screen;
  /** Stores an event without content; logs its own failure. */
  emit(event: MemoryEvent): Promise<void>;
  /** Logs a warning. */
  warn(message: string): void;
  /** Logs a failure that a turn survived, and stores an event of it. */
  reportError(failure: TurnFailure): Promise<void>;
  /**
   * What is always shown, for an agent that is given a task in the thread. Takes one round trip.
   * @throws MemoryError as `recall`
   */
  recallForTask(input: RecallInput): Promise<Recalled>;
  /**
   * Reserves a new thread for the run before its first model call.
   * @throws MemoryError `THREAD_FORBIDDEN`, `BUSY`
   */
  claim(run: ThreadAddress): Promise<void>;
}

/** A registered symbol, so that two copies of the package share it. */
export const internalApiKey: unique symbol = Symbol.for("mnemograph.internalApi") as never;

export interface MemoryWithInternalApi extends Memory {
  readonly [internalApiKey]: InternalApi;
}

/** The internal part of `memory`. Spreading a memory keeps it. */
export const internalApi = (memory: Memory): InternalApi =>
  (memory as MemoryWithInternalApi)[internalApiKey];

/** Counts the hits shown to an agent outside of this process as used, as a graph's tool does. */
export function reportSearch(
  memory: Memory,
  searcher: { readonly scope: Scope; readonly agentId: string | undefined },
  hits: readonly { readonly id: string; readonly similarity?: number | undefined }[],
): Promise<void> {
  const similarities = hits.flatMap((hit) => hit.similarity ?? []);
  const similarity = similarities.length > 0 ? Math.max(...similarities) : undefined;
  const shownIds = hits.map(({ id }) => id);
  return internalApi(memory).emit({
    ...searcher,
    ...actions.query,
    status: "ok",
    similarity,
    shownIds,
  });
}

export function isMemory(value: unknown): value is Memory {
  return typeof value === "object" && value !== null && internalApiKey in value;
}
