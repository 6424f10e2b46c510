import { z } from "zod";
import { memoryKinds, memoryStates } from "../memories/item/memory.js";

/** What is said of schemas in descriptions: their names, and what JSON they stand for. */
export const described = z.registry<Readonly<Record<string, unknown>>>();

/** A time of an answer: text in ISO 8601, once it is JSON. */
export const time = z.coerce.date().register(described, { type: "string", format: "date-time" });

/** A time of a request: text in ISO 8601. */
export const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .register(described, { type: "string", format: "date-time" });

/** The same, handed on as it is. */
export const momentText = z.string().register(described, { type: "string", format: "date-time" });

/** Any JSON object. */
export const anyObject = z
  .record(z.string(), z.unknown())
  .register(described, { type: "object", additionalProperties: true });

/** `check` of what a column of this type holds, as JSON carries it: times by `times`, JSON as any object. */
export function overJson({ type }: { readonly type: string }, check: z.ZodType, times: z.ZodType): z.ZodType {
  const carried = type === "timestamptz" ? times : type === "jsonb" ? anyObject : null;
  if (carried === null) return check;
  const orNull = check.safeParse(null).success ? carried.nullable() : carried;
  return check.safeParse(undefined).success ? orNull.optional() : orNull;
}

/** The number of a row. */
export const rowNumber = z.int().min(0);

/** Text, or null. */
export const optionalText = z.string().nullable();

/** Fields of these names, each of this `type`. */
export function each<Type extends z.ZodType, const Name extends string>(
  type: Type,
  ...names: readonly Name[]
): Record<Name, Type> {
  return Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;
}

/** Which page of a list. */
export const page = {
  limit: z.int().min(1).max(1_000).optional(),
  cursor: z.string().optional().register(described, { description: "`nextCursor` of the page before." }),
};

/** A page that begins after the row of a number: `nextCursor` is text. */
export const numberedPage = {
  limit: page.limit,
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "must be `nextCursor` of the page before")
    .transform(Number)
    .register(described, { type: "string" })
    .optional(),
};

/** The answer of a list: a page of `row`s, and where the next one begins; null when there is none. */
export function pageOf<const Name extends string, Row extends z.ZodType>(name: Name, row: Row) {
  const rows = { [name]: z.array(row) } as Record<Name, z.ZodArray<Row>>;
  return z.strictObject({ ...rows, nextCursor: optionalText });
}

/**
 * The page of a list that `listed` gives. There may be a next one where this one is full.
 *
 * @param cursorOf of a row.
 */
export async function pageFrom<const Name extends string, Row>(
  name: Name,
  limit: number | undefined,
  listed: Promise<readonly Row[]>,
  cursorOf: (row: Row) => string | number,
): Promise<Record<Name, readonly Row[]> & { readonly nextCursor: string | null }> {
  const rows = await listed;
  const last = rows.at(-1);
  const nextCursor = last !== undefined && rows.length === (limit ?? 100) ? String(cursorOf(last)) : null;
  return { ...({ [name]: rows } as Record<Name, readonly Row[]>), nextCursor };
}

/** Whose something is. */
export const scope = z
  .strictObject(each(z.string().optional(), "tenantId", "userId", "appId"))
  .register(described, { id: "Scope" });

/** What memories are. */
export const memoryKind = z.enum(memoryKinds);
/** How memories stand. */
export const memoryState = z.enum(memoryStates);

/** Counts by name. */
export const counts = z
  .record(z.string(), z.number())
  .register(described, { type: "object", additionalProperties: { type: "number" } });

/** Why something is done, for the audit trail. */
export const because = { reason: z.string().optional() };
