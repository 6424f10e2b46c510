import { MemoryError } from "../errors.js";

/**
 * The part of the system an event belongs to. "context": what a turn is told; "hotpath": what becomes of what was
 * said; "episodic": stretches of turns; "worker": upkeep that no turn asked for; "governance": decisions of people.
 */
export type EventNode = "context" | "hotpath" | "episodic" | "worker" | "governance";

/** What wrote an event, and the part of the system it belongs to. */
export const eventNodes = {
  recall: "context",
  tool: "context",
  remember: "hotpath",
  extract: "hotpath",
  api: "hotpath",
  compress: "episodic",
  summarize: "worker",
  procedure: "worker",
  lifecycle: "worker",
  consent: "governance",
  quarantine: "governance",
  forget: "governance",
  import: "governance",
} as const satisfies Record<string, EventNode>;

/** What wrote an event. */
export type EventStep = keyof typeof eventNodes;

/** The part of the system that `step` belongs to. @throws MemoryError `INVALID_INPUT` for a step that there is not. */
export function eventNode(step: EventStep): EventNode {
  if (Object.hasOwn(eventNodes, step)) return eventNodes[step];
  throw new MemoryError(
    "INVALID_INPUT",
    `There is no step "${step}": ${Object.keys(eventNodes).join(", ")}.`,
  );
}
