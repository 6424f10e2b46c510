import { raw, Sql } from "sql-template-tag";

/** The name of a CTE with these columns. */
export type Cte<Column extends string> = Sql & { readonly columns?: Readonly<Record<Column, true>> };

export function cte<Column extends string>(name: string): Cte<Column> {
  return raw(name);
}

/** A literal. Without its type PostgreSQL would compute in `numeric`, which is three times slower. */
export function float(value: number): Sql {
  return raw(`${value}::float8`);
}

interface Slot<Input> {
  readonly slot: string;
  readonly read: (input: Input) => unknown;
}

/** A placeholder for a value of each call. It is bound as it is; computing with it throws. */
export function slot<Input, Value>(name: string, read: (input: Input) => Value): Value {
  const made = {
    ...{ slot: name, read },
    [Symbol.toPrimitive]() {
      throw new TypeError(`The statement's text may not depend on \`${name}\`: that comes with each call.`);
    },
  };
  return made as unknown as Value;
}

function isSlot(value: unknown): value is Slot<unknown> {
  return typeof value === "object" && value !== null && "slot" in value && "read" in value;
}

/** A statement composed once, whose values come with each call. */
export interface ComposedStatement<Input> {
  /** With its values by name, for people. */
  readonly shown: string;
  /** With the values of `input`: to run, not to put into another statement. */
  bind(input: Input): Sql;
}

/** `statement` with one parameter for each slot, however often it occurs. */
export function compose<Input>({ strings, values }: Sql): ComposedStatement<Input> {
  const parameters: unknown[] = [];
  let [text, shown] = [strings[0] as string, strings[0] as string];
  for (const [index, value] of values.entries()) {
    const known = isSlot(value) ? parameters.indexOf(value) : -1;
    const number = known === -1 ? parameters.push(value) : known + 1;
    text += `$${number}${strings[index + 1]}`;
    shown += `${isSlot(value) ? `:${value.slot}` : shownValue(value)}${strings[index + 1]}`;
  }
  const valuesOf = (input: Input) => parameters.map((value) => (isSlot(value) ? value.read(input) : value));
  return {
    shown,
    // The text is the same string in each call: it is joined and hashed once.
    bind: (input) =>
      Object.create(Sql.prototype, { text: { value: text }, values: { value: valuesOf(input) } }),
  };
}

function shownValue(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}
