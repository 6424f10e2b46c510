import type { EventPlace } from "../../events/event-log.js";
import type { MemoryItem, Provenance } from "../item/memory.js";
import { type ChangeEvent, changeLine } from "./change-line.js";

export const historyEvents = [
  "ADD",
  "UPDATE",
  "DELETE",
  "MERGE",
  "LINK",
  "TTL",
  "RESTORE",
  "CONSENT",
] as const;

export type HistoryEvent = (typeof historyEvents)[number];

/** A change for the audit trail and the events; with a delta, for agents too. */
export interface MemoryChange extends EventPlace {
  readonly memoryId: string;
  readonly event: HistoryEvent;
  readonly old?: unknown;
  readonly new: unknown;
  /** The line of the delta header. @default agents do not see the change */
  readonly delta?: {
    readonly event: ChangeEvent;
    readonly line: string;
    readonly importance: number;
  } | null;
  readonly category: string;
  readonly similarity?: number | null;
}

/** What is recorded of one side of a change, and what agents see of it. */
interface Recorded extends Pick<MemoryChange, "old" | "new" | "similarity"> {
  /** What agents see. @default nothing */
  readonly as?: ChangeEvent | null;
}

/** The change `event` of `memory`. The line for agents has the text and ratings of `memory`. */
export function changeOf(
  memory: Pick<MemoryItem, "id" | "category" | "text" | "importance"> &
    Partial<Pick<MemoryItem, "seenCount"> & Provenance> & {
      readonly key?: string | null | undefined;
    },
  event: HistoryEvent,
  { as, ...recorded }: Recorded,
): MemoryChange {
  const { id: memoryId, category, importance, seenCount = 1 } = memory;
  const change = { memoryId, event, category, ...recorded };
  if (!as) return change;
  return {
    ...change,
    delta: { event: as, line: changeLine(as, { ...memory, seenCount }), importance },
  };
}
