import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { parseInput } from "../domain/parse-input.js";
import { parseScope } from "../domain/scope.js";
import {
  countEvents,
  type EventCount,
  type EventField,
  type EventSelection,
  eventFields,
} from "../store/count-events.js";
import { listEvents, type RecordedEvent } from "../store/list-events.js";

/**
 * What happened in memory, without content: every search, write and decision, and what failed or was skipped.
 *
 * `node` is the part of the system: "context" (what a turn is told), "hotpath" (what becomes of what was said),
 * "episodic" (stretches of turns), "worker" (upkeep), "governance" (decisions). `step` says what did it within that.
 */
export interface EventsApi {
  /**
   * How many events there are by one or more fields, most frequent first: `{ op: "create", node: "hotpath", count }`.
   *
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  count(
    selection: EventSelection & { readonly by: EventField | readonly EventField[] },
  ): Promise<EventCount[]>;
  /**
   * The events themselves, latest first.
   *
   * @param selection.limit 1 to 1,000. @default 100
   * @param selection.before only those before this id: the last of the page before.
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(
    selection?: EventSelection & {
      readonly limit?: number | undefined;
      readonly before?: number | undefined;
    },
  ): Promise<RecordedEvent[]>;
}

const selectionFields = {
  scope: z.unknown().optional(),
  threadId: z.string().optional(),
  since: z.date().optional(),
  until: z.date().optional(),
  op: z.string().optional(),
  node: z.string().optional(),
  step: z.string().optional(),
  status: z.enum(["ok", "error", "skipped"]).optional(),
};
const field = z.enum(eventFields);
const countSchema = z.strictObject({
  ...selectionFields,
  by: z.union([field.transform((name) => [name]), z.array(field).min(1)]),
});
const listSchema = z.strictObject({
  ...selectionFields,
  limit: z.int().min(1).max(1_000).default(100),
  before: z.int().min(0).optional(),
});

/** The `EventsApi` on `db`. */
export function createEventsApi(db: Connection): EventsApi {
  return {
    async count(selection) {
      const { by, scope, ...rest } = parseInput(countSchema, selection, "selection of events");
      return countEvents(db, { ...rest, fields: by, scope: scopeIn(scope) });
    },
    async list(selection = {}) {
      const { scope, ...rest } = parseInput(listSchema, selection, "selection of events");
      return listEvents(db, { ...rest, scope: scopeIn(scope) });
    },
  };
}

function scopeIn(scope: unknown) {
  return scope === undefined ? undefined : parseScope(scope);
}
