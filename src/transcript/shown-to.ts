import sql from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { requiredScope, type Scope } from "../scope/scope.js";
import {
  type ScopeRow,
  scopeColumns,
  uuidOf,
  withinScope,
  withScope,
} from "../scope/scope-predicates.js";
import type { ShownPart } from "./shown-turns.js";

/** A turn whose prompt a memory came into; it stays there until the epoch ends. */
export interface ShownTo {
  readonly scope: Scope;
  readonly threadId: string;
  readonly turn: number;
  readonly seq: number;
  readonly at: Date;
  readonly part: ShownPart;
  /** Null if it was shown without a search. */
  readonly score: number | null;
  /** The beginning of the message that the turn answered, at most 200 characters. */
  readonly question: string;
}

const shownToSchema = z.strictObject({
  scope: requiredScope,
  memoryId: z.string(),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
});

export interface ListShownTo extends z.input<typeof shownToSchema> {}

/** Only the latest conversations are read: an app may have millions. */
const maxThreads = 2_000;
const questionCharacters = 200;

/** Latest first, in the scope's conversations. @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` */
export async function listShownTo(db: Connection, input: ListShownTo): Promise<ShownTo[]> {
  const { scope, memoryId, limit } = parseInput(shownToSchema, input, "list of turns");
  const id = uuidOf(memoryId);
  const rows = await db.query<ScopeRow & Omit<ShownTo, "scope">>(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id as "threadId", s.turn, s.seq, s.created_at as at,
      s.parts[array_position(s.memory_ids, ${id}::uuid)] as part,
      s.scores[array_position(s.memory_ids, ${id}::uuid)]::float8 as score,
      left(g.content, ${questionCharacters}) as question
    from (
      select t.id, t.tenant_id, t.user_id, t.app_id, t.thread_id from ${db.schema}.thread t
      where ${withinScope(scopeColumns(scope), "t")} order by t.last_activity_at desc limit ${maxThreads}
    ) t
    join ${db.schema}.shown s on s.thread_ref = t.id and s.memory_ids @> array[${id}::uuid]
    join ${db.schema}.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
    order by s.created_at desc, s.seq desc limit ${limit}`);
  return rows.map(withScope);
}
