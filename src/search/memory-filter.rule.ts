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

/** A day, or a time without an offset, is the user's. */
function momentOf(value: string | Date, timeZone: string): Date {
  if (value instanceof Date || /(?:Z|[+-]\d\d:\d\d)$/.test(value)) return new Date(value);
  return startOfDay(Date.parse(value.includes("T") ? `${value}Z` : value), zoneClock(timeZone));
}

/** Asks for memories of at least this trust. */
export const minTrustField = z.enum(memoryTrusts).nullish();

/** As `fits_filters_1` reads it. */
export interface StoreFilter extends Omit<z.output<typeof memoryFilterSchema>, "user_id"> {
  /** Null: any. */
  readonly trusts: readonly MemoryTrust[] | null;
}

export const noFilter: StoreFilter = { trusts: null };

/** `filter` with memories of at least this trust. @param least null: of any */
export function withTrust(filter: StoreFilter, least: MemoryTrust | null | undefined): StoreFilter {
  return { ...filter, trusts: least ? trustsFrom(least) : null };
}

/**
 * @throws MemoryError `INVALID_INPUT` also for unknown keys, which would otherwise widen a search
 */
export function parseFilter(filter: unknown, scope: Scope, timeZone: string): StoreFilter {
  const {
    user_id: userId,
    updated_after: after,
    updated_before: before,
    ...others
  } = parseInput(memoryFilterSchema, filter ?? {}, "filters");
  if ((userId ?? scope.userId) !== scope.userId)
    throw new MemoryError(
      "INVALID_INPUT",
      "Invalid filters: `user_id` names another user than the scope whose memories are searched. Omit it: the scope already selects the user.",
    );
  return {
    ...noFilter,
    ...others,
    updated_after: after && momentOf(after, timeZone),
    updated_before: before && momentOf(before, timeZone),
  };
}
