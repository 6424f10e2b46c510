import sql, { join, raw, type Sql } from "sql-template-tag";

declare const time: unique symbol;

/** What a column of times holds: text in ISO 8601 where it is written as JSON, a `Date` where it is read. */
export interface Time {
  readonly [time]: true;
}

/** A column: its name, its type in PostgreSQL, and what it holds in TypeScript. */
export interface Column<out Value> {
  readonly name: string;
  readonly type: string;
  /** Never set: the compiler alone reads it. */
  readonly holds?: Value;
}

/** The columns of a table, each by the field that holds it. Lists of SQL are made of them, in their order. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row of `Of` as an object. */
export type RowOf<Of extends Columns, Times = string> = {
  readonly [Field in keyof Of]: Of[Field] extends Column<infer Value> ? Held<Value, Times> : never;
};

type Held<Value, Times> = Value extends Time ? Times : Value;

/** SQL in place of a column, by field. */
export type Instead<Of extends Columns> = { readonly [Field in keyof Of]?: Sql };

const column =
  <Default>(type: string) =>
  <Value extends Default | null = Default>(name: string): Column<Value> => ({ name, type });

// Each takes a column's name, and what it holds where that is less, or may be null: `text<MemoryKind>("kind")`.
export const uuid = column<string>("uuid");
export const text = column<string>("text");
export const texts = column<readonly string[]>("text[]");
export const integer = column<number>("integer");
export const integers = column<readonly number[]>("integer[]");
export const bigint = column<number>("bigint");
export const real = column<number>("real");
export const boolean = column<boolean>("boolean");
export const timestamp = column<Time>("timestamptz");
export const jsonb = column<unknown>("jsonb");

/** `columns` but for those of `fields`. */
export function without<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Omit<Of, Field> {
  const left = Object.entries(columns).filter(([field]) => !(fields as readonly string[]).includes(field));
  return Object.fromEntries(left) as Omit<Of, Field>;
}

/** The columns of `fields`. */
export function only<Of extends Columns, Field extends keyof Of & string>(
  columns: Of,
  ...fields: readonly Field[]
): Pick<Of, Field> {
  return Object.fromEntries(fields.map((field) => [field, columns[field]])) as Pick<Of, Field>;
}

/** What an insert lists: `id, valid_from`. */
export function names(columns: Columns): Sql {
  return listed(Object.values(columns).map(({ name }) => raw(name)));
}

/** What `json_to_recordset` reads of rows in JSON: `"id" uuid, "validFrom" timestamptz`. */
export function recordset(columns: Columns): Sql {
  return listed(Object.entries(columns).map(([field, { type }]) => raw(`"${field}" ${type}`)));
}

/** The fields of such a recordset `i`, in the order of `names`: `i."id", i."validFrom"`. */
export function fields<Of extends Columns>(columns: Of, instead: Instead<Of> = {}): Sql {
  return listed(Object.keys(columns).map((field) => instead[field] ?? raw(`i."${field}"`)));
}

/**
 * The columns of the table's `row` by their fields' names: `c.id as "id", c.seen_count as "seenCount"`. A `bigint` is
 * selected as a number, since drivers give it as text.
 */
export function named<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  return listed(
    Object.entries(columns).map(([field, { name, type }]) => {
      const value = instead[field] ?? raw(`${row}.${name}${type === "bigint" ? "::float8" : ""}`);
      return sql`${value} as ${raw(`"${field}"`)}`;
    }),
  );
}

/** What `json_build_object` is given of the table's `row`: `'id', x.id, 'validFrom', x.valid_from`; 50 at most. */
export function pairs<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  return listed(
    Object.entries(columns).flatMap(([field, { name }]) => [
      raw(`'${field}'`),
      instead[field] ?? raw(`${row}.${name}`),
    ]),
  );
}

/** What an update sets: `id = $1::uuid, valid_from = $2::timestamptz`. */
export function assignments<Of extends Columns>(columns: Of, row: RowOf<Of>): Sql {
  return listed(
    Object.entries(columns).map(([field, { name, type }]) => sql`${raw(name)} = ${row[field]}::${raw(type)}`),
  );
}

/**
 * What `json_build_array` is given of the table's `row`, for `readRow`: names would be most of what is sent. Times are
 * milliseconds since 1970, since their text takes ten times as long to write, send and read; 100 columns at most.
 */
export function elements<Of extends Columns>(columns: Of, row: string, instead: Instead<Of> = {}): Sql {
  return listed(
    Object.entries(columns).map(
      ([field, { name, type }]) =>
        instead[field] ??
        raw(type === "timestamptz" ? `date_part('epoch', ${row}.${name}) * 1000` : `${row}.${name}`),
    ),
  );
}

/** A row that was read as an array of `elements`. */
export function readRow<Of extends Columns>(columns: Of, values: readonly unknown[]): RowOf<Of, Date> {
  const row: Record<string, unknown> = {};
  let index = 0;
  for (const field in columns) {
    const value = values[index++];
    row[field] = columns[field]?.type === "timestamptz" && value !== null ? new Date(value as number) : value;
  }
  return row as RowOf<Of, Date>;
}

function listed(parts: readonly Sql[]): Sql {
  return join(parts, ", ");
}
