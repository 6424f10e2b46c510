import sql, { join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { isoTimeMs } from "../clock.js";

declare const isTime: unique symbol;

/** What a column of times holds: text in ISO 8601 where it is written as JSON, a `Date` where it is read. */
export interface Time {
  readonly [isTime]: true;
}

/** A column: its name, its type in PostgreSQL, what it holds in TypeScript, and the check of that as JSON. */
export interface Column<out Value> {
  readonly name: string;
  readonly type: string;
  readonly json: z.ZodType;
  /** Never set: the compiler alone reads it. */
  readonly holds?: Value;
}

/** The columns of a table, each by the field that holds it. Lists of SQL are made of them, in their order. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row of `Of` as an object. */
export type RowOf<Of extends Columns, Times = string> = {
  readonly [Field in keyof Of]: Of[Field] extends Column<infer Value> ? Stored<Value, Times> : never;
};

type Stored<Value, Times> = Value extends Time ? Times : Value;

/** SQL in place of a column, by field. */
export type Instead<Of extends Columns> = { readonly [Field in keyof Of]?: Sql };

const columnOf =
  <Default>(type: string, check: z.ZodType) =>
  <Value extends Default = Default>(name: string, json?: z.ZodType<Value>): Column<Value> => {
    return { name, type, json: json ?? check };
  };

const time = z
  .string()
  .refine((text) => isoTimeMs(text) !== null, "must be a time in ISO 8601, of an existing day");

/** Columns by their name, and the check of what they hold where that is less: `text("kind", z.enum(memoryKinds))`. */
export const column = {
  uuid: columnOf<string>("uuid", z.uuid().toLowerCase()),
  text: columnOf<string>("text", z.string()),
  texts: columnOf<readonly string[]>("text[]", z.array(z.string())),
  integer: columnOf<number>("integer", z.int().min(0)),
  integers: columnOf<readonly number[]>("integer[]", z.array(z.int().min(0))),
  bigint: columnOf<number>("bigint", z.int().min(0)),
  real: columnOf<number>("real", z.number()),
  double: columnOf<number>("float8", z.number()),
  boolean: columnOf<boolean>("boolean", z.boolean()),
  time: columnOf<Time>("timestamptz", time),
  json: columnOf<unknown>("jsonb", z.unknown()),
};

/** The same column, which may be null. */
export function orNull<Value>({ name, type, json }: Column<Value>): Column<Value | null> {
  return { name, type, json: json.nullable() };
}

/** The columns of `fields`. */
export function only<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Pick<Of, Field> {
  return Object.fromEntries(fields.map((field) => [field, columns[field]])) as Pick<Of, Field>;
}

/** `columns` but for those of `fields`. */
export function without<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Omit<Of, Field> {
  const left = Object.keys(columns).filter((field) => !(fields as readonly string[]).includes(field));
  return only(columns, ...left) as Omit<Of, Field>;
}

/** The check of each field as JSON. */
export function checks(columns: Columns): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(columns).map(([field, { json }]) => [field, json]));
}

/** What an insert lists: `id, valid_from`. */
export function names(columns: Columns): Sql {
  return listed(columns, (_, { name }) => raw(name));
}

/** What `json_to_recordset` reads of rows in JSON: `"id" uuid, "validFrom" timestamptz`. */
export function recordset(columns: Columns): Sql {
  return listed(columns, (field, { type }) => raw(`"${field}" ${type}`));
}

/** The fields of such a recordset `i`, in the order of `names`: `i."id", i."validFrom"`. */
export function fields<Of extends Columns>(columns: Of, instead: Instead<Of> = {}): Sql {
  return listed(columns, (field) => instead[field] ?? raw(`i."${field}"`));
}

/** The columns of the table's `row`, in the order of `names`: `m.id, m.valid_from`. */
export function values<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  return listed(columns, (field, { name }) => instead[field] ?? raw(`${row}.${name}`));
}

/** The columns of the table's `row` as a query selects them by field: `m.id as "id", m.valid_from as "validFrom"`. */
export function selected(columns: Columns, row: string): Sql {
  return listed(columns, (field, { name }) => raw(`${row}.${name} as "${field}"`));
}

/** What an update sets: `id = $1::uuid, valid_from = $2::timestamptz`. */
export function assignments<Of extends Columns>(columns: Of, row: RowOf<Of>): Sql {
  return listed(columns, (field, { name, type }) => sql`${raw(name)} = ${row[field]}::${raw(type)}`);
}

/** What `json_build_object` is given of the table's `row`: `'id', x.id, 'validFrom', x.valid_from`; 50 at most. */
export function pairs<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  return listed(
    columns,
    (field, { name }) => sql`${raw(`'${field}'`)}, ${instead[field] ?? raw(`${row}.${name}`)}`,
  );
}

/**
 * The table's `row` as a JSON array for `readRow`, since names would be most of what is sent: 100 columns at most.
 *
 * Times are milliseconds since 1970: their text takes ten times as long to write, send and read.
 */
export function jsonRow<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  const value = (name: string) => raw(`${row}.${name}`);
  const element = ({ name, type }: Column<unknown>) =>
    type === "timestamptz" ? sql`date_part('epoch', ${value(name)}) * 1000` : value(name);
  return sql`json_build_array(${listed(columns, (field, column) => instead[field] ?? element(column))})`;
}

/** What rows of some columns are read with. */
interface RowShape {
  readonly fields: readonly string[];
  readonly areTimes: readonly boolean[];
  /** A row with nothing in it. */
  readonly empty: Readonly<Record<string, unknown>>;
}

const shapes = new WeakMap<Columns, RowShape>();

function shapeOf(columns: Columns, more: object): RowShape {
  const known = shapes.get(columns);
  if (known) return known;
  const fields = Object.keys(columns);
  const all = [...fields, ...Object.keys(more)];
  const made: RowShape = {
    fields,
    areTimes: fields.map((field) => columns[field]?.type === "timestamptz"),
    // As JSON has it: objects that get one field after the other are kept as maps from a dozen fields on.
    empty: JSON.parse(JSON.stringify(Object.fromEntries(all.map((field) => [field, null])))),
  };
  shapes.set(columns, made);
  return made;
}

/**
 * A row as `jsonRow` gives it, with the fields of `more` beside: the same ones at each call. A copy of an empty row is filled,
 * which takes a fifth of the time of making one.
 */
export function readRow<Of extends Columns, More extends object = object>(
  columns: Of,
  values: readonly unknown[],
  more = {} as More,
): RowOf<Of, Date> & More {
  const { fields, areTimes, empty } = shapeOf(columns, more);
  const row: Record<string, unknown> = { ...empty };
  for (let place = 0; place < fields.length; place++) {
    const value = values[place];
    row[fields[place] as string] = areTimes[place] && value !== null ? new Date(value as number) : value;
  }
  return Object.assign(row, more) as RowOf<Of, Date> & More;
}

function listed(columns: Columns, each: (field: string, column: Column<unknown>) => Sql): Sql {
  return join(
    Object.entries(columns).map(([field, column]) => each(field, column)),
    ", ",
  );
}
