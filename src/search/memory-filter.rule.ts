import { z } from "zod";
import { MemoryError } from "../errors.js";
import { dateOrMoment, parseInput, storableText } from "../input/parse-input.js";
import { type MemoryTrust, memoryTrusts, trustsFrom } from "../memories/item/memory.js";
import { metadataFilter } from "../memories/item/memory-metadata.rule.js";
import type { Scope } from "../scope/scope.js";
import { startOfDay, zoneClock } from "../text/time-zone.js";

const optionalText = storableText.nullish();

export const memoryFilterSchema = z.strictObject({
  /** May name the scope's own user, no other. */
  user_id: optionalText,
  agent_id: optionalText,
  run_id: optionalText,
  actor_id: optionalText,
  role: optionalText,
  category: optionalText,
  pinned: z.boolean().nullish(),
  importance_min: z.number().min(1).max(5).nullish(),
  importance_max: z.number().min(1).max(5).nullish(),
  updated_after: dateOrMoment.nullish(),
  updated_before: dateOrMoment.nullish(),
  /** What metadata must contain: `{ source: "crm" }` finds every memory with that entry. */
  metadata: metadataFilter.nullish(),
});

/** Unset fields filter nothing. */
export type MemoryFilter = z.input<typeof memoryFilterSchema>;

function storeFilter(data: z.output<typeof memoryFilterSchema>, timeZone: string) {
  return {
    agentId: data.agent_id,
    runId: data.run_id,
    actorId: data.actor_id,
    role: data.role,
    category: data.category ?? null,
    pinned: data.pinned,
    importanceMin: data.importance_min,
    importanceMax: data.importance_max,
    updatedAfter: data.updated_after && momentOf(data.updated_after, timeZone),
    updatedBefore: data.updated_before && momentOf(data.updated_before, timeZone),
    metadata: data.metadata,
    trusts: null as readonly MemoryTrust[] | null,
  };
}

/** A day, or a time without an offset, is the user's. */
function momentOf(value: string | Date, timeZone: string): Date {
  if (value instanceof Date || /(?:Z|[+-]\d\d:\d\d)$/.test(value)) return new Date(value);
  return startOfDay(Date.parse(value.includes("T") ? `${value}Z` : value), zoneClock(timeZone));
}

/** Asks for memories of at least this trust. */
export const minTrustField = z.enum(memoryTrusts).nullish();

export type StoreFilter = Readonly<ReturnType<typeof storeFilter>>;

export const noFilter: StoreFilter = storeFilter({}, "UTC");

/** `filter` with memories of at least this trust. @param least null: of any */
export function withTrust(filter: StoreFilter, least: MemoryTrust | null | undefined): StoreFilter {
  return { ...filter, trusts: least ? trustsFrom(least) : null };
}

/**
 * @throws MemoryError `INVALID_INPUT` also for unknown keys, which would otherwise widen a search
 */
export function parseFilter(filter: unknown, scope: Scope, timeZone: string): StoreFilter {
  const data = parseInput(memoryFilterSchema, filter ?? {}, "filters");
  if ((data.user_id ?? scope.userId) === scope.userId) return storeFilter(data, timeZone);
  throw new MemoryError(
    "INVALID_INPUT",
    "Invalid filters: `user_id` names another user than the scope whose memories are searched. Omit it: the scope already selects the user.",
  );
}
