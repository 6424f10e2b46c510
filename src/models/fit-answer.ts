import { z } from "zod";

/** A model's answer as its schema has it, and how many items of its lists could not be read. */
export interface FittedAnswer<Output> {
  readonly value: Output;
  readonly dropped: number;
}

type Fit = FittedAnswer<unknown> | null;

/**
 * `answer` read as `schema`, in whatever shape models give it; null where it does not say what was asked for.
 *
 * Each item of a list is read alone: those that do not fit are left out, unless none does. Digits in quotes are a
 * number, one object is a list of one, JSON in a string is what it says, and what was wrapped once more is taken out
 * where it can be one thing only. What has a default, or may be null, is that where nothing usable is given.
 */
export function fitAnswer<Output>(schema: z.ZodObject, answer: unknown): FittedAnswer<Output> | null {
  return fitWrapped(schema, answer, 2) as FittedAnswer<Output> | null;
}

function fitWrapped(schema: z.ZodObject, answer: unknown, wrappings: number): Fit {
  if (typeof answer !== "object" || answer === null) return null;
  const direct = readAs(schema, answer) ?? fitAsList(schema, answer);
  if (direct || wrappings === 0 || Array.isArray(answer)) return direct;
  if (needed(schema).some((name) => Object.hasOwn(answer, name)))
    return fitInside(schema, answer, needed(schema), wrappings);
  return fitInside(schema, answer, Object.keys(answer), wrappings);
}

/** The one of the properties `names` that holds the whole answer. */
function fitInside(schema: z.ZodObject, answer: object, names: readonly string[], wrappings: number): Fit {
  const inner = names
    .map((name) => propertyOf(answer, name))
    .map((value) => fitWrapped(schema, typeof value === "string" ? jsonIn(value) : value, wrappings - 1))
    .filter((one) => one !== null);
  return inner.length === 1 ? (inner[0] ?? null) : null;
}

/** The list, or its only item, where a list is all that is asked for. */
function fitAsList(schema: z.ZodObject, answer: object): Fit {
  const [name, ...others] = needed(schema);
  const list = name === undefined || others.length > 0 ? undefined : schema.shape[name];
  if (!(list instanceof z.ZodArray)) return null;
  const isItem = list.element instanceof z.ZodObject && readAs(list.element, answer) !== null;
  return Array.isArray(answer) || isItem ? readAs(schema, { [name as string]: answer }) : null;
}

function readAs(schema: z.core.$ZodType, given: unknown): Fit {
  if (schema instanceof z.ZodDefault) {
    return (isNothing(given) ? null : readAs(schema.unwrap(), given)) ?? whole(schema.def.defaultValue);
  }
  if (schema instanceof z.ZodNullable) {
    return (isNothing(given) ? null : readAs(schema.unwrap(), given)) ?? whole(null);
  }
  if (schema instanceof z.ZodObject) return fitObject(schema, given);
  if (schema instanceof z.ZodArray) return fitList(schema, given);
  const { success, data } = z.safeParse(schema, scalarFor(schema, given));
  return success ? whole(data) : null;
}

function fitObject(schema: z.ZodObject, given: unknown): Fit {
  const [only, ...others] = Array.isArray(given) ? given : [given];
  const isOne = others.length === 0 && (typeof only === "object" || !Array.isArray(given));
  const object = isOne ? objectOf(schema, only) : null;
  if (object === null) return null;
  let dropped = 0;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const flat = field instanceof z.ZodDefault ? field.unwrap() : field;
    const isFlat = flat instanceof z.ZodObject && !Object.hasOwn(object, name);
    const one = (isFlat ? fitObject(flat, object) : null) ?? readAs(field, propertyOf(object, name));
    if (one === null) return null;
    fields[name] = one.value;
    dropped += one.dropped;
  }
  return { value: fields, dropped };
}

