import type { Sql } from "sql-template-tag";
import type { Column } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { ErasureScope } from "../scope/erasure-scope.js";
import type { OwnerRef } from "../scope/scope.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";

/** The locked owner that imported lines get. */
export interface ImportTarget extends ScopeColumns {
  readonly ownerRef: OwnerRef;
}

/** The rows of a scope, or of one of its threads, after the row with the key `after`. */
export interface ExportPage {
  readonly scope: ErasureScope;
  /** `id` of the thread's row. */
  readonly thread?: string | undefined;
  readonly after: readonly string[] | null;
}

/** A field that differs from its column. */
export interface DerivedField<out Value> extends Column<Value> {
  /** The exported value, as an expression over the rows. */
  readonly out: Sql;
  /** The column's value, as an expression over the line `i` and its joins. */
  readonly into: (db: Connection, target: ImportTarget) => Sql;
}

type LineFields = Readonly<Record<string, Column<unknown> | DerivedField<unknown>>>;

/** A type of lines: which rows they export, their fields, and how they are inserted. */
export interface RecordType {
  readonly table: string;
  readonly fields: LineFields;
  /** Fields with text of people, which imports redact; the others are ids, times and numbers. */
  readonly words?: readonly string[];
  /** The type of line that these lines follow. @default none */
  readonly parent?: "thread";
  /**
   * The exported rows `x`: a `from` and a `where`.
   * @default the rows of the scope's owner, within its app
   */
  readonly rows?: (db: Connection, page: ExportPage) => Sql;
  /** The order of lines; the first column is a number above 0. */
  readonly key: readonly string[];
  /** Unset for the owner, whose row exists. */
  readonly insert?: Insertion;
}

interface Insertion {
  readonly ownerColumns?: readonly ("owner_ref" | "tenant_id" | "user_id")[];
  /** Values besides a line's fields. */
  readonly extra?: (line: never) => object | Promise<object>;
  /** Columns that store some of them. */
  readonly columns?: LineFields;
  /** Columns of the input that only the statement reads. */
  readonly read?: string;
  readonly joined?: (db: Connection, target: ImportTarget) => Sql;
  readonly returning?: string;
  /** The end of the insert. */
  readonly end?: Sql;
  /** CTEs that read the inserted rows `added`. */
  readonly following?: (db: Connection, target: ImportTarget) => Sql;
  /** Whether lines refer to earlier lines of their type. @default false */
  readonly oneByOne?: boolean;
}

/** A field that is read by `out` and written by `into`. */
export const derived = <Value>(
  of: Column<Value>,
  out: Sql,
  into: (db: Connection, target: ImportTarget) => Sql,
): DerivedField<Value> => ({ ...of, out, into });

/** SQL of the derived fields among `fields`. */
export function derivedFields(
  fields: LineFields,
  toSql: (field: DerivedField<unknown>, name: string) => Sql,
): Record<string, Sql> {
  const all = Object.entries(fields);
  return Object.fromEntries(
    all.flatMap(([name, field]) => ("out" in field ? [[name, toSql(field, name)]] : [])),
  );
}
