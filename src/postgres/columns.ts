import sql, { join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { isoTimeMs } from "../clock.js";

declare const isTime: unique symbol;

/** A time column: a `Date` when read, ISO 8601 text in JSON. */
export interface Time {
  readonly [isTime]: true;
}

export interface Column<out Value> {
  readonly name: string;
  readonly type: string;
  readonly json: z.ZodType;
  readonly holds?: Value;
}

export type Columns = Readonly<Record<string, Column<unknown>>>;

export type RowOf<Of extends Columns, Times = string> = {
  readonly [Field in keyof Of]: Of[Field] extends Column<infer Value>
    ? Stored<Value, Times>
    : never;
};

type Stored<Value, Times> = Value extends Time ? Times : Value;

export type Instead<Of extends Columns> = { readonly [Field in keyof Of]?: Sql };

const columnOf =
  <Default>(type: string, check: z.ZodType) =>
  <Value extends Default = Default>(name: string, json?: z.ZodType<Value>): Column<Value> => {
    return { name, type, json: json ?? check };
  };

const isoTime = z
  .string()
  .refine((text) => isoTimeMs(text) !== null, "must be a time in ISO 8601, of an existing day");

export const column = {
  uuid: columnOf<string>("uuid", z.uuid().toLowerCase()),
  uuids: columnOf<readonly string[]>("uuid[]", z.array(z.uuid().toLowerCase())),
  text: columnOf<string>("text", z.string()),
  texts: columnOf<readonly string[]>("text[]", z.array(z.string())),
  integer: columnOf<number>("integer", z.int().min(0)),
  integers: columnOf<readonly number[]>("integer[]", z.array(z.int().min(0))),
  smallints: columnOf<readonly (number | null)[]>("smallint[]", z.array(z.int().nullable())),
  bigint: columnOf<number>("bigint", z.int().min(0)),
  real: columnOf<number>("real", z.number()),
  reals: columnOf<readonly (number | null)[]>("real[]", z.array(z.number().nullable())),
  double: columnOf<number>("float8", z.number()),
  boolean: columnOf<boolean>("boolean", z.boolean()),
  time: columnOf<Time>("timestamptz", isoTime),
  json: columnOf<unknown>("jsonb", z.unknown()),
};

export const orNull = <Value>({ name, type, json }: Column<Value>): Column<Value | null> => ({
  name,
  type,
  json: json.nullable(),
});

export function only<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Pick<Of, Field> {
  return Object.fromEntries(fields.map((field) => [field, columns[field]])) as Pick<Of, Field>;
}

export function without<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Omit<Of, Field> {
  const kept = Object.keys(columns).filter(
    (field) => !(fields as readonly string[]).includes(field),
  );
  return only(columns, ...kept) as Omit<Of, Field>;
}

export const checks = (columns: Columns): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(columns).map(([field, { json }]) => [field, json]));

export const names = (columns: Columns): Sql => eachColumn(columns, (_, { name }) => raw(name));

/** For `json_to_recordset`: `"id" uuid, "validFrom" timestamptz`. */
export const recordset = (columns: Columns): Sql =>
  eachColumn(columns, (field, { type }) => raw(`"${field}" ${type}`));

export const fields = <Of extends Columns>(columns: Of, instead: Instead<Of> = {}): Sql =>
  eachColumn(columns, (field) => instead[field] ?? raw(`i."${field}"`));

export const values = <Of extends Columns>(
  columns: Of,
  row: string,
  instead: Instead<Of> = {},
): Sql => eachColumn(columns, (field, { name }) => instead[field] ?? raw(`${row}.${name}`));

export const selected = (columns: Columns, row: string): Sql =>
  eachColumn(columns, (field, { name }) => raw(`${row}.${name} as "${field}"`));

export const assignments = <Of extends Columns>(columns: Of, row: RowOf<Of>): Sql =>
  eachColumn(columns, (field, { name, type }) => sql`${raw(name)} = ${row[field]}::${raw(type)}`);

/** For `json_build_object`: `'id', x.id, 'validFrom', x.valid_from`; 50 at most. */
export function pairs<Of extends Columns>(
  columns: Of,
  row: string,
  instead: Instead<Of> = {},
): Sql {
  return eachColumn(
    columns,
    (field, { name }) => sql`${raw(`'${field}'`)}, ${instead[field] ?? raw(`${row}.${name}`)}`,
  );
}

/** The table's `row` as a JSON array for `readRow`, of at most 100 columns. */
export function jsonRow<Of extends Columns>(
  columns: Of,
  row: string,
  instead: Instead<Of> = {},
): Sql {
  const elements = eachColumn(columns, (field, { name, type }) => {
    const value = instead[field] ?? raw(`${row}.${name}`);
    // The text of a time takes ten times as long to write, send and read as milliseconds.
    const isTime = type === "timestamptz" && !instead[field];
    return isTime ? sql`date_part('epoch', ${value}) * 1000` : value;
  });
  return sql`json_build_array(${elements})`;
}

const shapes = new WeakMap<Columns, ReturnType<typeof makeShape>>();

function makeShape(columns: Columns, more: object) {
  const fields = Object.keys(columns);
  const all = [...fields, ...Object.keys(more)];
  const shape = {
    fields,
    areTimes: fields.map((field) => columns[field]?.type === "timestamptz"),
    // JSON.parse makes a fast object, which copies in a fifth of the time; a dozen additions make a
    // slow map.
    empty: JSON.parse(
      JSON.stringify(Object.fromEntries(all.map((field) => [field, null]))),
    ) as object,
  };
  shapes.set(columns, shape);
  return shape;
}

/** Reads a row of `jsonRow`. `more` must have the same fields at each call. */
export function readRow<Of extends Columns, More extends object = object>(
  columns: Of,
  values: readonly unknown[],
  more = {} as More,
): RowOf<Of, Date> & More {
  const { fields, areTimes, empty } = shapes.get(columns) ?? makeShape(columns, more);
  const row: Record<string, unknown> = { ...empty };
  for (let place = 0; place < fields.length; place++) {
    const value = values[place];
    row[fields[place] as string] =
      areTimes[place] && value !== null ? new Date(value as number) : value;
  }
  return Object.assign(row, more) as RowOf<Of, Date> & More;
}

function eachColumn(columns: Columns, each: (field: string, column: Column<unknown>) => Sql): Sql {
  const items = Object.entries(columns).map(([field, column]) => each(field, column));
  return join(items, ", ");
}
