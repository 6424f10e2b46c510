import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { pageRows, parseInput, storableDate, storableText } from "../domain/parse-input.js";
import { parseScopeIn, scopeField } from "../domain/scope.js";
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
  scope: scopeField,
  threadId: storableText.optional(),
  agentId: storableText.optional(),
  runId: storableText.optional(),
  since: storableDate.optional(),
  until: storableDate.optional(),
  op: storableText.optional(),
  node: storableText.optional(),
  step: storableText.optional(),
  status: z.enum(["ok", "error", "skipped"]).optional(),
};
const field = z.enum(eventFields);
const countSchema = z.strictObject({
  ...selectionFields,
  by: z.union([field.transform((name) => [name]), z.array(field).min(1)]),
});
const listSchema = z.strictObject({
  ...selectionFields,
  limit: pageRows,
  before: z.int().min(0).optional(),
});

/** The `EventsApi` on `db`. */
export function createEventsApi(db: Connection): EventsApi {
  return {
    async count(selection) {
      const { by, scope: _, ...rest } = parseInput(countSchema, selection, "selection of events");
      const within = parseScopeIn(selection);
      return countEvents(db, { ...rest, fields: by, ...(within && { scope: within }) });
    },
    async list(selection = {}) {
      const { scope: _, ...rest } = parseInput(listSchema, selection, "selection of events");
      const within = parseScopeIn(selection);
      return listEvents(db, { ...rest, ...(within && { scope: within }) });
    },
  };
}
