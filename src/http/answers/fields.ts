import { z } from "zod";
import { memoryKinds, memoryStates } from "../../memories/item/memory.js";

/** What is said of schemas in the description of the app: their names, and what JSON they stand for. */
export const described = z.registry<Readonly<Record<string, unknown>>>();

/** A time of an answer: text in ISO 8601, once it is JSON. */
export const time = z.coerce.date().register(described, { type: "string", format: "date-time" });

/** A time of a request: text in ISO 8601. */
export const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .register(described, { type: "string", format: "date-time" });

/** Any JSON object. */
export const anyObject = z
  .record(z.string(), z.unknown())
  .register(described, { type: "object", additionalProperties: true });

/** A number in a query. */
export const numberBetween = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)
    .register(described, { type: "integer", minimum: least, maximum: most });

/** A number in a path. */
export const rowNumber = numberBetween(0, Number.MAX_SAFE_INTEGER);

/** Yes or no in a query. */
export const flag = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .register(described, { type: "boolean" });

/** One or several of `item` in a query: `?kinds=fact&kinds=note`. */
export const several = <Item extends z.ZodType<string, string>>(item: Item) => {
  const list = z.union([z.array(item), item.transform((one) => [one])]);
  described.add(list, { type: "array", items: { type: "string" }, anyOf: undefined });
  return list;
};

/** Which page of a list. */
export const page = {
  limit: numberBetween(1, 1_000).optional(),
  cursor: z.string().optional().register(described, { description: "`nextCursor` of the page before." }),
};

/** Where the next page begins; null when there is none. */
export const nextCursor = z.string().nullable();

/**
 * Where the page after `rows` begins: there may be one where this one is full.
 *
 * @param cursorOf of a row.
 */
export function cursorAfter<Row>(
  rows: readonly Row[],
  limit: number | undefined,
  cursorOf: (row: Row) => string | number,
): string | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === (limit ?? 100) ? String(cursorOf(last)) : null;
}

/** Whose something is. */
export const scope = z
  .strictObject({
    tenantId: z.string().optional(),
    userId: z.string().optional(),
    appId: z.string().optional(),
  })
  .register(described, { id: "Scope" });

/** What memories are. */
export const memoryKind = z.enum(memoryKinds);
/** How memories stand. */
export const memoryState = z.enum(memoryStates);

/** Counts by name. */
export const counts = z
  .record(z.string(), z.number())
  .register(described, { type: "object", additionalProperties: { type: "number" } });