/** `value` as an object; a text stands for the one text that `schema` cannot do without. */
function objectOf(schema: z.ZodObject, value: unknown): object | null {
  const read = typeof value === "string" ? (jsonIn(value) ?? value) : value;
  if (typeof read === "string") {
    const [name, ...others] = needed(schema);
    const isText = name !== undefined && others.length === 0 && schema.shape[name] instanceof z.ZodString;
    return isText ? { [name]: read } : null;
  }
  return typeof read === "object" && !Array.isArray(read) ? read : null;
}

function fitList({ element }: z.ZodArray, given: unknown): Fit {
  const read = typeof given === "string" ? (jsonIn(given) ?? given) : given;
  if (Array.isArray(read)) return fitItems(element, read);
  if (typeof read === "string")
    return element instanceof z.ZodString ? fitItems(element, linesOf(read)) : null;
  if (typeof read !== "object" || read === null) return null;
  if (readAs(element, read)) return fitItems(element, [read]);
  const values = Object.values(read);
  const lists = values.filter((value) => Array.isArray(value));
  if (lists.length === 1) return fitItems(element, lists[0] as unknown[]);
  const all = values.length > 0 && values.every((value) => readAs(element, value) !== null);
  return all ? fitItems(element, values) : null;
}

function fitItems(element: z.core.$ZodType, items: readonly unknown[]): Fit {
  const fitted = items.map((item) => readAs(element, item)).filter((one) => one !== null);
  if (fitted.length === 0 && items.length > 0) return null;
  const within = fitted.reduce((sum, { dropped }) => sum + dropped, 0);
  return { value: fitted.map(({ value }) => value), dropped: items.length - fitted.length + within };
}

function scalarFor(schema: z.core.$ZodType, given: unknown): unknown {
  if (schema instanceof z.ZodNumber) return typeof given === "string" ? numberIn(given) : given;
  if (schema instanceof z.ZodBoolean && typeof given === "string") {
    return { true: true, yes: true, false: false, no: false }[given.trim().toLowerCase()];
  }
  if (schema instanceof z.ZodEnum && typeof given === "string")
    return given
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, "_");
  if (!(schema instanceof z.ZodString)) return given;
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const texts = Object.values(given).filter((value) => typeof value === "string");
  return texts.length === 1 ? texts[0] : given;
}

/** The number that `text` is: "4", " 0.9", "0,9", "90%", "#2". */
function numberIn(text: string): number | undefined {
  const [, digits, percent] = /^#?(-?\d{1,15}(?:[.,]\d{1,15})?)(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits.replace(",", ".")) / (percent ? 100 : 1);
}

/** The names of what `schema` cannot do without. */
function needed(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape)
    .filter(([, field]) => !(field instanceof z.ZodDefault || field instanceof z.ZodNullable))
    .map(([name]) => name);
}

const endOfThoughts = "</think>";

/**
 * The JSON that `text` is, or has within: in a fence, after a model's thoughts, or between prose. Undefined where there
 * is none, or where it was never closed.
 */
export function jsonIn(text: string): unknown {
  const thought = text.lastIndexOf(endOfThoughts);
  const said = thought < 0 ? text : text.slice(thought + endOfThoughts.length);
  for (const part of [text, said, fenceIn(said), bracketsIn(said)]) {
    const value = part === null ? undefined : parsed(part);
    if (typeof value === "object" && value !== null) return value;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      // Small models write line breaks into their strings as they are.
      return JSON.parse(
        text.replace(/"(?:[^"\\]|\\.)*"/gs, (string) => string.replace(/[\n\r\t]/g, escaped)),
      );
    } catch {
      return undefined;
    }
  }
}

const escaped = (character: string) => ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[character] ?? character;

/** What stands in the only fence of `text`. */
function fenceIn(text: string): string | null {
  const [, fenced, ...after] = text.split("```");
  return fenced === undefined || after.length !== 1 ? null : fenced.replace(/^\w*\s/, "");
}

function bracketsIn(text: string): string | null {
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  return start >= 0 && end > start ? text.slice(start, end + 1) : null;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function propertyOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

const isNothing = (value: unknown) => value === undefined || value === null;

const whole = (value: unknown): Fit => ({ value, dropped: 0 });
