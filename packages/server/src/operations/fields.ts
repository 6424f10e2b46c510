import { memoryKinds, memoryStates } from "mnemograph/contract";
import { z } from "zod";

/** Names, descriptions and JSON schemas of types, for OpenAPI. */
export const described = z.registry<Readonly<Record<string, unknown>>>();

export function jsonSchemaOf(schema: z.ZodType, io: "input" | "output") {
  const options = { metadata: described, unrepresentable: "any", reused: "inline" } as const;
  return z.toJSONSchema(schema, { io, ...options });
}

export const text = z.string();
export const optionalText = text.optional();
export const nullableText = text.nullable();
export const texts = z.array(text);
/** Of a request: no element of a longer list is checked. */
export const maxGiven = 10_000;
export const givenTexts = texts.max(maxGiven);
export const number = z.number();
export const nullableNumber = number.nullable();
export const flag = z.boolean();

export const time = z.coerce.date().register(described, { type: "string", format: "date-time" });
export const nullableTime = time.nullable();

export const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .register(described, { type: "string", format: "date-time" });

export const momentText = z.string().register(described, { type: "string", format: "date-time" });

export const anyObject = z
  .record(text, z.unknown())
  .register(described, { type: "object", additionalProperties: true });

/** A column's type in JSON: `times` for times, any object for JSON. */
export function jsonField(
  { type }: { readonly type: string },
  check: z.ZodType,
  times: z.ZodType,
): z.ZodType {
  const jsonType = type === "timestamptz" ? times : type === "jsonb" ? anyObject : null;
  if (jsonType === null) return check;
  const orNull = check.safeParse(null).success ? jsonType.nullable() : jsonType;
  return check.safeParse(undefined).success ? orNull.optional() : orNull;
}

/** A copy of `type` with a description. */
export function withDescription<Type extends z.ZodType>(type: Type, description: string): Type {
  const copy = type.clone();
  described.add(copy, { description });
  return copy;
}

export const rowNumber = z.int().min(0);

export function each<Type extends z.ZodType, const Name extends string>(
  type: Type,
  ...names: readonly Name[]
) {
  return Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;
}

const previous = "`nextCursor` of the previous page.";

export const page = {
  limit: withDescription(z.int().min(1).max(1_000).optional(), "Rows. Default: 100."),
  after: withDescription(optionalText, previous),
};

/** Pages by row number, latest first. */
export const numberedPage = {
  limit: page.limit,
  before: withDescription(rowNumber.optional(), previous),
};

export function listOf<const Name extends string, Row extends z.ZodType>(name: Name, row: Row) {
  return z.strictObject(each(z.array(row), name));
}

export function pageOf<const Name extends string, Row extends z.ZodType>(name: Name, row: Row) {
  return listOf(name, row).extend({ nextCursor: nullableText });
}

/** A full page has a cursor, even if no row follows. */
export async function pageFrom<const Name extends string, Row>(
  name: Name,
  { limit = 100 }: { readonly limit?: number | undefined },
  listed: readonly Row[] | Promise<readonly Row[]>,
  cursorOf: (row: Row) => string | number | null,
) {
  const rows = await listed;
  const last = rows.at(-1);
  const cursor = last !== undefined && rows.length === limit ? cursorOf(last) : null;
  const nextCursor = cursor === null ? null : String(cursor);
  return { [name]: rows, nextCursor } as Record<Name, readonly Row[]> & {
    readonly nextCursor: string | null;
  };
}

export const scope = z
  .strictObject(each(optionalText, "tenantId", "userId", "appId"))
  .register(described, { id: "Scope" });

export const memoryKind = z.enum(memoryKinds);
export const memoryState = z.enum(memoryStates);

export const counts = z
  .record(text, number)
  .register(described, { type: "object", additionalProperties: { type: "number" } });

export const reasonField = { reason: optionalText };

/** The core checks the times. */
export const asOf = withDescription(
  z.union([text, z.strictObject({ validAt: optionalText, knownAt: optionalText })]),
  "A past time: what memory knew then, and was true then. ISO 8601 with an offset, or a day. Or one or both of `{ validAt, knownAt }`, in a query as JSON.",
);

/** What an answer about the past says of itself; only with `asOf`. */
export const pastAnswer = {
  asOf: z.strictObject({ validAt: nullableTime, knownAt: time }).optional(),
  complete: withDescription(flag.optional(), "Whether all that was known then can still be found."),
  missing: z
    .array(
      z.strictObject({
        reason: z.enum(["forgotten", "audit_purged"]),
        count: number.optional(),
        before: time.optional(),
        detail: text,
      }),
    )
    .optional(),
};

const byWordsHelp = "How many memories were compared by words alone: their text changed since.";
export const pastQueryAnswer = {
  ...pastAnswer,
  byWords: withDescription(number.optional(), byWordsHelp),
};
