import sql, { type Sql } from "sql-template-tag";
import { eventNodes } from "../domain/event-step.js";

/** What wrote the event `e`. Older events have it in their `node`. */
export const eventStep: Sql = sql`coalesce(e.step, e.node)`;

/** The part of the system that the event `e` belongs to, whatever its writer called it. */
export const eventPart: Sql = sql`coalesce(${JSON.stringify(eventNodes)}::jsonb ->> coalesce(e.step, e.node), e.node)`;
